//! Fresh names for runs.

use std::fmt::Write as _;

/// Twelve random hex digits.
pub(crate) fn hex12() -> String {
    hex(6)
}

/// Eight random hex digits.
pub(crate) fn hex8() -> String {
    hex(4)
}

fn hex(bytes: usize) -> String {
    let mut random = [0_u8; 8];
    // The system's generator does not fail once it has started; names need to be distinct, not secret.
    let _ = getrandom::fill(&mut random);
    random.iter().take(bytes).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

//! Byte-level steps shared by the checker and by navigation of checked text. Positions past the end are harmless.

/// Position of the first quote, backslash or control character at or after `from`, else the text's length.
#[inline]
pub(super) fn run_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    let (blocks, _) = text.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    // A fold without early exit, so that the compiler compares a whole block at once.
    for block in blocks {
        if block.iter().fold(false, |hit, &byte| hit | ends_run(byte)) {
            break;
        }
        at += BLOCK;
    }
    while let Some(&byte) = text.get(at) {
        if ends_run(byte) {
            return at;
        }
        at += 1;
    }
    at
}

/// Position of the first byte at or after `from` that is not JSON white space.
#[inline]
pub(super) fn space_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Position after the number that starts at `from`, or the position at which it leaves the grammar.
#[inline]
pub(super) fn number_end(text: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match text.get(at) {
        Some(b'0') => at + 1,
        _ => digits_end(text, at)?,
    };
    if text.get(at) == Some(&b'.') {
        at = digits_end(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = text.get(at) {
            at += 1;
        }
        at = digits_end(text, at)?;
    }
    match text.get(at) {
        // `01`, `1.2.3`, `1e5e5`: the grammar ended, the token did not.
        Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => Err(at),
        _ => Ok(at),
    }
}

/// Position after the string whose opening quote is at `from`; only for checked text.
#[inline]
pub(super) fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        at = run_end(text, at);
        match text.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// Position after the value that starts at `from`; only for checked text. Walks, never recurses.
pub(super) fn value_end(text: &[u8], from: usize) -> usize {
    match text.get(from) {
        Some(b'"') => string_end(text, from),
        Some(b'{' | b'[') => container_end(text, from),
        Some(_) => scalar_end(text, from),
        None => text.len(),
    }
}

/// Position after the bare word or number that starts at `from`; only for checked text.
pub(super) fn scalar_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let length = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'));
    length.map_or(text.len(), |length| from + length)
}

fn container_end(text: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = from;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'"' => string_end(text, at),
            b'{' | b'[' => {
                depth += 1;
                at + 1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            _ => at + 1,
        };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[inline]
fn digits_end(text: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    while let Some(b'0'..=b'9') = text.get(at) {
        at += 1;
    }
    if at == from { Err(at) } else { Ok(at) }
}

#[inline]
const fn ends_run(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

const BLOCK: usize = 16;

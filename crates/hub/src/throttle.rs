//! Log lines that others can set off: at most one per kind and second, with a count of what was swallowed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// One gate for all kinds of such lines.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    kinds: Mutex<HashMap<&'static str, Kind>>,
}

#[derive(Debug)]
struct Kind {
    quiet_until: Instant,
    swallowed: u64,
}

impl Throttle {
    /// Whether a line of this kind may be written now, and how many were not since the last.
    pub(crate) fn pass(&self, kind: &'static str, now: Instant) -> Option<u64> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let state = kinds.entry(kind).or_insert(Kind { quiet_until: now, swallowed: 0 });
        if now < state.quiet_until {
            state.swallowed += 1;
            return None;
        }
        state.quiet_until = now + QUIET;
        Some(std::mem::take(&mut state.swallowed))
    }
}

const QUIET: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, Throttle};

    #[test]
    fn one_line_a_second_and_kind() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(throttle.pass("a", at(0)), Some(0));
        assert_eq!(throttle.pass("a", at(1)), None);
        assert_eq!(throttle.pass("b", at(1)), Some(0));
        assert_eq!(throttle.pass("a", at(999)), None);
        assert_eq!(throttle.pass("a", at(1_000)), Some(2));
        assert_eq!(throttle.pass("a", at(2_000)), Some(0));
    }
}

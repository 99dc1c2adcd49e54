//! The next value of a progress that never falls: ours while a call stands, and the target's own, are one rising series to
//! whoever asked (mcp §3.6).

use crate::exchange::{Progress, Target};

/// The next value we may report. Before the target has started it stays below zero, where the target will begin; afterwards
/// it is above everything reported so far. None when nothing is above.
pub(super) fn next(progress: Progress) -> Option<f64> {
    let highest = progress.highest;
    match (progress.target, highest) {
        (Target::Untouched, None) => Some(-1.0),
        (Target::Untouched, Some(last)) if last < 0.0 => {
            // The first of -1/k above the last one.
            let mut k = (-1.0 / last).floor();
            while -1.0 / k <= last {
                k += 1.0;
            }
            Some(-1.0 / k).filter(|value| *value > last)
        }
        (Target::Untouched | Target::Reached, last) => {
            let last = last.unwrap_or(0.0);
            let above = if last + 1.0 > last { last + 1.0 } else { last.next_up() };
            above.is_finite().then_some(above)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: Target, highest: Option<f64>, expected: &[f64]) {
        let mut progress = Progress { target, highest };
        let found: Vec<f64> = std::iter::from_fn(|| {
            progress.highest = next(progress);
            progress.highest
        })
        .take(expected.len())
        .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn before_the_target_starts_it_rises_towards_zero() {
        check(Target::Untouched, None, &[-1.0, -0.5, -1.0 / 3.0, -0.25, -0.2]);
        check(Target::Untouched, Some(-0.5), &[-1.0 / 3.0, -0.25]);
        check(Target::Untouched, Some(-0.4), &[-1.0 / 3.0, -0.25]);
    }

    #[test]
    fn afterwards_it_rises_above_what_was_reported() {
        check(Target::Reached, None, &[1.0, 2.0]);
        check(Target::Reached, Some(-0.5), &[0.5, 1.5]);
        check(Target::Reached, Some(41.5), &[42.5]);
        check(Target::Reached, Some(1e300), &[1e300_f64.next_up()]);
        check(Target::Untouched, Some(3.0), &[4.0]);
        assert_eq!(next(Progress { target: Target::Reached, highest: Some(f64::MAX) }), None);
    }

    #[test]
    fn a_thousand_beats_strictly_rise() {
        let mut progress = Progress { target: Target::Untouched, highest: None };
        for _ in 0..1_000 {
            let value = next(progress).expect("there is always another");
            assert!(value < 0.0 && progress.highest.is_none_or(|last| value > last));
            progress.highest = Some(value);
        }
    }
}

//! Which runs are old enough to go (hub §10.1).

use std::sync::Arc;
use std::time::Duration;

use crate::store::Status;

/// What is kept (hub §10.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Retention {
    Off,
    Keep { runs: usize, age: Duration },
}

impl Default for Retention {
    fn default() -> Retention {
        Retention::Keep { runs: 200, age: Duration::from_secs(30 * 24 * 60 * 60) }
    }
}

/// What a run's fate depends on.
#[derive(Debug, Clone)]
pub struct Rank {
    pub id: Arc<str>,
    pub started_at: f64,
    pub status: Status,
}

/// The runs to remove, of all runs in the order of the list: newest start first. A run in progress goes only when it is
/// too old.
pub fn victims(runs: Vec<Rank>, keep: Retention, now: f64) -> Vec<Arc<str>> {
    let Retention::Keep { runs: most, age } = keep else { return Vec::new() };
    let cutoff = now - age.as_secs_f64() * 1000.0;
    let gone = |(place, run): (usize, Rank)| {
        let old = run.started_at < cutoff;
        let surplus = place >= most && run.status != Status::Running;
        (old || surplus).then_some(run.id)
    };
    runs.into_iter().enumerate().filter_map(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::{Rank, Retention, victims};
    use crate::store::Status;
    use std::time::Duration;

    fn check(runs: &[(&str, f64, Status)], keep: (usize, u64), expected: &[&str]) {
        let rank = |&(id, started_at, status): &(&str, f64, Status)| Rank { id: id.into(), started_at, status };
        let keep = Retention::Keep { runs: keep.0, age: Duration::from_secs(keep.1) };
        let gone = victims(runs.iter().map(rank).collect(), keep, 100_000.0);
        assert_eq!(gone.iter().map(|id| &**id).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn too_many_or_too_old() {
        let (ok, running, abandoned) = (Status::Ok, Status::Running, Status::Abandoned);
        check(&[], (0, 0), &[]);
        check(&[("b", 99_000.0, ok), ("a", 98_000.0, ok)], (1, 50), &["a"]);
        check(&[("b", 99_000.0, ok), ("a", 98_000.0, running)], (1, 50), &[]);
        check(&[("b", 99_000.0, ok), ("a", 98_000.0, abandoned)], (0, 50), &["b", "a"]);
        check(&[("b", 99_000.0, ok), ("a", 49_999.0, running)], (9, 50), &["a"]);
        check(&[("b", 50_000.0, ok)], (9, 50), &[]);
    }

    #[test]
    fn off_keeps_everything() {
        let old = Rank { id: "a".into(), started_at: 0.0, status: Status::Ok };
        assert!(victims(vec![old], Retention::Off, 1e18).is_empty());
    }
}

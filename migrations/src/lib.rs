//! Numbered SQL for the stores, embedded.

/// One step of a schema. Steps are applied in the order of their numbers and never change once released.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

/// Runs and their events, in SQLite.
pub const RUNS_SQLITE: &[Migration] = &[
    Migration { version: 1, name: "runs and events", sql: include_str!("../runs/sqlite/0001_runs_and_events.sql") },
    Migration {
        version: 2,
        name: "counts and arrival",
        sql: include_str!("../runs/sqlite/0002_counts_and_arrival.sql"),
    },
];

#[cfg(test)]
mod tests {
    use super::{Migration, RUNS_SQLITE};

    fn check(steps: &[Migration]) {
        for (place, step) in steps.iter().enumerate() {
            assert_eq!(step.version, i64::try_from(place).expect("few") + 1, "{}", step.name);
            assert!(!step.sql.trim().is_empty(), "{}", step.name);
        }
    }

    #[test]
    fn versions_count_up_without_a_hole() {
        check(RUNS_SQLITE);
    }
}

//! What batches change on the rows of runs.

use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;

use crate::store::{Mark, NewEvent, NewRun, Run, Totals, Turn};

/// A row that was missed is made, or caught up; an end that is there already is never relabelled. Counts are of what is
/// stored, so they stay, but numbers that were given out are not given out again.
pub(super) async fn restate(tx: &mut SqliteConnection, run: &Run) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO runs (id, app, started_at, finished_at, status, schema_version, source, last_ord) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET app = excluded.app, \
               started_at = excluded.started_at, last_ord = max(last_ord, excluded.last_ord), \
               status = CASE WHEN status IN ('running', 'abandoned') THEN excluded.status ELSE status END, \
               finished_at = CASE WHEN status IN ('running', 'abandoned') THEN excluded.finished_at ELSE finished_at END";
    let query = sqlx::query(sql).bind(Arc::clone(&run.id)).bind(Arc::clone(&run.app)).bind(run.started_at);
    let query = query.bind(run.finished_at).bind(run.status.as_str()).bind(integer(run.schema_version));
    query.bind(run.source.as_str()).bind(integer(run.last_ord)).execute(tx).await.map(drop)
}

pub(super) async fn ensure(tx: &mut SqliteConnection, run: &NewRun) -> Result<(), sqlx::Error> {
    let sql = "INSERT OR IGNORE INTO runs (id, app, started_at, finished_at, status, schema_version, source) \
               VALUES (?, ?, ?, NULL, 'running', 1, ?)";
    let query = sqlx::query(sql).bind(Arc::clone(&run.id)).bind(Arc::clone(&run.app));
    query.bind(millis(run.started_at)).bind(run.source.as_str()).execute(tx).await.map(drop)
}

pub(super) async fn mark(tx: &mut SqliteConnection, event: &NewEvent) -> Result<(), sqlx::Error> {
    match &event.mark {
        Mark::None | Mark::Error => Ok(()),
        Mark::Started { app } => {
            let query = sqlx::query("UPDATE runs SET app = ?, started_at = ? WHERE id = ?").bind(Arc::clone(app));
            query.bind(millis(event.ts)).bind(Arc::clone(&event.run)).execute(tx).await.map(drop)
        }
        Mark::Finished { status } => {
            let sql = "UPDATE runs SET status = ?, finished_at = ? WHERE id = ? AND status IN ('running', 'abandoned')";
            let query = sqlx::query(sql).bind(status.as_str()).bind(millis(event.ts)).bind(Arc::clone(&event.run));
            query.execute(tx).await.map(drop)
        }
    }
}

pub(super) async fn raise(tx: &mut SqliteConnection, run: &Arc<str>, by: Totals) -> Result<(), sqlx::Error> {
    let sql = "UPDATE runs SET event_count = event_count + ?, error_count = error_count + ?, last_ord = max(last_ord, ?) \
               WHERE id = ?";
    let query = sqlx::query(sql).bind(integer(by.events)).bind(integer(by.errors)).bind(integer(by.last_ord));
    query.bind(Arc::clone(run)).execute(tx).await.map(drop)
}

pub(super) async fn take(tx: &mut SqliteConnection, turn: &Turn) -> Result<(), sqlx::Error> {
    match turn {
        Turn::Abandoned { run, now } => {
            let sql = "UPDATE runs SET status = 'abandoned', finished_at = coalesce(\
                       (SELECT ts FROM events WHERE run_id = ?1 ORDER BY ord DESC LIMIT 1), ?2) \
                       WHERE id = ?1 AND status = 'running'";
            sqlx::query(sql).bind(Arc::clone(run)).bind(millis(*now)).execute(tx).await.map(drop)
        }
        Turn::Resumed { run } => {
            let sql = "UPDATE runs SET status = 'running', finished_at = NULL WHERE id = ? AND status = 'abandoned'";
            sqlx::query(sql).bind(Arc::clone(run)).execute(tx).await.map(drop)
        }
    }
}

pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "envelope times lie below 2^53")]
pub(super) fn millis(value: u64) -> f64 {
    value as f64
}

//! Removing runs, in steps short enough that a batch never waits for more than one of them.

use std::collections::HashSet;
use std::sync::Arc;

use sqlx::Row as _;

use super::Store;
use crate::retention::{Rank, Retention, victims};
use crate::store::Status;
use crate::store::error::StoreError;

impl Store {
    /// Removes a run and its events; false when there is no such run.
    ///
    /// # Errors
    /// When the database refuses; events removed so far stay removed.
    pub async fn delete_run(&self, id: &str) -> Result<bool, StoreError> {
        let some = "DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE run_id = ? LIMIT 1000)";
        while self.change(some, id).await? > 0 {}
        Ok(self.change("DELETE FROM runs WHERE id = ?", id).await? > 0)
    }

    /// Removes what [`victims`] names, except `spared`; answers their ids.
    ///
    /// # Errors
    /// As [`Store::delete_run`].
    pub async fn prune(
        &self,
        keep: Retention,
        now: f64,
        spared: &HashSet<Arc<str>>,
    ) -> Result<Vec<Arc<str>>, StoreError> {
        let mut gone = self.old_runs(keep, now).await?;
        gone.retain(|id| !spared.contains(id));
        for id in &gone {
            self.delete_run(id).await?;
        }
        Ok(gone)
    }

    /// What [`victims`] names.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn old_runs(&self, keep: Retention, now: f64) -> Result<Vec<Arc<str>>, StoreError> {
        let sql = "SELECT id, started_at, status FROM runs ORDER BY started_at DESC, id DESC";
        let rows = sqlx::query(sql).fetch_all(&self.readers).await.map_err(|error| self.sql(error))?;
        let mut ranks = Vec::with_capacity(rows.len());
        for row in rows {
            let rank = || -> Result<Rank, sqlx::Error> {
                let status = Status::parse(row.try_get(2)?);
                Ok(Rank { id: row.try_get::<String, _>(0)?.into(), started_at: row.try_get(1)?, status })
            };
            ranks.push(rank().map_err(|error| self.sql(error))?);
        }
        Ok(victims(ranks, keep, now))
    }

    async fn change(&self, sql: &'static str, id: &str) -> Result<u64, StoreError> {
        let mut writer = self.writer.lock().await;
        writer.arrivals.forget(id);
        let done = sqlx::query(sql).bind(id).execute(&mut writer.connection).await;
        done.map(|done| done.rows_affected()).map_err(|error| self.sql(error))
    }
}

//! Runs in one SQLite file: opening it, its shape on disk, closing it. One connection writes, a few read.

mod arrivals;
mod files;
mod read;
mod remove;
mod rows;
mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockgate_migrations::RUNS_SQLITE;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Row as _, SqlSafeStr as _};
use tokio::sync::{Mutex, MutexGuard};

use self::arrivals::Arrivals;
use super::Totals;
use super::error::{StoreError, StoreErrorKind};

/// The store. All methods may run at the same time; writes wait for each other.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    writer: Mutex<Writer>,
    readers: SqlitePool,
    /// Bytes written since the last checkpoint, roughly.
    unchecked: AtomicU64,
}

#[derive(Debug)]
struct Writer {
    connection: SqliteConnection,
    arrivals: Arrivals,
    /// Whether a transaction may be open.
    open: bool,
}

/// How long to wait for a file that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Usual,
    /// It has failed already; everybody waits for the next try.
    Short,
}

/// A transaction under way. What is put into it can be shown at once, but is only kept when it is committed.
#[derive(Debug)]
pub struct Tx<'s> {
    store: &'s Store,
    writer: MutexGuard<'s, Writer>,
    /// By how much the counts of each run it touched have grown, and how far its numbers go.
    grown: HashMap<Arc<str>, Totals>,
}

impl Store {
    /// Opens the file, making or updating it where needed. A file that a GraphMind hub wrote is taken over.
    ///
    /// # Errors
    /// When the file cannot be written, is no database, or was written by a newer version.
    pub async fn open(path: &Path) -> Result<Store, StoreError> {
        files::prepare(path).map_err(|error| StoreError::files(path, error))?;
        let mut connection = writing(path).connect().await.map_err(|error| StoreError::sql(path, error))?;
        migrate(path, &mut connection).await?;
        // A read-only file opens without a murmur; only a write tells.
        sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.map_err(|error| StoreError::sql(path, error))?;
        sqlx::query("ROLLBACK").execute(&mut connection).await.map_err(|error| StoreError::sql(path, error))?;
        files::tighten(path).map_err(|error| StoreError::files(path, error))?;
        Ok(Store {
            path: path.to_owned(),
            writer: Mutex::new(Writer { connection, arrivals: Arrivals::default(), open: false }),
            readers: pool(path),
            unchecked: AtomicU64::new(0),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long a write waits for another program that holds the file.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn be(&self, patience: Patience) -> Result<(), StoreError> {
        let pragma = match patience {
            Patience::Usual => "PRAGMA busy_timeout = 5000",
            Patience::Short => "PRAGMA busy_timeout = 100",
        };
        self.pragma(pragma).await.map(drop)
    }

    /// Whether enough was written for [`Store::checkpoint`] to be worth its sync.
    pub fn checkpoint_due(&self) -> bool {
        self.unchecked.load(Ordering::Relaxed) >= CHECKPOINT_BYTES
    }

    /// Carries the log over into the file beside the writer, and cuts the log when it grew long all the same.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.unchecked.store(0, Ordering::Relaxed);
        let row = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(&self.readers).await;
        let pages: i64 = row.and_then(|row| row.try_get(1)).map_err(|error| self.sql(error))?;
        if pages < LONG_LOG_PAGES {
            return Ok(());
        }
        let mut writer = self.writer.lock().await;
        let cut = sqlx::query("PRAGMA wal_checkpoint(RESTART)").fetch_all(&mut writer.connection).await;
        cut.map(drop).map_err(|error| self.sql(error))
    }

    /// Rebuilds the file without its holes and empties the log, which the rebuild has filled.
    ///
    /// # Errors
    /// When there is no room for the copy, or another program holds the file.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        let mut writer = self.writer.lock().await;
        for step in ["PRAGMA auto_vacuum = INCREMENTAL", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            sqlx::query(step).fetch_all(&mut writer.connection).await.map_err(|error| self.sql(error))?;
        }
        files::tighten(&self.path).map_err(|error| StoreError::files(&self.path, error))
    }

    /// Returns free pages to the disk, a few at a time so that writes get in between; rebuilds a file that was not made
    /// for that, once.
    ///
    /// # Errors
    /// As [`Store::vacuum`].
    pub async fn shrink(&self) -> Result<(), StoreError> {
        if self.pragma("PRAGMA auto_vacuum").await? != INCREMENTAL {
            return self.vacuum().await;
        }
        while self.pragma("PRAGMA freelist_count").await? > 0 {
            let mut writer = self.writer.lock().await;
            let step = sqlx::query("PRAGMA incremental_vacuum(256)").fetch_all(&mut writer.connection).await;
            step.map_err(|error| self.sql(error))?;
        }
        let mut writer = self.writer.lock().await;
        let cut = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut writer.connection).await;
        cut.map(drop).map_err(|error| self.sql(error))
    }

    /// Stops reading and empties the log; nothing should be written after that.
    ///
    /// # Errors
    /// When the last checkpoint fails; everything committed is still in the log then.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        let mut writer = self.writer.lock().await;
        let cut = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut writer.connection).await;
        cut.map(drop).map_err(|error| self.sql(error))
    }

    async fn pragma(&self, pragma: &'static str) -> Result<i64, StoreError> {
        let mut writer = self.writer.lock().await;
        let row = sqlx::query(pragma).fetch_one(&mut writer.connection).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| self.sql(error))
    }

    fn sql(&self, error: sqlx::Error) -> StoreError {
        StoreError::sql(&self.path, error)
    }
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let steps = RUNS_SQLITE.iter().map(|step| {
        Migration::new(step.version, step.name.into(), MigrationType::Simple, step.sql.into_sql_str(), false)
    });
    let known = RUNS_SQLITE.last().map_or(0, |step| step.version);
    let done = Migrator::with_migrations(steps.collect()).run_direct(None, connection, false).await;
    done.map_err(|error| StoreError::migration(path, error, known))?;
    let newest = sqlx::query("SELECT max(version) FROM _sqlx_migrations").fetch_one(connection).await;
    let found: i64 = newest.and_then(|row| row.try_get(0)).map_err(|error| StoreError::sql(path, error))?;
    if found > known {
        return Err(StoreError { path: path.to_owned(), kind: StoreErrorKind::Newer { found, known } });
    }
    Ok(())
}

fn writing(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(BUSY)
        // A safety net only: `Store::checkpoint` works beside the writer, so that no batch waits for a sync.
        .pragma("wal_autocheckpoint", "32768")
        .pragma("cache_size", "-2000")
        .thread_name(|_| "store-writer".to_owned())
}

fn pool(path: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY)
        .pragma("query_only", "ON")
        .pragma("cache_size", "-1000")
        // Rows are small; long payloads are fetched one by one.
        .row_buffer_size(512)
        .thread_name(|_| "store-reader".to_owned());
    SqlitePoolOptions::new()
        .min_connections(0)
        .max_connections(READERS)
        .idle_timeout(IDLE)
        .acquire_timeout(BUSY)
        .connect_lazy_with(options)
}

const READERS: u32 = 3;
const IDLE: Duration = Duration::from_secs(60);
const BUSY: Duration = Duration::from_secs(5);
const INCREMENTAL: i64 = 2;
const CHECKPOINT_BYTES: u64 = 4 << 20;
const LONG_LOG_PAGES: i64 = 16_384;

#[cfg(test)]
mod tests;

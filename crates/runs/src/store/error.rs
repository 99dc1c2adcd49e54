//! What can go wrong with the place where runs are kept, told apart as far as the reader can act on it.

use std::io;
use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;

/// A failure of the store, with the file it happened to.
#[derive(Debug, thiserror::Error)]
#[error("use database: {kind}: {}", path.display())]
pub struct StoreError {
    pub path: PathBuf,
    #[source]
    pub kind: StoreErrorKind,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    #[error("it was written by a newer version (schema {found}, known up to {known})")]
    Newer { found: i64, known: i64 },
    #[error("it is read-only")]
    ReadOnly,
    #[error("the disk is full")]
    Full,
    #[error("another program is writing to it")]
    Busy,
    #[error("it is not a database, or damaged")]
    Damaged,
    #[error("no such file")]
    Missing,
    #[error("file system: {0}")]
    Files(io::Error),
    #[error("{0}")]
    Sql(sqlx::Error),
}

impl StoreError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self.kind {
            StoreErrorKind::Newer { .. } => Some("update this program, or name another file with --db"),
            StoreErrorKind::ReadOnly => Some("make the file and its folder writable, or name another file with --db"),
            StoreErrorKind::Full => {
                Some("free space on that disk, or delete old runs with `graphmind runs --keep 20 --prune`")
            }
            StoreErrorKind::Busy => Some("end the other program, or name another file with --db"),
            StoreErrorKind::Damaged => Some("move the file away; a new one is made at the next start"),
            StoreErrorKind::Missing | StoreErrorKind::Files(_) | StoreErrorKind::Sql(_) => None,
        }
    }

    pub(super) fn files(path: &Path, source: io::Error) -> StoreError {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => StoreErrorKind::Missing,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => StoreErrorKind::ReadOnly,
            io::ErrorKind::StorageFull => StoreErrorKind::Full,
            _ => StoreErrorKind::Files(source),
        };
        StoreError { path: path.to_owned(), kind }
    }

    pub(super) fn sql(path: &Path, source: sqlx::Error) -> StoreError {
        let kind = match kind_of(source) {
            // SQLite cannot open it for any reason; the commonest is told apart here.
            StoreErrorKind::Missing if path.is_dir() => StoreErrorKind::Files(io::ErrorKind::IsADirectory.into()),
            StoreErrorKind::Missing if path.exists() => StoreErrorKind::ReadOnly,
            kind => kind,
        };
        StoreError { path: path.to_owned(), kind }
    }

    pub(super) fn migration(path: &Path, source: MigrateError, known: i64) -> StoreError {
        let kind = match source {
            MigrateError::VersionMissing(found) if found > known => StoreErrorKind::Newer { found, known },
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => kind_of(source),
            other => StoreErrorKind::Sql(sqlx::Error::Migrate(Box::new(other))),
        };
        StoreError { path: path.to_owned(), kind }
    }
}

fn kind_of(source: sqlx::Error) -> StoreErrorKind {
    let code = source.as_database_error().and_then(|error| error.code());
    // The low byte is the primary code, the rest says more about it.
    let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    match primary {
        Some(5 | 6) => StoreErrorKind::Busy,
        Some(8) => StoreErrorKind::ReadOnly,
        Some(13) => StoreErrorKind::Full,
        Some(11 | 26) => StoreErrorKind::Damaged,
        Some(14) => StoreErrorKind::Missing,
        _ => StoreErrorKind::Sql(source),
    }
}

//! The database of stored runs, as commands that work without a hub open it.

use std::env;
use std::path::PathBuf;

use lockgate_runs::store::error::{StoreError, StoreErrorKind};
use lockgate_runs::store::sqlite::Store;

use crate::args::Database;
use crate::code::Code;
use crate::fault::Fault;
use crate::runfile;

/// The file to use, whether it is there or not.
pub(crate) fn path(database: &Database) -> Result<PathBuf, Fault> {
    let set = || env::var_os("GRAPHMIND_DB").filter(|path| !path.is_empty()).map(PathBuf::from);
    let path = database.db.clone().or_else(set).unwrap_or_else(|| runfile::home().join("graphmind.db"));
    // A file of that name would be made, and nobody would find it again. What follows the scheme may hold a password.
    if let Some((scheme, _)) = path.to_str().and_then(|path| path.split_once("://")) {
        let fault = Fault::new(Code::Usage, format!("runs are kept in a file, not at {scheme}://…"));
        return Err(fault.hint("name a file with `--db` or in GRAPHMIND_DB"));
    }
    Ok(path)
}

/// The store, or nothing where nothing was recorded yet: looking must not make a database.
pub(crate) async fn look(database: &Database) -> Result<Option<Store>, Fault> {
    let path = path(database)?;
    if !path.exists() {
        return Ok(None);
    }
    open(database).await.map(Some)
}

/// The store, made where there is none.
pub(crate) async fn open(database: &Database) -> Result<Store, Fault> {
    Store::open(&path(database)?).await.map_err(|err| fault(&err))
}

pub(crate) fn fault(err: &StoreError) -> Fault {
    let code = match err.kind {
        StoreErrorKind::Newer { .. } => Code::NewerDatabase,
        StoreErrorKind::ReadOnly
        | StoreErrorKind::Full
        | StoreErrorKind::Busy
        | StoreErrorKind::Damaged
        | StoreErrorKind::Missing
        | StoreErrorKind::Files(_)
        | StoreErrorKind::Sql(_) => Code::Database,
    };
    let fault = Fault::new(code, err);
    match err.hint() {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_the_future_has_a_code_of_its_own() {
        let check = |kind: StoreErrorKind, code: Code, message: &str| {
            let fault = fault(&StoreError { path: "runs.db".into(), kind });
            assert_eq!((fault.code, fault.message.as_str()), (code, message));
            assert!(fault.hint.is_some());
        };
        check(
            StoreErrorKind::Newer { found: 9, known: 2 },
            Code::NewerDatabase,
            "use database: it was written by a newer version (schema 9, known up to 2): runs.db",
        );
        check(StoreErrorKind::ReadOnly, Code::Database, "use database: it is read-only: runs.db");
    }
}

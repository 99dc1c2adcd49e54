//! The database behind the tools: opened when there is one, and not before.

use std::path::PathBuf;

use tokio::sync::OnceCell;

use lockgate_runs::store::sqlite::Store;

#[derive(Debug)]
pub(super) struct Shelf {
    path: PathBuf,
    store: OnceCell<Store>,
}

impl Shelf {
    pub(super) fn new(path: PathBuf) -> Shelf {
        Shelf { path, store: OnceCell::new() }
    }

    /// `None` while nothing has been recorded. Reading must not make an empty database.
    pub(super) async fn store(&self) -> Result<Option<&Store>, String> {
        if let Some(store) = self.store.get() {
            return Ok(Some(store));
        }
        if !self.path.exists() {
            return Ok(None);
        }
        let opened = self.store.get_or_try_init(|| Store::open(&self.path)).await;
        opened.map(Some).map_err(|err| match err.hint() {
            Some(hint) => format!("{err}. To mend it: {hint}."),
            None => err.to_string(),
        })
    }
}

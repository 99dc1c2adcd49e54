//! Lets old runs go while the hub runs (hub §1), and settles what an earlier hub left behind.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::live::{Clock, Command};
use crate::retention::Retention;
use crate::site::Site;
use crate::store::error::StoreError;

/// What the sweep of one hub needs to know.
#[derive(Debug)]
pub(crate) struct Sweeping {
    /// Runs that were running before this hub began.
    pub(crate) left_running: Vec<Arc<str>>,
    pub(crate) keep: Retention,
    /// Set after the first round.
    pub(crate) done: watch::Sender<bool>,
}

/// Reconciles what an earlier hub left behind, then prunes, now and every ten minutes.
pub(crate) async fn sweep(site: Arc<Site>, sweeping: Sweeping) {
    let Sweeping { left_running, keep, done } = sweeping;
    if !left_running.is_empty() {
        site.live.ask(|reply| Command::Reconcile { runs: left_running, reply }).await;
    }
    loop {
        if keep != Retention::Off
            && let Err(error) = prune(&site, keep).await
        {
            tracing::warn!(%error, "old runs could not be removed");
        }
        done.send_replace(true);
        tokio::time::sleep(BETWEEN).await;
    }
}

async fn prune(site: &Site, keep: Retention) -> Result<(), StoreError> {
    let now = crate::live::records::millis(Clock::read().wall_ms);
    let mut gone = site.store.old_runs(keep, now).await?;
    // Asked after the list was made: whoever came to life until then is spared.
    let live = site.live.ask(Command::Overlay).await.unwrap_or_default();
    let spared: HashSet<Arc<str>> = live.into_iter().map(|(run, _)| run.id).collect();
    gone.retain(|run| !spared.contains(run));
    if gone.is_empty() {
        return Ok(());
    }
    for run in &gone {
        site.store.delete_run(run).await?;
    }
    tracing::info!(runs = gone.len(), "old runs were removed");
    if site.live.commands.send(Command::Pruned(gone)).await.is_err() {
        return Ok(());
    }
    site.store.shrink().await
}

const BETWEEN: Duration = Duration::from_secs(600);

//! What only running hubs know about runs: which are connected, and how many of their calls stand still.

use std::collections::HashMap;
use std::time::Duration;

use lockgate_protocol::json::View;
use lockgate_runs::store::Liveness;
use tokio::time::timeout;

use crate::client::{Hub, text};
use crate::runfile;

/// Runs by id, as the hubs of this user have them now. One that does not answer soon knows nothing.
pub(crate) async fn runs() -> HashMap<String, Liveness> {
    let mut all = HashMap::new();
    for port in runfile::ports() {
        if let Ok(Some(runs)) = timeout(PATIENCE, of_hub(port)).await {
            all.extend(runs);
        }
    }
    all
}

async fn of_hub(port: u16) -> Option<Vec<(String, Liveness)>> {
    let reply = Hub::on(port).ok()?.get("/api/runs", Duration::ZERO).await.ok()?;
    let runs = reply.body.view().get("runs")?;
    Some(runs.items().filter_map(known).collect())
}

/// Only what differs from a run that is at rest.
fn known(run: View<'_>) -> Option<(String, Liveness)> {
    let live = run.get("live").and_then(View::bool).unwrap_or_default();
    let held = run.get("held").and_then(View::u64).and_then(|held| usize::try_from(held).ok()).unwrap_or_default();
    (live || held > 0).then(|| Some((text(run, "id")?, Liveness { live, held })))?
}

const PATIENCE: Duration = Duration::from_secs(2);

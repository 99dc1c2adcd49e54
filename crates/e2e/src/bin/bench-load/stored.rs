//! How many events the hub has kept, over all runs of this load.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Fallible;

/// Waits until all that were sent are stored, or the time is over; returns how many are.
pub(crate) async fn all(port: u16, sent: u64, limit: Duration) -> Fallible<u64> {
    let client = reqwest::Client::new();
    let deadline = Instant::now() + limit;
    loop {
        let url = format!("http://127.0.0.1:{port}/api/runs");
        let list: Value = client.get(url).send().await?.json().await?;
        let runs = list["runs"].as_array().ok_or("no list of runs")?;
        let stored: u64 = runs.iter().filter_map(|run| run["eventCount"].as_u64()).sum();
        if stored >= sent || Instant::now() >= deadline {
            return Ok(stored);
        }
        tokio::time::sleep(STEP).await;
    }
}

const STEP: Duration = Duration::from_millis(50);

//! Stores an imported run when no hub is there to take it in.

use std::sync::Arc;

use lockgate_protocol::debug::{Envelope, RunStatus};
use lockgate_protocol::shrink::{BUDGET, shrink};

use super::Imported;
use lockgate_runs::store::error::StoreError;
use lockgate_runs::store::sqlite::Store;
use lockgate_runs::store::{Batch, Mark, NewEvent, NewRun, Source, Status};

impl Imported {
    /// Keeps the run; `each` hears how many events were kept so far.
    ///
    /// # Errors
    /// When the store refuses. The run then ends where it refused.
    pub async fn keep(&self, store: &Store, each: &(dyn Fn(u64) + Sync)) -> Result<(), StoreError> {
        let Some(first) = self.events.first() else { return Ok(()) };
        let run = NewRun {
            id: first.run.as_str().into(),
            app: self.app.as_str().into(),
            started_at: first.ts,
            source: Source::Import,
        };
        let mut runs = vec![run];
        let mut kept = 0;
        for events in self.events.chunks(CHUNK) {
            let events = events.iter().map(|event| self.row(event)).collect();
            let batch = Batch { runs: std::mem::take(&mut runs), events, ..Batch::default() };
            kept += store.commit(&batch).await?.ords.len();
            each(u64::try_from(kept).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    fn row(&self, event: &Envelope) -> NewEvent {
        let payload = event.payload.as_ref();
        let node = payload.and_then(|payload| payload.view().get("nodeId")).and_then(|node| node.str()).map(Arc::from);
        let mark = match event.kind.as_ref() {
            "run.started" => Mark::Started { app: self.app.as_str().into() },
            "run.finished" => Mark::Finished { status: status(self.status) },
            "node.error" => Mark::Error,
            _ => Mark::None,
        };
        NewEvent {
            run: event.run.as_str().into(),
            seq: event.seq,
            ts: event.ts,
            kind: event.kind.clone(),
            node,
            payload: payload.map(|payload| shrink(Some(&event.kind), payload, BUDGET).or(payload).into_owned()),
            extra: None,
            mark,
        }
    }
}

fn status(status: RunStatus) -> Status {
    match status {
        RunStatus::Ok => Status::Ok,
        RunStatus::Error => Status::Error,
        RunStatus::Aborted => Status::Aborted,
    }
}

const CHUNK: usize = 500;

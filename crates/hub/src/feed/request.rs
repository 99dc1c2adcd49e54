//! Reads what a viewer sends (hub §5). Whatever it cannot make sense of is answered with one `error`, and no more.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::debug::{self, Control, Envelope, ExecResume, Parsed, Principal};
use lockgate_protocol::json::{Kind, Limits, Raw, View};

use super::ViewerId;
use super::frames::Complaint;
use crate::control;
use crate::live::{Asker, Command, Introduction, Wanted};
use crate::pauses::Key;
use crate::site::Site;

/// The command in a viewer's frame.
pub(crate) async fn command(
    site: &Site,
    (viewer, principal): (ViewerId, Principal),
    text: Bytes,
) -> Result<Command, Complaint> {
    let raw = Raw::check(text, Limits::FRAME).map_err(|_| Complaint::new("not json"))?.raw;
    let view = raw.view();
    if view.kind() != Kind::Object {
        return Err(Complaint::new("expected object"));
    }
    let kind = view.get("type").and_then(View::str).ok_or_else(|| Complaint::new("type: expected string"))?;
    match kind.as_ref() {
        "subscribe" => {
            let run = run_of(view)?;
            let after = view.get("after").map(|after| after.u64().ok_or_else(|| Complaint::new("after: expected ord")));
            subscribe(site, viewer, run, after.transpose()?).await
        }
        "unsubscribe" => Ok(Command::Unsubscribe { viewer, run: run_of(view)? }),
        "control" => {
            let envelope = view.get("envelope").ok_or_else(|| Complaint::new("envelope: required"))?;
            control_of((viewer, principal), raw.part(envelope).bytes().clone())
        }
        _ => Err(Complaint::new("type: unknown")),
    }
}

async fn subscribe(
    site: &Site,
    viewer: ViewerId,
    run: Option<Arc<str>>,
    after: Option<u64>,
) -> Result<Command, Complaint> {
    let known = match &run {
        Some(run) if !site.live.names.has(run) => {
            let found = site.store.introduce(run).await;
            let failed = |error: crate::store::error::StoreError| Complaint {
                run: Some(Arc::clone(run)),
                ..Complaint::new(error.to_string())
            };
            found.map_err(failed)?.map(|(run, last_ts)| Box::new(Introduction { run, last_ts }))
        }
        Some(run) => {
            // So that the replay has all of what has been shown so far.
            site.readable(run).await;
            None
        }
        None => None,
    };
    Ok(Command::Subscribe { viewer, run, after, known })
}

/// `*` is the list of runs.
fn run_of(view: View<'_>) -> Result<Option<Arc<str>>, Complaint> {
    let run = view.get("runId").and_then(View::str).filter(|run| run.len() <= LONGEST_ID && !run.contains('\0'));
    match run {
        None => Err(Complaint::new("runId: expected the id of a run, or *")),
        Some(run) if run == "*" => Ok(None),
        Some(run) => Ok(Some(run.as_ref().into())),
    }
}

fn control_of((viewer, principal): (ViewerId, Principal), text: Bytes) -> Result<Command, Complaint> {
    let envelope = match debug::parse(text) {
        Parsed::Ok(envelope) => envelope,
        Parsed::UnknownType(_) => return Err(Complaint::new("envelope: no control")),
        Parsed::VersionMismatch { .. } => return Err(Complaint::new("envelope: another major version")),
        Parsed::Invalid { issues, .. } => {
            let issue = issues.first().map(ToString::to_string).unwrap_or_default();
            return Err(Complaint::new(format!("envelope: {issue}")));
        }
    };
    match Control::read(&envelope) {
        Ok(Control::Resume(resume)) => Ok(resume_of((viewer, principal), &envelope, resume)),
        Ok(control @ (Control::BreakpointSet(_) | Control::BreakpointClear(_) | Control::ModeSet(_))) => {
            Ok(Command::Control { viewer, control })
        }
        Ok(Control::WatchSet(_)) => Err(Complaint::new("envelope: no control of a viewer")),
        Err(issue) => Err(Complaint::new(format!("envelope: {issue}"))),
    }
}

fn resume_of((viewer, by): (ViewerId, Principal), envelope: &Envelope, resume: ExecResume) -> Command {
    let operator = envelope.payload.as_ref().and_then(|payload| control::operator(payload.view().get("operator")?));
    let ExecResume { pause_id, action, output, input, request_id, pin } = resume;
    let key = Key { run: Arc::from(&*envelope.run), pause: pause_id };
    let request = control::request_id(request_id.as_deref());
    let wanted = Wanted { key, action, output, input, pin, request, by, operator, wait: WAIT };
    Command::Resume { wanted: Box::new(wanted), asker: Asker::Viewer(viewer) }
}

const LONGEST_ID: usize = 4_096;
/// A viewer is told within this time how its resume ended.
const WAIT: Duration = Duration::from_secs(30);

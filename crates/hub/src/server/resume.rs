//! Releasing a gate over HTTP (hub §8).

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Extension, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use axum::response::Response;
use bytes::Bytes;
use tokio::time::timeout;

use super::doors::{Who, error, json, unauthorized};
use crate::control::Body;
use crate::live::{Asker, Command, Wanted};
use crate::pauses::{Code, Key, Outcome, OutcomeKind};
use crate::site::Site;
use crate::socket::LONGEST;

pub(super) async fn resume(
    State(site): State<Arc<Site>>,
    Path((run, pause)): Path<(String, String)>,
    Extension(Who(who)): Extension<Who>,
    request: Request,
) -> Response {
    let Ok(by) = who else { return unauthorized() };
    let (parts, body) = request.into_parts();
    let text = match read(&parts.headers, body).await {
        Ok(text) => text,
        Err(status) => return error(status, "the body could not be read, or is too large"),
    };
    if !is_json(&parts.headers) {
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected application/json");
    }
    let body = match Body::read(text) {
        Ok(body) => body,
        Err(bad) => return error(StatusCode::BAD_REQUEST, &bad.to_string()),
    };
    let Some(_slot) = site.slots.take(by) else {
        return error(StatusCode::TOO_MANY_REQUESTS, "too many requests are waiting");
    };
    let Body { action, output, input, pin, request, operator, wait } = body;
    let key = Key { run: run.into(), pause: pause.into() };
    let id = Arc::clone(request.text());
    let wanted = Wanted { key: key.clone(), action, output, input, pin, request, by, operator, wait };
    let asked = site.live.ask(|reply| Command::Resume { wanted: Box::new(wanted), asker: Asker::Http(reply) }).await;
    let outcome = asked.unwrap_or_else(|| Outcome::of(Code::ServerClosing));
    json(status(&outcome), |w| {
        w.str("outcome", outcome.kind.as_str()).str("runId", &key.run).str("pauseId", &key.pause).str("requestId", &id);
        outcome.write(w);
    })
}

async fn read(headers: &HeaderMap, body: axum::body::Body) -> Result<Bytes, StatusCode> {
    let told = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > LONGEST) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    match timeout(READ, to_bytes(body, LONGEST)).await {
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Ok(text)) => Ok(text),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn status(outcome: &Outcome) -> StatusCode {
    match (outcome.kind, outcome.code) {
        (OutcomeKind::Resumed, _) => StatusCode::OK,
        (OutcomeKind::Refused, Some(Code::Forbidden | Code::EditRefused)) => StatusCode::FORBIDDEN,
        (OutcomeKind::Refused, _) => StatusCode::UNPROCESSABLE_ENTITY,
        (OutcomeKind::Taken, _) => StatusCode::CONFLICT,
        (OutcomeKind::Timeout, _) => StatusCode::ACCEPTED,
        (OutcomeKind::NoSuchPause, _) => StatusCode::NOT_FOUND,
    }
}

const READ: std::time::Duration = std::time::Duration::from_secs(30);

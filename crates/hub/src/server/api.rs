//! What can be read over HTTP (hub §2), the demo, and the page.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, UPGRADE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockgate_protocol::debug::Principal;
use tokio::time::Instant;

use super::doors::{Who, answer, error, json, unauthorized};
use crate::hub::DemoRun;
use crate::level::{Edits, Level};
use crate::live::{Behind, Command, Health, Poll};
use crate::site::Site;
use crate::store::PageSize;

type Params = Query<HashMap<String, String>>;

pub(super) async fn health(State(site): State<Arc<Site>>) -> Response {
    let health = site.live.ask(Command::Health).await;
    json(StatusCode::OK, |w| {
        w.bool("ok", true).str("name", "graphmind-ai").str("version", &site.version);
        let Some(Health { failure, lost }) = health else { return };
        if let Some(failure) = failure {
            w.str("storage", &failure);
        }
        if lost > 0 {
            w.u64("lostEvents", lost);
        }
    })
}

pub(super) async fn runs(State(site): State<Arc<Site>>) -> Response {
    let runs = site.runs().await;
    json(StatusCode::OK, |w| {
        w.array("runs", &runs, |out, (run, now)| run.write(*now, out));
    })
}

pub(super) async fn events(State(site): State<Arc<Site>>, Path(id): Path<String>, Query(params): Params) -> Response {
    let after = params.get("afterSeq").map_or(Ok(-1), |after| after.parse::<i64>());
    let limit = params.get("limit").map_or(Ok(1_000), |limit| limit.parse::<i64>());
    let (Ok(after), Ok(limit)) = (after, limit) else {
        return error(StatusCode::BAD_REQUEST, "afterSeq and limit: expected integers");
    };
    let Behind { run, missed } = match site.run(&id).await {
        Ok(Some(run)) => run,
        Ok(None) => return error(StatusCode::NOT_FOUND, "no such run"),
        Err(failure) => return error(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    };
    let rows = usize::try_from(limit.clamp(1, 5_000)).unwrap_or(1);
    match site.store.events_by_seq(&id, after, PageSize { rows, bytes: PAGE_BYTES }).await {
        Ok(page) => json(StatusCode::OK, |w| {
            let page = page.with(missed, (after, rows));
            w.str("runId", &run.id).u64("total", run.events);
            w.array("events", &page.events, |out, event| event.write(run.schema_version, &run.id, out));
            match page.events.last().filter(|_| page.more) {
                Some(last) => w.u64("nextAfterSeq", last.seq),
                None => w.null("nextAfterSeq"),
            };
        }),
        Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    }
}

pub(super) async fn session(State(site): State<Arc<Site>>, Extension(Who(who)): Extension<Who>) -> Response {
    let Ok(principal) = who else { return unauthorized() };
    json(StatusCode::OK, |w| {
        w.str("principal", principal.as_str()).str("agentLevel", site.house.agents.as_str());
        w.bool("editInput", site.house.edits == Edits::Allowed);
        w.strs("hubCapabilities", &site.hub_capabilities).str("version", &site.version);
    })
}

pub(super) async fn pauses(
    State(site): State<Arc<Site>>,
    Extension(Who(who)): Extension<Who>,
    Query(params): Params,
) -> Response {
    let Ok(who) = who else { return unauthorized() };
    let wait = match params.get("wait").map(|wait| wait.parse::<f64>()) {
        None => None,
        Some(Ok(wait)) if wait >= 0.0 => Some(Duration::from_secs_f64(wait.min(LONGEST_WAIT))),
        Some(_) => return error(StatusCode::BAD_REQUEST, "wait: expected seconds"),
    };
    let wait = wait.filter(|wait| !wait.is_zero());
    let slot = wait.map(|_| site.slots.take(who));
    if matches!(slot, Some(None)) {
        return error(StatusCode::TOO_MANY_REQUESTS, "too many requests are waiting");
    }
    let scope: Option<Arc<str>> = params.get("runId").map(|run| run.as_str().into());
    let known = match &scope {
        Some(run) => site.store.run(run).await.ok().flatten(),
        None => None,
    };
    let until = wait.map(|wait| Instant::now() + wait);
    match site.live.ask(|reply| Command::Poll(Box::new(Poll { scope, known, until, reply }))).await {
        Some(text) => answer(StatusCode::OK, text),
        None => error(StatusCode::SERVICE_UNAVAILABLE, "the hub is stopping"),
    }
}

pub(super) async fn demo(State(site): State<Arc<Site>>, Extension(Who(who)): Extension<Who>) -> Response {
    let may = match who {
        Ok(Principal::Viewer) => true,
        Ok(Principal::Agent) => site.house.agents >= Level::Resume,
        Ok(Principal::Anonymous) | Err(_) => false,
    };
    if !may {
        return error(StatusCode::FORBIDDEN, "your credential does not allow this");
    }
    let failed = |message: &str| {
        json(StatusCode::INTERNAL_SERVER_ERROR, |w| {
            w.bool("ok", false).str("error", message);
        })
    };
    let mut playing = site.playing.lock().await;
    if let Some(run) = &*playing {
        return json(StatusCode::OK, |w| {
            w.bool("ok", true).str("runId", run).bool("alreadyRunning", true);
        });
    }
    let Some(start) = &site.demo else { return failed("this hub has no demo") };
    match start(site.port).await {
        Ok(DemoRun { run, playing: play }) => {
            *playing = Some(run.clone());
            let over = Arc::clone(&site);
            site.tasks.spawn(async move {
                tokio::select! {
                    () = play => {}
                    () = over.stop.cancelled() => {}
                }
                *over.playing.lock().await = None;
            });
            json(StatusCode::OK, |w| {
                w.bool("ok", true).str("runId", &run);
            })
        }
        Err(message) => failed(&message),
    }
}

/// Files of the page; every other path is a place within it.
pub(super) async fn page(State(site): State<Arc<Site>>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        return error(StatusCode::NOT_FOUND, "no such endpoint");
    }
    if request.headers().contains_key(UPGRADE) || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::NOT_FOUND, "nothing here\n").into_response();
    }
    let name = path.trim_start_matches('/');
    let Some(asset) = (site.page)(name).or_else(|| (site.page)("index.html")) else {
        return (StatusCode::NOT_FOUND, "this hub has no page\n").into_response();
    };
    let mut response = asset.body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Nothing from elsewhere, nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE_BYTES: usize = 16 << 20;
const LONGEST_WAIT: f64 = 120.0;

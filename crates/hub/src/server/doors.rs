//! The two doors before every route, and what every answer carries on its way out (hub §3, §7).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    ORIGIN, SEC_WEBSOCKET_PROTOCOL, UPGRADE, WWW_AUTHENTICATE,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lockgate_protocol::debug::Principal;
use lockgate_protocol::json::{ObjectWriter, Raw};

use crate::credentials::Unauthorized;
use crate::guard;
use crate::level::Reads;
use crate::site::Site;

/// Who a request says it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who(pub(super) Result<Principal, Unauthorized>);

/// The outer door: names and origins. Its refusals carry the same headers as everything else.
pub(super) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let api = is_api(request.uri().path());
    let upgrade = request.headers().contains_key(UPGRADE);
    let checked =
        guard::check(texts(request.headers(), &HOST), texts(request.headers(), &ORIGIN), &site.allowed, site.port);
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(foreign) => (StatusCode::FORBIDDEN, format!("{foreign}\n")).into_response(),
    };
    let refused = upgrade && response.status() != StatusCode::SWITCHING_PROTOCOLS;
    if api && !upgrade && response.status().is_client_error() {
        response = told_as_json(response).await;
    }
    let headers = response.headers_mut();
    for (name, value) in ARMOUR {
        // The page has a policy of its own, which says this too.
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    if api || refused {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if refused {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// What every answer carries (hub §3).
pub(crate) const ARMOUR: [(&str, &str); 4] = [
    ("content-security-policy", "frame-ancestors 'none'"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

/// Refusals that were not made here, of paths and methods, are plain text or nothing.
async fn told_as_json(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
        return Response::from_parts(parts, body);
    }
    let text = axum::body::to_bytes(body, LONGEST_REFUSAL).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&text);
    let reason = parts.status.canonical_reason().unwrap_or_default().to_lowercase();
    let told = error(parts.status, if said.trim().is_empty() { &reason } else { said.trim() });
    parts.headers.extend(told.headers().clone());
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, told.into_body())
}

/// The inner door: nothing that changes anything is reached without a credential, whether there is such a route or not.
pub(super) async fn credentials(State(site): State<Arc<Site>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    let authorization = headers.get_all(AUTHORIZATION).iter().map(HeaderValue::as_bytes);
    let who = site.tokens.identify(authorization, subprotocols(headers));
    let path = request.uri().path();
    let writes = !matches!(*request.method(), Method::GET | Method::HEAD);
    // A wrong method on the one route with a method of its own is told so first.
    let misdirected = is_resume(path) && request.method() != Method::POST;
    let reads = site.house.reads == Reads::TokenOnly;
    if is_api(path) && !misdirected && (writes || reads) && !matches!(who, Ok(Principal::Viewer | Principal::Agent)) {
        return unauthorized();
    }
    request.extensions_mut().insert(Who(who));
    next.run(request).await
}

pub(super) fn unauthorized() -> Response {
    let mut response = error(StatusCode::UNAUTHORIZED, "a valid token is required");
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// An error as JSON.
pub(super) fn error(status: StatusCode, message: &str) -> Response {
    json(status, |w| {
        w.str("error", message);
    })
}

pub(super) fn json(status: StatusCode, fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Response {
    answer(status, Raw::object(fill).bytes().clone())
}

/// JSON that exists already.
pub(super) fn answer(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// Entries of the subprotocol headers.
pub(super) fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    texts(headers, &SEC_WEBSOCKET_PROTOCOL).flat_map(|list| list.split(',')).map(str::trim)
}

/// The values of a header; what is no text is one that matches nothing.
fn texts<'h>(headers: &'h HeaderMap, name: &'static HeaderName) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"))
}

fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

fn is_resume(path: &str) -> bool {
    let mut parts = path.split('/');
    let mut next = || parts.next().unwrap_or_default();
    let shape = (next(), next(), next(), next(), next(), next(), next());
    matches!(shape, ("", "api", "runs", run, "pauses", pause, "resume") if !run.is_empty() && !pause.is_empty())
        && parts.next().is_none()
}

/// Of a refusal made elsewhere, so much is passed on.
const LONGEST_REFUSAL: usize = 4 << 10;

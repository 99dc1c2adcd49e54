//! Turns a request into a WebSocket, or into a plain refusal (hub §2, §3).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockgate_protocol::debug::Principal;
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::doors::{Who, subprotocols};
use crate::feed::viewer;
use crate::level::Reads;
use crate::metered::Meter;
use crate::site::Site;
use crate::socket::{self, Socket};

/// `/ingest`: programs under debug.
pub(super) async fn ingest(
    State(site): State<Arc<Site>>,
    Extension(meter): Extension<Meter>,
    request: Request,
) -> Response {
    let (response, upgraded) = match accept(&site, request) {
        Ok(accepted) => accepted,
        Err(refusal) => return refusal.into_response(),
    };
    spawn(&site, upgraded, {
        let site = Arc::clone(&site);
        move |socket| crate::ingest::serve(site, socket, meter)
    });
    response
}

/// `/ws/ui`: viewers.
pub(super) async fn viewer(
    State(site): State<Arc<Site>>,
    Extension(meter): Extension<Meter>,
    Extension(Who(who)): Extension<Who>,
    request: Request,
) -> Response {
    let principal = match who {
        Ok(Principal::Anonymous) if site.house.reads == Reads::TokenOnly => return Refusal::Token.into_response(),
        Ok(principal) => principal,
        Err(_) => return Refusal::Token.into_response(),
    };
    let offered = subprotocols(request.headers()).any(|entry| entry == SUBPROTOCOL);
    let (mut response, upgraded) = match accept(&site, request) {
        Ok(accepted) => accepted,
        Err(refusal) => return refusal.into_response(),
    };
    if offered {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    if principal == Principal::Anonymous && !site.tokenless.swap(true, Ordering::Relaxed) {
        tracing::info!(
            "a viewer has no token; open the page with the link of this start to inject and set breakpoints"
        );
    }
    spawn(&site, upgraded, {
        let site = Arc::clone(&site);
        move |socket| viewer::serve(site, socket, meter, principal)
    });
    response
}

/// Why there is no WebSocket.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Refusal {
    #[error("this path speaks WebSocket only")]
    NoUpgrade,
    #[error("a valid token is required")]
    Token,
    #[error("too many sockets")]
    Full,
}

impl Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Refusal::NoUpgrade => StatusCode::UPGRADE_REQUIRED,
            Refusal::Token => StatusCode::UNAUTHORIZED,
            Refusal::Full => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut response = (status, format!("{self}\n")).into_response();
        let header = match self {
            Refusal::NoUpgrade => Some((UPGRADE, "websocket")),
            Refusal::Token => Some((axum::http::header::WWW_AUTHENTICATE, "Bearer")),
            Refusal::Full => Some((axum::http::header::RETRY_AFTER, "5")),
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

struct Upgraded {
    pending: hyper::upgrade::OnUpgrade,
    permit: OwnedSemaphorePermit,
}

fn accept(site: &Site, mut request: Request) -> Result<(Response, Upgraded), Refusal> {
    let headers = request.headers();
    let key = headers.get(SEC_WEBSOCKET_KEY).map(|key| derive_accept_key(key.as_bytes()));
    let asks = *request.method() == Method::GET
        && lists(headers, &CONNECTION, "upgrade")
        && lists(headers, &UPGRADE, "websocket")
        && lists(headers, &SEC_WEBSOCKET_VERSION, "13");
    let key = key.filter(|_| asks).and_then(|key| HeaderValue::from_str(&key).ok()).ok_or(Refusal::NoUpgrade)?;
    let permit = Arc::clone(&site.sockets).try_acquire_owned().map_err(|_| Refusal::Full)?;
    let upgraded = Upgraded { pending: hyper::upgrade::on(&mut request), permit };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, key);
    Ok((response, upgraded))
}

fn spawn<F>(site: &Site, upgraded: Upgraded, serve: impl FnOnce(Socket) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    let Upgraded { pending, permit } = upgraded;
    site.tasks.spawn(async move {
        let opened = match pending.await {
            Ok(upgraded) => socket::open(upgraded).await,
            Err(error) => return tracing::trace!(%error, "an upgrade broke off"),
        };
        match opened {
            Ok(socket) => serve(socket).await,
            Err(error) => tracing::debug!(%error, "an upgraded connection could not be taken over"),
        }
        drop(permit);
    });
}

fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|list| list.split(',')).any(|entry| entry.trim().eq_ignore_ascii_case(word))
}

const SUBPROTOCOL: &str = "graphmind.v1";

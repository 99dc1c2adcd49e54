//! Listens, serves HTTP on each connection, and hands upgraded ones over (hub §1, §2).

mod api;
mod detail;
mod doors;
mod resume;
mod upgrade;

pub(crate) use self::doors::ARMOUR;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::metered::{Meter, Metered};
use crate::site::Site;

/// Accepts connections until the hub stops.
pub(crate) async fn serve(site: Arc<Site>, listener: TcpListener) {
    let router = router(&site);
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = site.stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                // Beyond that many the newcomer is hung up on.
                let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
                let (site, router) = (Arc::clone(&site), router.clone());
                site.tasks.clone().spawn(async move {
                    connection(&site, router, stream).await;
                    drop(permit);
                });
            }
            Err(error) => {
                if let Some(swallowed) = site.throttle.pass("accept", Instant::now()) {
                    tracing::warn!(%error, swallowed, "a connection could not be accepted");
                }
                sleep(BREATH).await;
            }
        }
    }
}

async fn connection(site: &Site, router: Router, stream: TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::trace!(%error, "small frames may be slow");
    }
    let meter = Meter::default();
    let io = TokioIo::new(Metered::new(stream, meter.clone()));
    let inner = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(meter.clone());
        inner.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(64 << 10)
        .serve_connection(io, service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => Some(served),
        () = site.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(GOODBYE, connection).await.ok()
        }
    };
    if let Some(Err(error)) = served {
        tracing::trace!(%error, "a connection broke");
    }
}

fn router(site: &Arc<Site>) -> Router {
    let layer = |site: &Arc<Site>| Arc::clone(site);
    Router::new()
        .route("/ingest", get(upgrade::ingest))
        .route("/ws/ui", get(upgrade::viewer))
        .route("/health", get(api::health))
        .route("/api/runs", get(api::runs))
        .route("/api/runs/{run}/events", get(api::events))
        .route("/api/session", get(api::session))
        .route("/api/pauses", get(api::pauses))
        .route("/api/runs/{run}/pauses/{pause}", get(detail::pause))
        .route("/api/runs/{run}/pauses/{pause}/resume", post(resume::resume))
        .route("/api/demo/start", post(api::demo))
        .fallback(api::page)
        .layer(from_fn_with_state(layer(site), doors::credentials))
        .layer(from_fn_with_state(layer(site), doors::guard))
        .with_state(Arc::clone(site))
}

/// HTTP connections at once, upgraded ones not counted.
const MOST_CONNECTIONS: usize = 1_024;
const HEADERS: Duration = Duration::from_secs(30);
const GOODBYE: Duration = Duration::from_millis(500);
const BREATH: Duration = Duration::from_millis(50);

//! A path: a session with its gate and its tap, made from options that are settled. The same for every room that has calls.

use std::future::Future;
use std::pin::Pin;

use lockgate_gate::{Gate, Tap};
use lockgate_graphmind::{Environment, Session, SessionConfig};
use lockgate_protocol::debug::SdkInfo;

/// What a path is made of.
pub struct Options {
    /// Name of the program.
    pub app: String,
    /// Who reports.
    pub sdk: SdkInfo,
    /// Port of a hub on this machine; without one the environment says where it is.
    pub port: Option<u16>,
    /// The environment, as read by whoever starts the program.
    pub environment: Environment,
}

/// Where the calls of one program pass.
pub struct Path {
    /// The link to a hub.
    pub session: Session,
    /// Where calls stand.
    pub gate: Gate,
    /// Where events go.
    pub tap: Tap,
    /// Does the session's work; ends some moments after [`Session::dispose`].
    pub running: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Makes a path. Nothing is connected and nothing runs until `running` is polled.
pub fn path(options: Options) -> Path {
    let mut config = SessionConfig::new(options.app, options.sdk, options.environment);
    config.url = options.port.map(|port| format!("ws://127.0.0.1:{port}/ingest"));
    let (session, running) = Session::new(config);
    Path { gate: session.gate(), tap: session.tap().clone(), session, running: Box::pin(running) }
}

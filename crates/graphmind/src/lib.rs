//! Debug adapter: the session that reports a program to a hub and holds its calls.

mod config;
mod context;
mod dial;
mod drive;
mod environment;
mod ledger;
mod link;
mod outbox;
mod presence;
mod press;
mod redact;
mod repeat;
mod ring;
mod run;
mod session;
mod shared;
mod smart;
mod span;
mod stop;
mod wants;
mod warn;
mod wire;

pub use config::{Enabled, LoopConfig, SessionConfig, SmartConfig};
pub use context::Context;
pub use environment::{Environment, OnLoop};
pub use link::Timing;
pub use redact::Hide;
pub use ring::BufferLimits;
pub use run::RunStart;
pub use session::{READY, Ready, Session, Stats};
pub use smart::Detector;
pub use span::{Shape, Span};
pub use stop::{Failure, Stopped};
pub use warn::{WarnSink, traced};

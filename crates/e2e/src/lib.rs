//! Real binaries against each other and against real peers: starts them, drives them, ends them.

mod hub;
mod peer;
mod place;
mod viewer;

pub use hub::{ErrorHolds, Hub};
pub use peer::Peer;
pub use place::{Place, Server};
pub use viewer::{Pause, Viewer};

//! Carries MCP between a host and a server, through a gate.

mod alive;
mod answer;
mod child;
mod console;
mod end;
mod exchange;
mod mapping;
mod relay;
mod rules;
mod side;
mod signals;
pub mod stdio;
mod story;
mod trace;

pub use alive::Heartbeat;
pub use child::{ChildStderr, Exited, Keeper, Shim};
pub use rules::{Duplicates, FrameCap, FrameCapError, Rules, Trouble};
pub use story::{Command, Shown};
pub use trace::Trace;

//! Puts a path together: which policies stand at the gate, where events go.

mod link;
mod path;
mod stdio;

pub use lockgate_gate::Release;
pub use lockgate_graphmind::Environment;
pub use lockgate_proxy::stdio::WaitForAttach;
pub use lockgate_proxy::{ChildStderr, Duplicates, FrameCap, FrameCapError, Heartbeat, Trace};
pub use path::{Options, Path, path};
pub use stdio::{HoldOptions, StdioOptions, stdio};

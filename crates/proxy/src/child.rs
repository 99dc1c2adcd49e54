//! The server's process: started in a group of its own, watched over, and ended with everything it started, on every way out.

mod exit;
mod group;
mod keeper;
mod process;
#[cfg(any(windows, test))]
mod search;
mod spawn;
mod tail;

pub use exit::Exited;
pub(crate) use exit::Status;
pub(crate) use group::{Order, supervise};
pub use keeper::Keeper;
pub use spawn::{ChildStderr, Shim};
pub(crate) use spawn::{SpawnError, Spec, Started, spawn};
pub(crate) use tail::{Tail, pump};

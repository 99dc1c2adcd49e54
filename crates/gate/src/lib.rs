//! Where a call stands still until something lets it go.
#![warn(missing_docs)]

mod breakpoint;
mod call;
mod config;
mod hold;
mod pass;
mod policy;
mod presence;
mod tap;
mod warning;

pub use breakpoint::HiddenSides;
pub use call::{Actions, Call, Checking, Edit, End, Limit, Node, Outcome, Passed, PolicyRefusal, Refused, Round, Stop};
pub use config::GateConfig;
pub use hold::{EditInput, Held, Revisit};
pub use pass::{Gate, Pass};
pub use policy::{Alone, Approve, Approving, Ending, Guard, Hold, OldHub, Policy, Reason, Release, Verdict};
pub use presence::{HubCaps, Presence, Watched};
pub use tap::{Batch, Drain, Loss, Queued, Tap, TapLimits, When};
pub use warning::Warning;

//! Takes in debug events, keeps runs, serves viewers and control.

mod breakpoints;
mod claims;
mod control;
mod credentials;
mod feed;
pub mod guard;
mod hub;
mod ingest;
pub mod level;
mod live;
mod metered;
mod outbox;
mod page;
mod pauses;
mod runfiles;
mod server;
mod site;
mod socket;
mod storage;
mod sweep;
mod throttle;
mod watch;

pub use breakpoints::ErrorStop;
pub use hub::{Demo, DemoRun, Hub, HubConfig, HubHandle, StartError};
pub use lockgate_runs::{retention, store};
pub use page::{Asset, Page};

//! Takes in debug events, keeps runs, serves viewers and control.

mod breakpoints;
mod claims;
mod control;
mod credentials;
pub mod export;
mod feed;
pub mod guard;
mod hub;
pub mod import;
mod ingest;
pub mod level;
mod live;
mod markers;
pub mod mcp;
mod outbox;
mod page;
mod pauses;
pub mod retention;
mod runfiles;
mod server;
mod site;
mod socket;
mod storage;
pub mod store;
mod throttle;
mod watch;

pub use breakpoints::ErrorStop;
pub use hub::{Demo, DemoRun, Hub, HubConfig, HubHandle, StartError};
pub use page::{Asset, Page};

//! Scripted hosts, servers and hubs for tests.

pub mod hub;
pub mod peer;
pub mod script;

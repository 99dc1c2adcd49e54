//! Scripted hosts, servers and hubs for tests.

pub mod hub;

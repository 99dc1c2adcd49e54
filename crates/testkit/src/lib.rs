//! Scripted hosts, servers and hubs for tests.

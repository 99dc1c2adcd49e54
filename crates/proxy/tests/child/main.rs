//! The proxy as a process, around a real server process: bytes, exit codes, and nobody left behind.
#![cfg(unix)]

mod ends;
mod orphans;
mod stage;
mod streams;

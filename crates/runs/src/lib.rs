//! Keeps runs: what is stored of them, for how long, and in what.

pub mod retention;
pub mod store;
pub mod writer;

//! Takes in debug events, keeps runs, serves viewers and control.

pub mod retention;
pub mod store;

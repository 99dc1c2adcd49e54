//! The run model that viewers draw, and the terminal viewer.

pub mod model;
pub mod tui;

mod feed;

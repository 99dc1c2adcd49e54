//! The terminal viewer: a pure `update` and a pure `draw`, one file a pane, and a thin driver around both.

mod dialog;
mod draw;
mod help;
mod holds;
mod inspector;
mod json;
mod layout;
mod link;
mod rail;
mod run;
mod screen;
mod state;
mod status;
mod theme;
mod timeline;
mod tree;
mod update;
mod words;

pub use link::Token;
pub use run::{TuiConfig, TuiError, run};
pub use theme::Colour;

#[cfg(test)]
mod tests;

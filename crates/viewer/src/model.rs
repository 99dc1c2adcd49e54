//! Runs as trees, built from envelopes one by one. The same reducer serves live, replayed and imported runs; it knows no
//! sockets, screens or clocks.

mod duration;
mod execution;
mod hold;
mod info;
mod node;
pub(crate) mod read;
mod reduce;
mod run;
mod tree;

pub use duration::{elapsed, print};
pub use execution::{Execution, Failure, State, Stream, Usage};
pub use hold::{Hold, Loop, Refusal, Release, Until, Why};
pub use info::{RunInfo, Status};
pub use node::{Node, NodeAt};
pub use reduce::Taken;
pub use run::Run;
pub use tree::{Row, rows};

#[cfg(test)]
mod tests;

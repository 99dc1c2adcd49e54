//! The words on the wires: JSON, JSON-RPC, framing, what we read of MCP, and the debug wire.
#![warn(missing_docs)]

pub mod debug;
pub mod json;

//! The words on the wires: JSON, JSON-RPC, framing, what we read of MCP, and the debug wire.
#![warn(missing_docs)]

pub mod debug;
pub mod edit;
pub mod framing;
pub mod json;
pub mod lift;
pub mod mcp;
pub mod pending;
pub mod rpc;
pub mod shrink;

//! Stored runs for others: exports, imports, and runs as MCP tools.

pub mod export;
pub mod import;
pub mod mcp;

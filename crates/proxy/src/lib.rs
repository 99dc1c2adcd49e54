//! Carries MCP between a host and a server, through a gate.

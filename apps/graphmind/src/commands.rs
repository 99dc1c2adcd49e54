//! One room per command: the arguments it takes and what it does with them.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod exec;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod keep;
pub(crate) mod mcp;
pub(crate) mod mcp_proxy;
pub(crate) mod pauses;
pub(crate) mod record;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod skill;
pub(crate) mod tui;
pub(crate) mod wait;

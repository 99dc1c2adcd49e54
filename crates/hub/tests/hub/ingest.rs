//! Programs under debug: handshake, storing, ownership, abandonment (hub §4).

mod abuse;
mod claims;
mod handshake;
mod logs;
mod orphans;
mod storing;

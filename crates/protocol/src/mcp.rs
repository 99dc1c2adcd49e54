//! What we read of MCP, both eras: the era of a request, its `_meta`, the parameters that name a target, the type of a
//! result. Unknown members are nobody's business here; they pass with the bytes.

mod meta;
pub mod method;
mod params;
mod result;

pub use self::meta::{Meta, key};
pub use self::params::Params;
pub use self::result::{Listing, Outcome, ResultType};

/// The two shapes of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: opens with `initialize`.
    Handshake,
    /// From 2026-07-28 on: every request carries everything.
    Stateless,
}

impl Era {
    /// Its word in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Era::Handshake => "handshake",
            Era::Stateless => "stateless",
        }
    }

    /// The era a version belongs to. Versions are dates and compare as texts.
    pub fn of_version(version: &str) -> Era {
        if version >= FIRST_STATELESS { Era::Stateless } else { Era::Handshake }
    }
}

/// The first version of the stateless era.
pub const FIRST_STATELESS: &str = "2026-07-28";

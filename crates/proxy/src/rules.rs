//! What a session does about trouble, and the limits it keeps.

use lockgate_protocol::framing::FRAME_CAP;
use lockgate_protocol::json::Limits;

use crate::story::Shown;

/// How a session behaves.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// What happens to what cannot be judged.
    pub trouble: Trouble,
    /// What happens to a frame that repeats a member.
    pub duplicates: Duplicates,
    /// Which sides of it are told.
    pub shown: Shown,
}

/// What happens to traffic that cannot be judged: too long, unreadable, unseen because the gate failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It passes as it is; the session goes on. The debugger's way.
    Pass,
    /// It is refused, or the session ends. The guard's way.
    Refuse,
}

/// What happens to a frame that repeats a member (mcp R27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// It passes; the last of them counts for us.
    Pass,
    /// It is refused with an error that names the place.
    Refuse,
}

/// Largest frame that is still cut, in bytes without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameCap(usize);

/// A frame cap too small to carry MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("frame cap below {LEAST} bytes: {0}")]
pub struct FrameCapError(usize);

impl FrameCap {
    /// Checks a wished cap.
    ///
    /// # Errors
    /// When ordinary messages would not fit.
    pub fn new(bytes: usize) -> Result<FrameCap, FrameCapError> {
        if bytes < LEAST { Err(FrameCapError(bytes)) } else { Ok(FrameCap(bytes)) }
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        self.0
    }
}

impl Default for FrameCap {
    fn default() -> FrameCap {
        FrameCap(FRAME_CAP)
    }
}

/// What is read of a frame. Its length is bounded where it is cut; deeper nesting than this passes unread.
pub(crate) const LIMITS: Limits = Limits { depth: 65_536, bytes: usize::MAX };
/// Requests one side may have open (hub §12.1).
pub(crate) const MOST_OPEN: usize = 10_000;
/// Exchanges that may wait for their next round.
pub(crate) const MOST_ROUNDS: usize = 1_000;

const LEAST: usize = 1_024;

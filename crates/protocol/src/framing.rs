//! Push decoders: bytes go in as they arrive, frames come out as soon as they are complete, byte for byte.
//! Nothing here reads a socket, and no input can make it wait or panic.

mod lines;
mod sse;

pub use self::lines::{Line, Lines};
pub use self::sse::{Block, Sse, SseEvent};

/// Largest frame by default, in bytes without its newline: 64 MiB (hub §12.1).
pub const FRAME_CAP: usize = 64 << 20;

/// Up to here a frame is copied out of the read buffer; a longer one takes its part of the buffer along. The copy keeps a
/// short frame, which may be remembered for long, from pinning a buffer many times its size.
const COPIED: usize = 16 << 10;
/// What a frame of this length has cost to gather, a longer one should not cost again.
const MANY_READS: usize = 256 << 10;
/// Free space offered to one read.
const READ: usize = 64 << 10;

//! One direction: its stream, the lines in it, and what of them stands at the gate.

use std::collections::VecDeque;

use bytes::Bytes;
use lockgate_gate::Outcome;
use lockgate_protocol::framing::{Line, Lines};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::State;
use super::condense::Condenser;
use super::stand::Stand;
use crate::exchange::Decided;

/// One direction of the relay.
///
/// Memory: the frame that is being read, or the lines behind one that stands, up to the cap.
pub(super) struct Lane<'g> {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    lines: Lines,
    /// Lines behind the one that stands.
    ahead: VecDeque<Line>,
    ahead_bytes: usize,
    cap: usize,
    end: Ended,
    stand: Option<Stand<'g>>,
    /// What the gate said at once.
    pub(super) decided: Option<Decided>,
    /// What is kept of the frame that is passing.
    pub(super) passing: Condenser,
    /// The line that is being dealt with.
    pub(super) current: Option<Bytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    /// The stream is over, its lines are not all dealt with.
    Stream,
    /// Nothing is left of it.
    All,
}

/// What happened in a lane.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "moved once and never stored; a box would be an allocation for every frame"
)]
pub(super) enum News {
    /// There is more to deal with.
    Bytes,
    /// Nothing more comes.
    End,
    /// The gate decided about what stands; nothing when the gate failed.
    Decided(Option<Outcome>),
}

/// Whether a lane reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Yes,
    No,
}

/// What comes next in a lane.
#[derive(Debug)]
pub(super) enum Next {
    Line(Line),
    /// The end of a stream that ended without a newline.
    Rest(Bytes),
    /// The stream is over, and so is everything it brought. Comes once.
    End,
    Nothing,
}

impl<'g> Lane<'g> {
    pub(super) fn new(reader: Box<dyn AsyncRead + Send + Unpin>, cap: usize) -> Lane<'g> {
        Lane {
            reader,
            lines: Lines::new(cap),
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            cap,
            end: Ended::No,
            stand: None,
            decided: None,
            passing: Condenser::default(),
            current: None,
        }
    }

    /// Whether something stands at the gate.
    pub(super) fn stands(&self) -> bool {
        self.stand.is_some()
    }

    pub(super) fn stand(&self) -> Option<&Stand<'g>> {
        self.stand.as_ref()
    }

    pub(super) fn stand_mut(&mut self) -> Option<&mut Stand<'g>> {
        self.stand.as_mut()
    }

    pub(super) fn set(&mut self, stand: Stand<'g>) {
        self.stand = Some(stand);
    }

    pub(super) fn take_stand(&mut self) -> Option<Stand<'g>> {
        self.stand.take()
    }

    /// Whether reading on makes sense: not while the other side is slow, and never beyond the cap.
    pub(super) fn reading(&self, other_waits: usize, state: State) -> Reading {
        let room = match (self.stands(), state) {
            (true, _) | (_, State::Waiting) => self.ahead_bytes + self.lines.pending() <= self.cap,
            // A little is read even from behind a slow side, or nobody would notice that this one has hung up.
            (false, _) => other_waits <= HIGH || self.lines.pending() == 0,
        };
        if room && self.end == Ended::No { Reading::Yes } else { Reading::No }
    }

    /// Waits for something to happen. Dropping the future loses nothing.
    pub(super) async fn news(&mut self, reading: Reading) -> News {
        let Lane { reader, lines, stand, .. } = self;
        let read = tokio::select! {
            biased;
            outcome = outcome(stand.as_mut()), if stand.is_some() => return News::Decided(outcome),
            read = reader.read_buf(lines.space()), if reading == Reading::Yes => read,
            else => std::future::pending().await,
        };
        match read {
            Ok(1..) => News::Bytes,
            // Whatever is wrong with a stream, nothing more comes from it.
            Ok(0) | Err(_) => {
                self.end = Ended::Stream;
                News::End
            }
        }
    }

    /// The next line that is to be dealt with.
    pub(super) fn next(&mut self) -> Next {
        if let Some(line) = self.ahead.pop_front() {
            self.ahead_bytes -= length(&line);
            return Next::Line(line);
        }
        if let Some(line) = self.lines.next() {
            return Next::Line(line);
        }
        match self.end {
            Ended::No | Ended::All => Next::Nothing,
            Ended::Stream => match self.lines.finish() {
                Some(rest) => Next::Rest(rest),
                None => {
                    self.end = Ended::All;
                    Next::End
                }
            },
        }
    }

    /// A part of a frame that is too long to wait for, unless something waits before it.
    pub(super) fn part(&mut self) -> Option<Bytes> {
        if !self.ahead.is_empty() {
            return None;
        }
        self.lines.part(if self.lines.is_amid() { 1 } else { LONG })
    }

    /// Whether a frame is passing.
    pub(super) fn is_amid(&self) -> bool {
        self.lines.is_amid()
    }

    /// A line that came behind the one that stands; it stays to be dealt with later.
    pub(super) fn next_ahead(&mut self) -> Option<&Line> {
        let line = self.lines.next()?;
        self.ahead_bytes += length(&line);
        self.ahead.push_back(line);
        self.ahead.back()
    }

    /// Whether its side has hung up, whatever is still to be dealt with.
    pub(super) fn has_hung_up(&self) -> bool {
        self.end != Ended::No
    }

    /// Nothing more is wanted from this stream.
    pub(super) fn close(&mut self) {
        if self.end == Ended::No {
            self.end = Ended::Stream;
        }
    }
}

async fn outcome(stand: Option<&mut Stand<'_>>) -> Option<Outcome> {
    match stand {
        Some(stand) => stand.outcome().await,
        None => std::future::pending().await,
    }
}

/// What a line that waits costs: an empty one costs its place.
fn length(line: &Line) -> usize {
    let (Line::Frame(bytes) | Line::Last(bytes) | Line::Overflow(bytes) | Line::Raw(bytes)) = line;
    bytes.len() + size_of::<Line>()
}

/// From so many bytes on a frame may pass before it is complete.
const LONG: usize = 64 << 10;
/// So many bytes may wait for the other side before nothing more is read from this one.
pub(super) const HIGH: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_of_empty_lines_are_not_free() {
        let lines = 64 << 20;
        assert!(lines * length(&Line::Frame(Bytes::new())) >= lines * size_of::<Line>());
    }
}

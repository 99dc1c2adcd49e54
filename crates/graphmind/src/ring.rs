//! What a hub that attaches later still gets to see: the newest frames, and a record of those that nobody saw.
//! Counts and keeps; it sends nothing and knows no socket.

use std::collections::VecDeque;

use lockgate_protocol::debug::RunId;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// How much a session keeps for a hub that is not there yet; whichever bound is met first evicts the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Frames.
    pub frames: usize,
    /// UTF-8 bytes of their texts together.
    pub bytes: usize,
}

impl BufferLimits {
    /// 5,000 frames and 8 MiB (wire §2.4).
    pub const STANDARD: BufferLimits = BufferLimits { frames: 5_000, bytes: 8 << 20 };
}

/// One message on its way to the hub, written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) run: RunId,
    pub(crate) seq: u64,
    pub(crate) text: Utf8Bytes,
}

/// Frames of one run that went under before any hub saw them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) run: RunId,
    pub(crate) count: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// First in, first out, bounded twice. Slots stand in the order of their sequence numbers.
pub(crate) struct Ring {
    limits: BufferLimits,
    slots: VecDeque<Slot>,
    bytes: usize,
    /// How many slots, from the oldest, this attachment has taken already.
    taken: usize,
    /// Evicted, whether or not a hub had seen them.
    pub(crate) dropped: u64,
    /// Larger than the whole byte budget.
    pub(crate) rejected: u64,
    pub(crate) losses: Losses,
}

/// What became of a frame offered to the ring.
pub(crate) enum Kept {
    Yes,
    /// It alone is larger than the budget; nothing was evicted for it.
    TooLarge(Frame),
}

impl Ring {
    pub(crate) fn new(limits: BufferLimits) -> Ring {
        Ring { limits, slots: VecDeque::new(), bytes: 0, taken: 0, dropped: 0, rejected: 0, losses: Losses::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Keeps `frame` and evicts what no longer fits. Evicting what no hub has seen is a loss.
    pub(crate) fn push(&mut self, frame: Frame) -> Kept {
        let size = frame.text.len();
        if size > self.limits.bytes || self.limits.frames == 0 {
            self.rejected += 1;
            return Kept::TooLarge(frame);
        }
        while self.slots.len() >= self.limits.frames || self.bytes + size > self.limits.bytes {
            self.evict();
        }
        self.bytes += size;
        self.slots.push_back(Slot { frame, seen: Seen::No });
        Kept::Yes
    }

    /// The oldest frame this attachment has not taken, and whether an earlier one had seen it; from here on it counts as
    /// seen.
    pub(crate) fn take(&mut self) -> Option<(Frame, Seen)> {
        let slot = self.slots.get_mut(self.taken)?;
        self.taken += 1;
        Some((slot.frame.clone(), std::mem::replace(&mut slot.seen, Seen::Yes)))
    }

    /// A new attachment takes everything again, from the oldest on.
    pub(crate) fn rewind(&mut self) {
        self.taken = 0;
    }

    /// A frame that was taken for the first time never left: it is unseen again, or lost if it has been evicted meanwhile.
    pub(crate) fn give_back(&mut self, run: &RunId, seq: u64) {
        let place = self.slots.binary_search_by_key(&seq, |slot| slot.frame.seq);
        match place.ok().and_then(|index| self.slots.get_mut(index)) {
            Some(slot) => slot.seen = Seen::No,
            None => self.losses.note(run, 1, (seq, seq)),
        }
    }

    fn evict(&mut self) {
        let Some(slot) = self.slots.pop_front() else { return };
        self.bytes -= slot.frame.text.len();
        self.taken = self.taken.saturating_sub(1);
        self.dropped += 1;
        match slot.seen {
            Seen::Yes => {}
            Seen::No => self.losses.note(&slot.frame.run, 1, (slot.frame.seq, slot.frame.seq)),
        }
    }
}

/// Losses nobody has been told of yet, one record a run, in the order in which the runs first lost something.
#[derive(Default)]
pub(crate) struct Losses {
    pending: Vec<Loss>,
    /// All losses of this session, told or not.
    pub(crate) total: u64,
}

impl Losses {
    /// Adds `count` losses within `span` (first and last sequence number). Beyond 64 runs they are only counted.
    pub(crate) fn note(&mut self, run: &RunId, count: u64, span: (u64, u64)) {
        self.total += count;
        self.put_back(Loss { run: run.clone(), count, from: span.0, to: span.1 });
    }

    /// Returns a record whose marker could not be sent.
    pub(crate) fn put_back(&mut self, loss: Loss) {
        if let Some(known) = self.pending.iter_mut().find(|known| known.run == loss.run) {
            known.count += loss.count;
            known.from = known.from.min(loss.from);
            known.to = known.to.max(loss.to);
        } else if self.pending.len() < RUNS {
            self.pending.push(loss);
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Hands all records over, oldest first.
    pub(crate) fn take(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.pending)
    }
}

struct Slot {
    frame: Frame,
    seen: Seen,
}

/// Whether any hub has been given the frame; matters for counting losses only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Yes,
    No,
}

/// Runs with a loss record of their own.
const RUNS: usize = 64;

#[cfg(test)]
mod tests;

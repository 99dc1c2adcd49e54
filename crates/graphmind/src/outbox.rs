//! Between the ring and the socket: what this attachment still has to write, bounded, oldest first.
//! Full means the hub reads slower than the program speaks; frames then stay in the ring and may be lost there.

use std::collections::VecDeque;

use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::ring::{BufferLimits, Frame, Kept, Loss, Ring, Seen};

pub(crate) struct Outbox {
    pub(crate) ring: Ring,
    waiting: VecDeque<Waiting>,
    bytes: usize,
    line: Line,
}

/// What became of a frame that is larger than the whole ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Kept,
    /// Too large to keep, goes out once.
    Once,
    /// Too large to keep and nobody is there: lost.
    Lost,
}

impl Outbox {
    pub(crate) fn new(limits: BufferLimits) -> Outbox {
        Outbox { ring: Ring::new(limits), waiting: VecDeque::new(), bytes: 0, line: Line::Down }
    }

    /// Keeps `frame` and, while attached, puts it in line at once, so that a small ring loses nothing.
    pub(crate) fn push(&mut self, frame: Frame) -> Pushed {
        let too_large = match self.ring.push(frame) {
            Kept::Yes => {
                self.take();
                return Pushed::Kept;
            }
            Kept::TooLarge(frame) => frame,
        };
        if self.has_room() {
            self.wait(too_large, Origin::Once);
            return Pushed::Once;
        }
        self.ring.losses.note(&too_large.run, 1, (too_large.seq, too_large.seq));
        Pushed::Lost
    }

    /// The hub answered: everything kept goes out again.
    pub(crate) fn attach(&mut self) {
        self.line = Line::Up;
        self.ring.rewind();
    }

    /// The line is gone: whatever did not leave is unsent again.
    pub(crate) fn detach(&mut self) {
        self.line = Line::Down;
        self.bytes = 0;
        for Waiting { frame, origin } in self.waiting.drain(..) {
            match origin {
                Origin::Ring(Seen::No) => self.ring.give_back(&frame.run, frame.seq),
                Origin::Ring(Seen::Yes) => {}
                Origin::Once => self.ring.losses.note(&frame.run, 1, (frame.seq, frame.seq)),
                Origin::Marker(loss) => self.ring.losses.put_back(loss),
            }
        }
    }

    /// Puts in line what there is room for: losses first, each as the frame `marker` makes of it, then the ring.
    pub(crate) fn fill(&mut self, mut marker: impl FnMut(&Loss) -> Frame) {
        if self.owes_markers() {
            for loss in self.ring.losses.take() {
                self.wait(marker(&loss), Origin::Marker(loss));
            }
        }
        self.take();
    }

    /// The next text to write.
    pub(crate) fn pop(&mut self) -> Option<Utf8Bytes> {
        if self.waiting.is_empty() {
            self.take();
        }
        let next = self.waiting.pop_front()?;
        self.bytes -= next.frame.text.len();
        Some(next.frame.text)
    }

    /// Whether there are losses to tell of, and room to do so.
    pub(crate) fn owes_markers(&self) -> bool {
        self.has_room() && self.ring.losses.pending() > 0
    }

    fn take(&mut self) {
        while self.has_room() {
            let Some((frame, seen)) = self.ring.take() else { return };
            self.wait(frame, Origin::Ring(seen));
        }
    }

    fn wait(&mut self, frame: Frame, origin: Origin) {
        self.bytes += frame.text.len();
        self.waiting.push_back(Waiting { frame, origin });
    }

    fn has_room(&self) -> bool {
        matches!(self.line, Line::Up) && self.bytes < ROOM
    }
}

struct Waiting {
    frame: Frame,
    origin: Origin,
}

/// Where a waiting frame goes back to when it cannot leave.
enum Origin {
    /// As it was before this attachment took it.
    Ring(Seen),
    Once,
    Marker(Loss),
}

enum Line {
    Up,
    Down,
}

/// Bytes that may wait for a hub that reads slowly. Texts are shared with the ring, so this is rarely memory of its own.
const ROOM: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lockgate_protocol::debug::RunId;
    use proptest::prelude::*;

    use super::{Outbox, Pushed, ROOM};
    use crate::ring::{BufferLimits, Frame, Loss};

    fn frame(seq: u64, size: usize) -> Frame {
        Frame { run: RunId::new("a").unwrap(), seq, text: format!("{}{seq}", "0".repeat(size - 1)).into() }
    }

    fn marker(loss: &Loss) -> Frame {
        Frame { run: loss.run.clone(), seq: 900, text: format!("gap {}..{}", loss.from, loss.to).into() }
    }

    fn out(outbox: &mut Outbox) -> String {
        let texts: Vec<String> = std::iter::from_fn(|| outbox.pop()).map(|text| text.to_string()).collect();
        texts.join(" ")
    }

    #[test]
    fn t07_overflow_of_three_slots_sends_the_marker_and_then_the_survivors() {
        let mut outbox = Outbox::new(BufferLimits { frames: 3, bytes: 1000 });
        for seq in 0..5 {
            outbox.push(frame(seq, 1));
        }
        assert_eq!(out(&mut outbox), "", "nobody is there");
        outbox.attach();
        outbox.fill(marker);
        assert_eq!(out(&mut outbox), "gap 0..1 2 3 4");
        outbox.push(frame(5, 1));
        assert_eq!(out(&mut outbox), "5");
        outbox.fill(marker);
        assert_eq!(out(&mut outbox), "", "the marker goes out once");
    }

    #[test]
    fn g04_a_marker_that_did_not_leave_waits_for_the_next_attachment() {
        let mut outbox = Outbox::new(BufferLimits { frames: 1, bytes: 1000 });
        outbox.push(frame(0, 1));
        outbox.push(frame(1, 1));
        outbox.attach();
        outbox.fill(marker);
        outbox.detach();
        assert_eq!((outbox.ring.losses.pending(), outbox.ring.losses.total), (1, 1));
        outbox.attach();
        outbox.fill(marker);
        assert_eq!(out(&mut outbox), "gap 0..0 1");
    }

    #[test]
    fn g02_frames_of_one_burst_are_in_line_before_the_ring_forgets_them() {
        let mut outbox = Outbox::new(BufferLimits { frames: 2, bytes: 1000 });
        outbox.attach();
        for seq in 0..6 {
            outbox.push(frame(seq, 1));
        }
        assert_eq!((outbox.ring.dropped, outbox.ring.losses.total), (4, 0));
        assert_eq!(out(&mut outbox), "0 1 2 3 4 5");
    }

    #[test]
    fn g07_what_no_ring_can_hold_goes_out_once_or_is_lost() {
        let mut outbox = Outbox::new(BufferLimits { frames: 3, bytes: 10 });
        assert_eq!(outbox.push(frame(0, 11)), Pushed::Lost);
        assert_eq!((outbox.ring.rejected, outbox.ring.losses.total), (1, 1));
        outbox.attach();
        assert_eq!(outbox.push(frame(1, 11)), Pushed::Once);
        assert_eq!(out(&mut outbox), "00000000001");
        outbox.push(frame(2, 11));
        outbox.detach();
        assert_eq!(outbox.ring.losses.total, 2, "it never left");
    }

    #[derive(Clone, Debug)]
    enum Op {
        Push(usize),
        Attach,
        Detach,
        Pop(usize),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            4 => (1..40_usize).prop_map(Op::Push),
            1 => Just(Op::Attach),
            1 => Just(Op::Detach),
            2 => (1..6_usize).prop_map(Op::Pop),
        ];
        prop::collection::vec(op, 0..60)
    }

    proptest! {
        #[test]
        fn g05_every_frame_reaches_a_hub_or_is_counted_as_lost(ops in ops()) {
            let mut outbox = Outbox::new(BufferLimits { frames: 4, bytes: 30 });
            let (mut pushed, mut seen) = (0, BTreeSet::new());
            let pop = |outbox: &mut Outbox, seen: &mut BTreeSet<u64>| {
                let text = outbox.pop();
                seen.extend(text.as_ref().and_then(|text| text.parse::<u64>().ok()));
                text.is_some()
            };
            for op in ops.into_iter().chain([Op::Detach, Op::Attach]) {
                match op {
                    Op::Push(size) => {
                        outbox.push(frame(pushed, size));
                        pushed += 1;
                    }
                    Op::Attach => {
                        outbox.detach();
                        outbox.attach();
                        outbox.fill(marker);
                    }
                    Op::Detach => outbox.detach(),
                    Op::Pop(count) => (0..count).for_each(|_| {
                        pop(&mut outbox, &mut seen);
                    }),
                }
                prop_assert!(outbox.ring.len() <= 4);
            }
            while pop(&mut outbox, &mut seen) {}
            prop_assert_eq!(pushed, u64::try_from(seen.len()).unwrap() + outbox.ring.losses.total);
        }
    }

    #[test]
    fn a_hub_that_does_not_read_costs_frames_but_no_memory() {
        let mut outbox = Outbox::new(BufferLimits { frames: 8, bytes: 64 << 20 });
        outbox.attach();
        for seq in 0..100 {
            outbox.push(frame(seq, 1 << 20));
        }
        assert!(outbox.bytes <= ROOM + (1 << 20));
        assert_eq!((outbox.waiting.len(), outbox.ring.losses.total), (4, 100 - 8 - 4));
        for _ in 0..4 {
            outbox.pop();
        }
        outbox.fill(marker);
        assert_eq!(&*outbox.pop().unwrap(), "gap 4..91");
    }
}

//! The counting of frames kept, evicted and lost, without a socket.

use lockgate_protocol::debug::RunId;

use super::{BufferLimits, Frame, Kept, Loss, Losses, Ring, Seen};

fn run(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

fn frame(name: &str, seq: u64, size: usize) -> Frame {
    Frame { run: run(name), seq, text: "x".repeat(size).into() }
}

fn ring(frames: usize, bytes: usize) -> Ring {
    Ring::new(BufferLimits { frames, bytes })
}

/// `3 kept [2,3,4], dropped 2, lost 1, rejected 0` and the pending losses.
fn state(ring: &mut Ring) -> String {
    let seqs: Vec<u64> = ring.slots.iter().map(|slot| slot.frame.seq).collect();
    let losses: Vec<String> = ring
        .losses
        .pending
        .iter()
        .map(|loss| format!("{} {}x {}..{}", loss.run, loss.count, loss.from, loss.to))
        .collect();
    format!(
        "kept {seqs:?} {} bytes, dropped {}, lost {}, rejected {}, losses {losses:?}",
        ring.bytes, ring.dropped, ring.losses.total, ring.rejected
    )
}

#[test]
fn g01_evicting_what_a_hub_has_seen_is_no_loss() {
    let mut ring = ring(3, 1000);
    for seq in 0..3 {
        ring.push(frame("a", seq, 10));
        ring.take();
    }
    ring.push(frame("a", 3, 10));
    ring.push(frame("a", 4, 10));
    insta::assert_snapshot!(state(&mut ring), @"kept [2, 3, 4] 30 bytes, dropped 2, lost 0, rejected 0, losses []");
}

#[test]
fn g02_a_session_that_takes_each_frame_at_once_may_outrun_its_buffer() {
    let mut ring = ring(2, 1000);
    for seq in 0..100 {
        ring.push(frame("a", seq, 10));
        assert_eq!(ring.take().unwrap().0.seq, seq);
    }
    insta::assert_snapshot!(state(&mut ring), @"kept [98, 99] 20 bytes, dropped 98, lost 0, rejected 0, losses []");
}

#[test]
fn g03_unseen_frames_that_go_under_leave_a_record_ending_just_before_the_replay() {
    let mut ring = ring(3, 1000);
    for seq in 15..200 {
        ring.push(frame("a", seq, 10));
    }
    let loss = ring.losses.take().pop().unwrap();
    assert_eq!(loss, Loss { run: run("a"), count: 182, from: 15, to: 196 });
    assert_eq!(loss.count, loss.to - loss.from + 1);
    assert_eq!(ring.take().unwrap().0.seq, loss.to + 1);
}

#[test]
fn g04_each_run_has_a_record_of_its_own_up_to_64_of_them() {
    let mut losses = Losses::default();
    for n in 0..70 {
        losses.note(&run(&format!("run_{n}")), 1, (n, n));
        losses.note(&run("run_0"), 1, (100 + n, 100 + n));
    }
    let pending = losses.take();
    assert_eq!((pending.len(), losses.total), (64, 140));
    assert_eq!(pending[0], Loss { run: run("run_0"), count: 71, from: 0, to: 169 });
}

#[test]
fn g05_the_byte_bound_evicts_and_counts_alike() {
    let mut ring = ring(100, 100);
    for seq in 0..10 {
        ring.push(frame("a", seq, 30));
    }
    insta::assert_snapshot!(state(&mut ring), @r#"kept [7, 8, 9] 90 bytes, dropped 7, lost 7, rejected 0, losses ["a 7x 0..6"]"#);
}

#[test]
fn g07_an_oversized_frame_is_refused_and_one_of_exactly_the_budget_evicts_the_rest() {
    let mut full = ring(2, 100);
    full.push(frame("a", 0, 40));
    full.push(frame("a", 1, 40));
    assert!(matches!(full.push(frame("a", 2, 101)), Kept::TooLarge(_)));
    insta::assert_snapshot!(state(&mut full), @"kept [0, 1] 80 bytes, dropped 0, lost 0, rejected 1, losses []");
    assert!(matches!(full.push(frame("a", 3, 100)), Kept::Yes));
    insta::assert_snapshot!(state(&mut full), @r#"kept [3] 100 bytes, dropped 2, lost 2, rejected 1, losses ["a 2x 0..1"]"#);

    let mut empty = ring(2, 100);
    assert!(matches!(empty.push(frame("a", 0, 101)), Kept::TooLarge(_)));
    insta::assert_snapshot!(state(&mut empty), @"kept [] 0 bytes, dropped 0, lost 0, rejected 1, losses []");
    assert!(matches!(ring(0, 100).push(frame("a", 0, 1)), Kept::TooLarge(_)), "no room at all");
}

#[test]
fn a_new_attachment_takes_everything_again_but_seen_stays_seen() {
    let mut ring = ring(3, 1000);
    for seq in 0..3 {
        ring.push(frame("a", seq, 1));
    }
    assert_eq!(ring.take(), Some((frame("a", 0, 1), Seen::No)));
    assert_eq!(ring.take(), Some((frame("a", 1, 1), Seen::No)));
    ring.rewind();
    let again: Vec<_> = std::iter::from_fn(|| ring.take()).map(|(frame, seen)| (frame.seq, seen)).collect();
    assert_eq!(again, [(0, Seen::Yes), (1, Seen::Yes), (2, Seen::No)]);
    ring.rewind();
    ring.push(frame("a", 3, 1));
    assert_eq!(ring.losses.total, 0, "frame 0 was seen by the attachment before");
}

#[test]
fn what_was_taken_and_never_left_is_unseen_again_or_lost() {
    let mut ring = ring(2, 1000);
    for seq in 0..3 {
        ring.push(frame("a", seq, 1));
        ring.take();
    }
    ring.give_back(&run("a"), 0);
    ring.give_back(&run("a"), 1);
    insta::assert_snapshot!(state(&mut ring), @r#"kept [1, 2] 2 bytes, dropped 1, lost 1, rejected 0, losses ["a 1x 0..0"]"#);
    ring.push(frame("a", 3, 1));
    insta::assert_snapshot!(state(&mut ring), @r#"kept [2, 3] 2 bytes, dropped 2, lost 2, rejected 0, losses ["a 2x 0..1"]"#);
}

//! The framing: no byte is lost, added or moved, however a stream is cut; and where nothing overflows, how it was cut makes
//! no difference to what is read.

use lockgate_protocol::framing::{Line, Lines, Sse};

/// The first two bytes choose the pieces and the cap; the rest is the stream.
pub fn framing(data: &[u8]) {
    let [piece, cap, stream @ ..] = data else { return };
    let (piece, cap) = (usize::from(*piece) + 1, usize::from(*cap));
    let (whole, cut) = (lines(stream, stream.len().max(1), cap), lines(stream, piece, cap));
    let parted = in_parts(stream, piece, cap);
    for read in [&whole, &cut, &parted] {
        let bytes: Vec<u8> = read.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        assert_eq!(bytes, stream, "the bytes of the stream, in order");
    }
    let overflows = |read: &[(Found, Vec<u8>)]| read.iter().any(|(found, _)| *found == Found::Loose);
    if !overflows(&whole) && !overflows(&cut) && !overflows(&parted) {
        assert_eq!(whole, cut);
        assert_eq!(whole, parted, "a frame in parts is the frame");
    }
    let (whole, cut) = (events(stream, stream.len().max(1)), events(stream, piece));
    assert_eq!(whole.0, stream);
    assert_eq!(cut.0, stream);
    assert_eq!(whole.1, cut.1, "the events of the stream");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Frame,
    Loose,
    Tail,
}

fn lines(stream: &[u8], piece: usize, cap: usize) -> Vec<(Found, Vec<u8>)> {
    let mut lines = Lines::new(cap);
    let mut read = Vec::new();
    for piece in stream.chunks(piece) {
        lines.push(piece);
        read.extend(lines.by_ref().map(|line| match line {
            Line::Frame(bytes) | Line::Last(bytes) => (Found::Frame, bytes.to_vec()),
            Line::Overflow(bytes) | Line::Raw(bytes) => (Found::Loose, bytes.to_vec()),
        }));
    }
    read.extend(lines.finish().map(|tail| (Found::Tail, tail.to_vec())));
    read
}

/// The same, taking what there is of an unfinished frame after each piece.
fn in_parts(stream: &[u8], piece: usize, cap: usize) -> Vec<(Found, Vec<u8>)> {
    let mut lines = Lines::new(cap);
    let mut read = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    for piece in stream.chunks(piece) {
        lines.push(piece);
        for line in lines.by_ref() {
            let (found, bytes) = match line {
                Line::Frame(bytes) | Line::Last(bytes) => (Found::Frame, bytes),
                Line::Overflow(bytes) | Line::Raw(bytes) => (Found::Loose, bytes),
            };
            open.extend_from_slice(&bytes);
            read.push((found, std::mem::take(&mut open)));
        }
        open.extend(lines.part(1).into_iter().flatten());
    }
    open.extend(lines.finish().into_iter().flatten());
    if !open.is_empty() {
        read.push((Found::Tail, open));
    }
    read
}

fn events(stream: &[u8], piece: usize) -> (Vec<u8>, Vec<String>) {
    let mut sse = Sse::new(usize::MAX);
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    for piece in stream.chunks(piece) {
        sse.push(piece);
        for block in sse.by_ref() {
            bytes.extend_from_slice(&block.raw);
            events.extend(block.event.map(|event| format!("{event:?}")));
        }
    }
    bytes.extend(sse.finish().into_iter().flatten());
    (bytes, events)
}

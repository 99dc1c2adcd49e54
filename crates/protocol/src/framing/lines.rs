//! Newline-delimited frames, as MCP speaks them on stdio. A carriage return, a byte order mark, invalid UTF-8 or a NUL is
//! part of the frame it stands in: nothing is trimmed, skipped or repaired.

use bytes::{Buf, Bytes, BytesMut};

use super::{COPIED, MANY_READS, READ};

/// Cuts a byte stream at its newlines. Memory is bounded by the cap plus one read.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// So much of the buffer is known to hold no newline.
    scanned: usize,
    cap: usize,
    /// Bytes of the longest frame so far.
    longest: usize,
    /// So much of the frame that is being gathered was handed over already.
    gone: usize,
    mode: Mode,
}

/// What [`Lines`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// One frame with the newline that ends it.
    Frame(Bytes),
    /// The last part of a frame that was handed over in parts, with the newline.
    Last(Bytes),
    /// More than the cap came without a newline, or a frame is longer than it. Here is all that is there; whatever follows
    /// comes as `Raw`.
    Overflow(Bytes),
    /// Bytes of a stream that is no longer cut.
    Raw(Bytes),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Cut,
    Raw,
}

impl Lines {
    /// Frames of at most `cap` bytes, newline not counted.
    pub fn new(cap: usize) -> Lines {
        Lines { buffer: BytesMut::new(), scanned: 0, cap, longest: 0, gone: 0, mode: Mode::Cut }
    }

    /// The buffer to append the next read to, with room for one.
    pub fn space(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < READ / 4 {
            // Growing by little means moving by much: a long frame gets the room that the longest so far took.
            let long = self.buffer.len() > MANY_READS;
            self.buffer.reserve(if long { self.longest.max(self.buffer.len()) } else { READ });
        }
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that wait for the rest of their frame.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// A part of a frame that is not complete, once there are at least so many bytes of it; [`Line::Last`] will end it.
    pub fn part(&mut self, least: usize) -> Option<Bytes> {
        let whole_lines = memchr::memchr(b'\n', self.buffer.get(self.scanned..).unwrap_or_default()).is_some();
        self.scanned = if whole_lines { self.scanned } else { self.buffer.len() };
        let length = self.buffer.len();
        if whole_lines || length < least || self.mode == Mode::Raw || self.gone + length > self.cap {
            return None;
        }
        self.scanned = 0;
        self.gone += length;
        Some(self.buffer.split().freeze())
    }

    /// Whether a frame was handed over in part and has not ended.
    pub fn is_amid(&self) -> bool {
        self.gone > 0
    }

    /// The rest of the stream, when it ended without a newline.
    pub fn finish(&mut self) -> Option<Bytes> {
        self.scanned = 0;
        (!self.buffer.is_empty()).then(|| self.buffer.split().freeze())
    }

    fn cut(&mut self, length: usize) -> Bytes {
        self.scanned = 0;
        if length > COPIED {
            self.longest = self.longest.max(length);
            return self.buffer.split_to(length).freeze();
        }
        let frame = Bytes::copy_from_slice(self.buffer.get(..length).unwrap_or_default());
        self.buffer.advance(length);
        if self.buffer.is_empty() {
            // Back to the start of the allocation, so that the same few pages serve every short frame.
            self.buffer.clear();
        }
        frame
    }
}

/// The lines that are complete; more may come once more was pushed.
impl Iterator for Lines {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.buffer.is_empty() {
            return None;
        }
        if self.mode == Mode::Raw {
            return Some(Line::Raw(self.buffer.split().freeze()));
        }
        let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
        let length = match memchr::memchr(b'\n', unseen) {
            Some(place) => self.scanned + place,
            None => {
                self.scanned = self.buffer.len();
                self.scanned
            }
        };
        if self.gone + length > self.cap {
            self.mode = Mode::Raw;
            self.gone = 0;
            return Some(Line::Overflow(self.buffer.split().freeze()));
        }
        if length == self.buffer.len() {
            return None;
        }
        let line = self.cut(length + 1);
        Some(if std::mem::take(&mut self.gone) > 0 { Line::Last(line) } else { Line::Frame(line) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};

    fn shown(line: Line) -> String {
        let (kind, bytes) = match line {
            Line::Frame(bytes) => ("frame", bytes),
            Line::Last(bytes) => ("last", bytes),
            Line::Overflow(bytes) => ("overflow", bytes),
            Line::Raw(bytes) => ("raw", bytes),
        };
        format!("{kind} {:?}", bytes.escape_ascii().to_string())
    }

    #[track_caller]
    fn check(cap: usize, chunks: &[&[u8]], expected: &[&str]) {
        let mut lines = Lines::new(cap);
        let mut found = Vec::new();
        for chunk in chunks {
            lines.push(chunk);
            found.extend(lines.by_ref().map(shown));
        }
        found.extend(lines.finish().map(|tail| format!("tail {:?}", tail.escape_ascii().to_string())));
        assert_eq!(found, expected);
    }

    #[test]
    fn frames_are_cut_at_newlines_and_nowhere_else() {
        check(99, &[b"{}\n"], &[r#"frame "{}\\n""#]);
        check(99, &[b"{\"a\"", b":1}", b"\n{", b"}\n"], &[r#"frame "{\\\"a\\\":1}\\n""#, r#"frame "{}\\n""#]);
        check(99, &[b"{}\n{}\n[]"], &[r#"frame "{}\\n""#, r#"frame "{}\\n""#, r#"tail "[]""#]);
        check(99, &[b"\n\n"], &[r#"frame "\\n""#, r#"frame "\\n""#]);
        check(99, &[b"a\r\n\r\nb\rc\n"], &[r#"frame "a\\r\\n""#, r#"frame "\\r\\n""#, r#"frame "b\\rc\\n""#]);
        check(
            99,
            &[b"\xef\xbb\xbf{}\n\xff\xfe\0\n"],
            &[r#"frame "\\xef\\xbb\\xbf{}\\n""#, r#"frame "\\xff\\xfe\\x00\\n""#],
        );
        check(99, &[b""], &[]);
    }

    #[test]
    fn what_exceeds_the_cap_is_handed_over_whole_and_never_cut_again() {
        check(4, &[b"1234\n"], &[r#"frame "1234\\n""#]);
        check(4, &[b"1234", b"\n"], &[r#"frame "1234\\n""#]);
        check(4, &[b"12345\n1\n", b"2\n"], &[r#"overflow "12345\\n1\\n""#, r#"raw "2\\n""#]);
        check(4, &[b"123", b"45", b"6\n"], &[r#"overflow "12345""#, r#"raw "6\\n""#]);
        check(4, &[b"1\n12345"], &[r#"frame "1\\n""#, r#"overflow "12345""#]);
    }

    #[test]
    fn short_frames_reuse_one_buffer_and_long_ones_are_not_copied() {
        let mut lines = Lines::new(1 << 20);
        let first = lines.space().as_ptr();
        for _ in 0..1_000 {
            lines.space().extend_from_slice(&[b'x'; 1_000]);
            lines.push(b"\n");
            assert!(matches!(lines.next(), Some(Line::Frame(_))));
        }
        assert_eq!(lines.space().as_ptr(), first);

        let mut lines = Lines::new(1 << 20);
        lines.push(&[b'x'; 100_000]);
        lines.push(b"\n");
        let start = lines.buffer.as_ptr();
        let Some(Line::Frame(frame)) = lines.next() else { panic!("one frame") };
        assert_eq!(frame.as_ptr(), start);
    }

    #[test]
    fn a_frame_can_be_handed_over_in_parts() {
        let mut lines = Lines::new(20);
        lines.push(b"123");
        assert_eq!(lines.part(4), None);
        lines.push(b"4");
        assert_eq!(lines.part(4).as_deref(), Some(&b"1234"[..]));
        assert!(lines.is_amid() && lines.next().is_none());
        lines.push(b"56");
        assert_eq!(lines.part(1).as_deref(), Some(&b"56"[..]));
        lines.push(b"7\n8\n");
        assert_eq!(lines.part(1), None, "a newline is there");
        assert_eq!(lines.next(), Some(Line::Last(Bytes::from_static(b"7\n"))));
        assert_eq!(lines.next(), Some(Line::Frame(Bytes::from_static(b"8\n"))));
        assert!(!lines.is_amid());
        lines.push(b"0123456789");
        assert!(lines.part(1).is_some());
        lines.push(b"0123456789x");
        assert_eq!(lines.part(1), None, "beyond the cap");
        assert_eq!(lines.next(), Some(Line::Overflow(Bytes::from_static(b"0123456789x"))));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..200)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_chunking_does_not_matter(stream in stream(), size in 1_usize..20, cap in 1_usize..40) {
            let mut whole = Lines::new(cap);
            whole.push(&stream);
            let frames: Vec<Line> = whole.by_ref().take_while(|line| matches!(line, Line::Frame(_))).collect();

            let mut lines = Lines::new(cap);
            let (mut found, mut bytes) = (Vec::new(), Vec::new());
            for chunk in stream.chunks(size) {
                lines.push(chunk);
                for line in lines.by_ref() {
                    let (Line::Frame(part) | Line::Last(part) | Line::Overflow(part) | Line::Raw(part)) = &line;
                    bytes.extend_from_slice(part);
                    found.push(line);
                }
            }
            bytes.extend(lines.finish().unwrap_or_default());
            prop_assert_eq!(bytes, stream);
            found.retain(|line| matches!(line, Line::Frame(_)));
            prop_assert_eq!(found, frames);
        }
    }
}

//! Server-sent events: CRLF, CR or LF, several data lines, comments, split anywhere. The bytes of every block are handed on
//! as they came, so that a relay forwards them and reads only a copy.

use bytes::{Bytes, BytesMut};

/// Cuts an event stream at its blank lines.
#[derive(Debug)]
pub struct Sse {
    buffer: BytesMut,
    cap: usize,
    /// Start of the line that is being gathered.
    line: usize,
    /// So much is known to hold no line end.
    scanned: usize,
    /// A CR ended the last line: an LF right after it belongs to that line end.
    after_cr: bool,
    /// Nothing was read yet: a byte order mark may come.
    fresh: bool,
    event: Gathering,
    /// The cap was exceeded; the stream is no longer cut.
    raw: bool,
}

/// A stretch of the stream up to and including a blank line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its bytes; those of all blocks together are the stream.
    pub raw: Bytes,
    /// The event in it; none for a block of comments, one without data, or one beyond the cap.
    pub event: Option<SseEvent>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// `event`, when given and not empty.
    pub name: Option<String>,
    /// The `data` lines, joined by newlines.
    pub data: Bytes,
    /// `id`, when given; empty resets the last one.
    pub id: Option<String>,
    /// `retry` in milliseconds, when given as digits.
    pub retry: Option<u64>,
}

#[derive(Debug, Default)]
struct Gathering {
    event: SseEvent,
    data: Option<Vec<u8>>,
}

impl Sse {
    /// Blocks of at most `cap` bytes. A longer one comes as it is, without an event, and so does everything after it.
    pub fn new(cap: usize) -> Sse {
        Sse {
            buffer: BytesMut::new(),
            cap,
            line: 0,
            scanned: 0,
            after_cr: false,
            fresh: true,
            event: Gathering::default(),
            raw: false,
        }
    }

    /// Appends bytes as they arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether the cap was exceeded, so that no more events will come.
    pub fn overflowed(&self) -> bool {
        self.raw
    }

    /// The rest of the stream; an event without its blank line is no event.
    pub fn finish(&mut self) -> Option<Bytes> {
        (!self.buffer.is_empty()).then(|| self.split(self.buffer.len()))
    }

    /// Takes one line, if one is complete; true when it ended a block.
    fn line(&mut self) -> Option<bool> {
        if self.after_cr && self.scanned < self.buffer.len() {
            self.after_cr = false;
            if self.buffer.get(self.scanned) == Some(&b'\n') {
                self.scanned += 1;
                self.line = self.scanned;
            }
        }
        let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
        let Some(place) = memchr::memchr2(b'\r', b'\n', unseen) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + place;
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        let mut line = self.buffer.get(self.line..end).unwrap_or_default();
        if std::mem::take(&mut self.fresh) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let blank = line.is_empty();
        if !blank {
            self.event.field(line);
        }
        self.scanned = end + 1;
        self.line = self.scanned;
        Some(blank)
    }

    fn split(&mut self, length: usize) -> Bytes {
        self.line = 0;
        self.scanned = 0;
        self.buffer.split_to(length).freeze()
    }
}

/// The blocks that are complete; more may come once more was pushed.
impl Iterator for Sse {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        if self.raw {
            return self.finish().map(|raw| Block { raw, event: None });
        }
        loop {
            match self.line() {
                Some(true) => break,
                Some(false) => {}
                None if self.buffer.len() > self.cap => {
                    self.raw = true;
                    return self.finish().map(|raw| Block { raw, event: None });
                }
                None => return None,
            }
        }
        let event = std::mem::take(&mut self.event).done();
        let raw = self.split(self.scanned);
        Some(Block { raw, event })
    }
}

impl Gathering {
    fn field(&mut self, line: &[u8]) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, rest) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = rest.strip_prefix(b":").unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.event.name = Some(lossy(value)).filter(|name| !name.is_empty()),
            b"id" if !value.contains(&0) => self.event.id = Some(lossy(value)),
            b"retry" if value.iter().all(u8::is_ascii_digit) => self.event.retry = lossy(value).parse().ok(),
            _ => {}
        }
    }

    fn done(self) -> Option<SseEvent> {
        let data = self.data?.into();
        Some(SseEvent { data, ..self.event })
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_debug_snapshot;
    use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

    fn events(stream: &str) -> Vec<String> {
        let mut sse = Sse::new(1_000);
        sse.push(stream.as_bytes());
        sse.by_ref().map(|block| shown(&block)).collect()
    }

    fn shown(block: &Block) -> String {
        let Some(event) = &block.event else { return format!("none of {:?}", block.raw.escape_ascii().to_string()) };
        let mut shown = format!("{:?}", event.data.escape_ascii().to_string());
        if let Some(name) = &event.name {
            shown.insert_str(0, &format!("{name}: "));
        }
        if let Some(id) = &event.id {
            shown.push_str(&format!(" id={id:?}"));
        }
        if let Some(retry) = event.retry {
            shown.push_str(&format!(" retry={retry}"));
        }
        shown
    }

    #[test]
    fn events_in_every_spelling() {
        assert_debug_snapshot!(events("data: {}\n\n"), @r#"
        [
            "\"{}\"",
        ]
        "#);
        assert_debug_snapshot!(events("event: message\r\nid: 7\r\nretry: 50\r\ndata: a\r\ndata:b\r\n\r\ndata:c\r\r"), @r#"
        [
            "message: \"a\\\\nb\" id=\"7\" retry=50",
            "\"c\"",
        ]
        "#);
        assert_debug_snapshot!(events("\u{feff}data:  two blanks\n\n:keep\n\ndata\n\nretry: x\nid\ndata:1\n\n"), @r#"
        [
            "\" two blanks\"",
            "none of \":keep\\\\n\\\\n\"",
            "\"\"",
            "\"1\" id=\"\"",
        ]
        "#);
        assert_debug_snapshot!(events("data: unfinished\n"), @"[]");
    }

    #[test]
    fn a_block_beyond_the_cap_passes_without_an_event() {
        let mut sse = Sse::new(10);
        sse.push(b"data: 12\n\ndata: 1234567");
        let blocks: Vec<Block> = sse.by_ref().collect();
        assert_eq!(blocks.len(), 2);
        assert!(blocks[1].event.is_none() && sse.overflowed());
        sse.push(b"\n\ndata: 1\n\n");
        let rest: Vec<Block> = sse.by_ref().collect();
        assert_eq!(rest, [Block { raw: Bytes::from_static(b"\n\ndata: 1\n\n"), event: None }]);
    }

    fn stream() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("data: a"),
            Just("data:"),
            Just(":x"),
            Just("id: 1"),
            Just("\n"),
            Just("\r"),
            Just("\r\n"),
            Just("é"),
        ];
        proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter_and_no_byte_is_lost(stream in stream(), size in 1_usize..9) {
            let mut sse = Sse::new(1_000);
            let (mut found, mut bytes) = (Vec::new(), Vec::new());
            for chunk in stream.as_bytes().chunks(size) {
                sse.push(chunk);
                for block in sse.by_ref() {
                    bytes.extend_from_slice(&block.raw);
                    found.extend(block.event);
                }
            }
            bytes.extend(sse.finish().unwrap_or_default());
            prop_assert_eq!(bytes, stream.as_bytes());
            let mut whole = Sse::new(1_000);
            whole.push(stream.as_bytes());
            let at_once: Vec<SseEvent> = whole.by_ref().filter_map(|block| block.event).collect();
            prop_assert_eq!(found, at_once);
        }
    }
}

//! A copy of a frame that passes before it is complete, for viewers: whole if that turns out to be short enough, else with
//! long texts cut and long lists ended early, and JSON again.

use std::mem;

use bytes::Bytes;

/// Copies a frame part by part, within bounds.
#[derive(Debug, Default)]
pub(super) struct Condenser {
    /// All of the frame, as long as it is short. Its room is used again for the next.
    head: Vec<u8>,
    /// What becomes of a long one.
    long: Option<Box<Short>>,
}

impl Condenser {
    pub(super) fn push(&mut self, part: &[u8]) {
        match &mut self.long {
            Some(long) => long.push(part),
            None if self.head.len() + part.len() <= ENOUGH => self.head.extend_from_slice(part),
            None => {
                let long = self.long.insert(Box::default());
                long.push(&self.head);
                long.push(part);
            }
        }
    }

    /// Whether a frame has begun.
    pub(super) fn has_begun(&self) -> bool {
        !self.head.is_empty() || self.long.is_some()
    }

    /// The copy, and then a fresh start; nothing of a frame that cannot be made short.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let copy = match self.long.take() {
            Some(long) => long.finish().map(Bytes::from),
            None => Some(Bytes::copy_from_slice(&self.head)),
        };
        self.head.clear();
        copy
    }

    /// Forgets what has begun.
    pub(super) fn give_up(&mut self) {
        mem::take(self);
    }
}

/// The short copy of a long frame.
#[derive(Debug, Default)]
struct Short {
    copy: Vec<u8>,
    /// The brackets that are open in the copy.
    open: Vec<u8>,
    state: State,
    /// Containers that are open in the frame and left out of the copy.
    skipped: usize,
    failed: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    /// Within a text of which so many bytes were copied.
    Text(usize),
    /// After a backslash in one.
    Escaped(usize),
    /// Within a text that is not copied any more.
    Cut,
    CutEscaped,
    /// Within the rest of a container, of which nothing more is copied.
    Skip,
    SkipText,
    SkipEscaped,
}

impl Short {
    fn push(&mut self, part: &[u8]) {
        let mut rest = part;
        while !rest.is_empty() && !self.failed {
            rest = match self.state {
                State::Between => self.between(rest),
                State::Text(copied) => self.text(rest, copied),
                State::Escaped(copied) => self.escaped(rest, copied),
                State::Cut => self.cut(rest),
                State::CutEscaped => self.jump(rest, State::Cut),
                State::Skip => self.skip(rest),
                State::SkipText => self.skip_text(rest),
                State::SkipEscaped => self.jump(rest, State::SkipText),
            };
            self.failed |= self.copy.len() > MOST;
        }
    }

    fn finish(self) -> Option<Vec<u8>> {
        (!self.failed).then_some(self.copy)
    }

    fn between<'p>(&mut self, part: &'p [u8]) -> &'p [u8] {
        for (place, byte) in part.iter().enumerate() {
            match byte {
                b'"' => {
                    self.copy.push(b'"');
                    self.state = State::Text(0);
                    return after(part, place);
                }
                b'{' | b'[' => self.open.push(*byte),
                b'}' | b']' => {
                    self.open.pop();
                }
                b',' if self.copy.len() > ENOUGH && self.open.len() > OUTER => {
                    self.leave_out();
                    return after(part, place);
                }
                _ => {}
            }
            self.copy.push(*byte);
        }
        &[]
    }

    /// What is open further in than the outermost members is closed, and the rest of it left out.
    fn leave_out(&mut self) {
        while self.open.len() > OUTER {
            let mark: &[u8] = match self.open.pop() {
                Some(b'{') => br#","__graphmindTruncated":true}"#,
                _ => "]".as_bytes(),
            };
            self.copy.extend_from_slice(mark);
            self.skipped += 1;
        }
        self.state = State::Skip;
    }

    fn text<'p>(&mut self, part: &'p [u8], copied: usize) -> &'p [u8] {
        let room = KEPT.saturating_sub(copied);
        let end = memchr::memchr2(b'"', b'\\', part).unwrap_or(part.len());
        if end <= room {
            self.copy.extend_from_slice(part.get(..end).unwrap_or_default());
            return match part.get(end) {
                None => {
                    self.state = State::Text(copied + end);
                    &[]
                }
                Some(b'"') => {
                    self.copy.push(b'"');
                    self.state = State::Between;
                    after(part, end)
                }
                Some(_) => {
                    self.state = State::Escaped(copied + end);
                    after(part, end)
                }
            };
        }
        // Never amid a character.
        let continues = |byte: &&u8| (0x80..0xC0).contains(*byte);
        let extra = part.get(room..).unwrap_or_default().iter().take_while(continues).count();
        self.copy.extend_from_slice(part.get(..room + extra).unwrap_or_default());
        self.copy.extend_from_slice(CUT.as_bytes());
        self.state = State::Cut;
        part.get(room + extra..).unwrap_or_default()
    }

    fn escaped<'p>(&mut self, part: &'p [u8], copied: usize) -> &'p [u8] {
        if KEPT.saturating_sub(copied) <= LONGEST_ESCAPE {
            self.copy.extend_from_slice(CUT.as_bytes());
            return self.jump(part, State::Cut);
        }
        self.copy.push(b'\\');
        self.copy.extend(part.first());
        self.state = State::Text(copied + 2);
        after(part, 0)
    }

    fn cut<'p>(&mut self, part: &'p [u8]) -> &'p [u8] {
        let Some(end) = memchr::memchr2(b'"', b'\\', part) else { return &[] };
        if part.get(end) == Some(&b'"') {
            self.copy.push(b'"');
            self.state = State::Between;
        } else {
            self.state = State::CutEscaped;
        }
        after(part, end)
    }

    fn skip<'p>(&mut self, part: &'p [u8]) -> &'p [u8] {
        for (place, byte) in part.iter().enumerate() {
            match byte {
                b'"' => {
                    self.state = State::SkipText;
                    return after(part, place);
                }
                b'{' | b'[' => self.skipped += 1,
                b'}' | b']' => self.skipped -= 1,
                _ => {}
            }
            if self.skipped == 0 {
                self.state = State::Between;
                return after(part, place);
            }
        }
        &[]
    }

    fn skip_text<'p>(&mut self, part: &'p [u8]) -> &'p [u8] {
        let Some(end) = memchr::memchr2(b'"', b'\\', part) else { return &[] };
        self.state = if part.get(end) == Some(&b'"') { State::Skip } else { State::SkipEscaped };
        after(part, end)
    }

    /// Passes over the letter of an escape.
    fn jump<'p>(&mut self, part: &'p [u8], state: State) -> &'p [u8] {
        self.state = state;
        after(part, 0)
    }
}

fn after(part: &[u8], place: usize) -> &[u8] {
    part.get(place + 1..).unwrap_or_default()
}

/// Bytes of each text that are copied.
const KEPT: usize = 16 << 10;
const LONGEST_ESCAPE: usize = 12;
const CUT: &str = "…[graphmind: truncated]";
/// Up to so many bytes a frame is copied whole; in the copy of a longer one, lists within lists end there at their next comma.
const ENOUGH: usize = 256 << 10;
/// The message, its parameters or result, and the members of that stay complete.
const OUTER: usize = 2;
/// What has become so long all the same is given up.
const MOST: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::{Raw, View};
    use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

    fn condensed(text: &str, size: usize) -> Option<String> {
        let mut condenser = Condenser::default();
        text.as_bytes().chunks(size).for_each(|part| condenser.push(part));
        condenser.finish().map(|copy| String::from_utf8(copy.to_vec()).expect("UTF-8"))
    }

    #[test]
    fn long_texts_are_cut_and_the_rest_stays() {
        let long = "é\\\"".repeat(100_000);
        let text = format!(r#"{{"id":1 ,"params":{{"text":"{long}","n":1.50}},"method":"x"}}"#);
        for size in [1, 7, 1_000_000] {
            let copy = condensed(&text, size).expect("a copy");
            let raw = Raw::parse(copy).expect("JSON");
            let params = raw.view().get("params").expect("params");
            assert_eq!(params.get("n").map(View::raw), Some(&b"1.50"[..]));
            let kept = params.get("text").and_then(View::str).expect("a text");
            assert!(kept.ends_with("é…[graphmind: truncated]") || kept.ends_with("\"…[graphmind: truncated]"));
            assert!(raw.len() < KEPT + 1_000);
        }
    }

    #[test]
    fn long_lists_end_early_and_what_follows_them_stays() {
        let items = vec![r#"{"a":[1,{"b":"x,]}\\\""}],"c":2}"#; 50_000].join(",");
        let text = format!(r#"{{"result":{{"content":[{items}],"isError":true}},"id":"i"}}"#);
        let copy = condensed(&text, 4_096).expect("a copy");
        let raw = Raw::parse(copy).expect("JSON");
        assert!(raw.len() < ENOUGH + 1_000);
        assert_eq!(raw.view().get("id").map(View::raw), Some(&b"\"i\""[..]));
        let result = raw.view().get("result").expect("a result");
        assert_eq!(result.get("isError").and_then(View::bool), Some(true));
        assert!(result.get("content").is_some_and(|content| content.items().count() > 1_000));
    }

    #[test]
    fn what_cannot_be_made_short_is_given_up() {
        let members: Vec<String> = (0..1_000_000).map(|number| format!("\"{number}\":1")).collect();
        assert_eq!(condensed(&format!("{{{}}}", members.join(",")), 65_536), None);
        assert_eq!(condensed(&"[".repeat(5 << 20), 65_536), None);
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("1.50".to_owned()),
            Just("null".to_owned()),
            Just(r#""a\\\"]},é\ud83d\ude00""#.to_owned()),
            prop_oneof![0_usize..40, 0_usize..200_000].prop_map(|length| format!("\"{}\"", "xé".repeat(length))),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" , "))),
                proptest::collection::vec(inner, 0..6).prop_map(|items| {
                    let members = items.iter().enumerate().map(|(name, item)| format!("\"m{name}\": {item}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_copy_is_json_however_it_was_cut(text in value(), size in 1_usize..5_000) {
            let copy = condensed(&text, size).expect("short enough");
            prop_assert!(Raw::parse(copy.clone()).is_ok(), "{copy}");
            prop_assert_eq!(&copy, &condensed(&text, usize::MAX).expect("short enough"));
            if text.len() < ENOUGH {
                prop_assert_eq!(copy, text);
            }
        }
    }
}

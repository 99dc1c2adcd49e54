//! One pass over untrusted bytes: is this exactly one JSON value, and what about it might be read differently elsewhere.

use super::error::{JsonError, JsonErrorKind, Place};
use super::keys::Keys;
use super::pieces::{hex4, join};
use super::pointer;
use super::raw::Limits;
use super::scan;

/// What the pass found out.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) duplicates: Vec<Place>,
    pub(super) surrogates: Vec<Place>,
    pub(super) unlisted: usize,
    pub(super) depth: usize,
}

pub(super) fn check(text: &[u8], limits: Limits) -> Result<Report, JsonError> {
    if text.len() > limits.bytes || u32::try_from(text.len()).is_err() {
        return Err(JsonError { kind: JsonErrorKind::Length, offset: text.len() });
    }
    if let Err(error) = str::from_utf8(text) {
        return Err(JsonError { kind: JsonErrorKind::Utf8, offset: error.valid_up_to() });
    }
    let start = scan::space_end(text, 0);
    let report = Report { start, ..Report::default() };
    let mut pass = Pass { text, limit: limits.depth, open: Vec::new(), keys: Keys::new(text), report };
    pass.report.end = pass.run(start)?;
    Ok(pass.report)
}

struct Pass<'t> {
    text: &'t [u8],
    limit: usize,
    open: Vec<Container>,
    keys: Keys<'t>,
    report: Report,
}

/// A container that is still open.
#[derive(Clone, Copy)]
struct Container {
    within: Within,
    start: usize,
    /// Where its names begin among all.
    names: usize,
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Array,
    Object,
    Nothing,
}

/// What must come next.
#[derive(Clone, Copy)]
enum Next {
    Value,
    ItemOrEnd,
    NameOrEnd,
    Name,
    CommaOrEnd,
}

impl Pass<'_> {
    /// Gives the end of the value. Position, expectation and container kind are locals, so that they stay in registers.
    fn run(&mut self, start: usize) -> Result<usize, JsonError> {
        let (mut at, mut next, mut within) = (start, Next::Value, Within::Nothing);
        loop {
            at = scan::space_end(self.text, at);
            let byte = self.text.get(at).copied();
            match (next, byte) {
                (Next::Value, Some(b'{')) => {
                    within = self.open(at, Within::Object)?;
                    (at, next) = (at + 1, Next::NameOrEnd);
                }
                (Next::Value, Some(b'[')) => {
                    within = self.open(at, Within::Array)?;
                    (at, next) = (at + 1, Next::ItemOrEnd);
                }
                (Next::Value, _) => {
                    at = self.scalar(at, byte)?;
                    if within == Within::Nothing {
                        return self.finish(at);
                    }
                    next = Next::CommaOrEnd;
                }
                (Next::CommaOrEnd, Some(b',')) => {
                    at += 1;
                    next = if within == Within::Array { Next::Value } else { Next::Name };
                }
                (Next::CommaOrEnd | Next::ItemOrEnd, Some(b']')) if within == Within::Array => {
                    at += 1;
                    within = self.close();
                    if within == Within::Nothing {
                        return self.finish(at);
                    }
                    next = Next::CommaOrEnd;
                }
                (Next::CommaOrEnd | Next::NameOrEnd, Some(b'}')) if within == Within::Object => {
                    at += 1;
                    within = self.close();
                    if within == Within::Nothing {
                        return self.finish(at);
                    }
                    next = Next::CommaOrEnd;
                }
                (Next::ItemOrEnd, _) => next = Next::Value,
                (Next::Name | Next::NameOrEnd, Some(b'"')) => {
                    at = self.name(at)?;
                    next = Next::Value;
                }
                (Next::Name | Next::NameOrEnd | Next::CommaOrEnd, _) => return Err(self.unexpected(at)),
            }
        }
    }

    fn open(&mut self, start: usize, within: Within) -> Result<Within, JsonError> {
        if self.open.len() >= self.limit {
            return Err(JsonError { kind: JsonErrorKind::Depth, offset: start });
        }
        self.open.push(Container { within, start, names: self.keys.open() });
        self.report.depth = self.report.depth.max(self.open.len());
        Ok(within)
    }

    /// Gives the kind of the container that is innermost now.
    #[inline]
    fn close(&mut self) -> Within {
        if let Some(Container { names, within: Within::Object, .. }) = self.open.pop() {
            self.keys.close(names);
        }
        self.open.last().map_or(Within::Nothing, |container| container.within)
    }

    #[inline]
    fn scalar(&mut self, at: usize, byte: Option<u8>) -> Result<usize, JsonError> {
        match byte {
            Some(b'"') => self.string(at),
            Some(b'-' | b'0'..=b'9') => scan::number_end(self.text, at).map_err(|offset| {
                let ended = offset >= self.text.len();
                JsonError { kind: if ended { JsonErrorKind::End } else { JsonErrorKind::Number }, offset }
            }),
            Some(b't') => self.word(at, b"true"),
            Some(b'f') => self.word(at, b"false"),
            Some(b'n') => self.word(at, b"null"),
            _ => Err(self.unexpected(at)),
        }
    }

    #[inline]
    fn name(&mut self, at: usize) -> Result<usize, JsonError> {
        let end = self.string(at)?;
        let first = self.open.last().map_or(0, |container| container.names);
        if self.keys.repeats(first, at, end) {
            self.found(at, |report| &mut report.duplicates);
        }
        let colon = scan::space_end(self.text, end);
        if self.text.get(colon) == Some(&b':') { Ok(colon + 1) } else { Err(self.unexpected(colon)) }
    }

    #[inline]
    fn string(&mut self, start: usize) -> Result<usize, JsonError> {
        let mut at = start + 1;
        loop {
            at = scan::run_end(self.text, at);
            match self.text.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at = self.escape(start, at)?,
                Some(_) => return Err(JsonError { kind: JsonErrorKind::String, offset: at }),
                None => return Err(JsonError { kind: JsonErrorKind::End, offset: at }),
            }
        }
    }

    /// Reads one escape, or a pair of them, of the string at `start`.
    fn escape(&mut self, start: usize, at: usize) -> Result<usize, JsonError> {
        match self.text.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') if self.hex_at(at + 2) => Ok(self.unit(start, at)),
            Some(_) => Err(JsonError { kind: JsonErrorKind::String, offset: at }),
            None => Err(JsonError { kind: JsonErrorKind::End, offset: at + 1 }),
        }
    }

    fn unit(&mut self, start: usize, at: usize) -> usize {
        let first = hex4(self.text, at + 2);
        if !(0xD800..0xE000).contains(&first) {
            return at + 6;
        }
        let paired = self.text.get(at + 6..at + 8) == Some(b"\\u") && self.hex_at(at + 8);
        if paired && join(first, hex4(self.text, at + 8)).is_some() {
            return at + 12;
        }
        self.found(start, |report| &mut report.surrogates);
        if let Some(place) = self.report.surrogates.last_mut().filter(|place| place.offset == start) {
            place.offset = at;
        }
        at + 6
    }

    fn word(&self, at: usize, word: &[u8]) -> Result<usize, JsonError> {
        let rest = self.text.get(at..).unwrap_or_default();
        let same = rest.iter().zip(word).take_while(|(left, right)| left == right).count();
        if same == word.len() { Ok(at + same) } else { Err(self.unexpected(at + same)) }
    }

    fn finish(&self, end: usize) -> Result<usize, JsonError> {
        let rest = scan::space_end(self.text, end);
        if rest < self.text.len() {
            return Err(JsonError { kind: JsonErrorKind::Trailing, offset: rest });
        }
        Ok(end)
    }

    /// Lists the string or name at `offset`.
    #[cold]
    fn found(&mut self, offset: usize, list: fn(&mut Report) -> &mut Vec<Place>) {
        if list(&mut self.report).len() >= LISTED {
            self.report.unlisted += 1;
            return;
        }
        let starts = self.open.iter().map(|container| container.start);
        let pointer = pointer::to(self.text, starts, offset);
        list(&mut self.report).push(Place { offset, pointer });
    }

    fn hex_at(&self, from: usize) -> bool {
        self.text.get(from..from + 4).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    }

    #[cold]
    fn unexpected(&self, at: usize) -> JsonError {
        let kind = if at < self.text.len() { JsonErrorKind::Byte } else { JsonErrorKind::End };
        JsonError { kind, offset: at }
    }
}

/// So many places of each sort are listed; the rest is counted.
const LISTED: usize = 64;

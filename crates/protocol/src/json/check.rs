//! One pass over untrusted bytes: is this exactly one JSON value, and what about it might be read differently elsewhere.

use super::error::{JsonError, JsonErrorKind, Place};
use super::keys::{Keys, Opened};
use super::pieces::{hex4, join};
use super::raw::Limits;
use super::scan;
use super::text::Text;

/// What the pass found out.
#[derive(Debug)]
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
    let report = Report { start, end: start, duplicates: Vec::new(), surrogates: Vec::new(), unlisted: 0, depth: 0 };
    let mut pass = Pass { text, at: start, limit: limits.depth, open: Vec::new(), keys: Keys::new(text), report };
    let mut next = Next::Value;
    while let Some(step) = pass.step(next)? {
        next = step;
    }
    pass.finish()
}

struct Pass<'t> {
    text: &'t [u8],
    at: usize,
    limit: usize,
    open: Vec<Container>,
    keys: Keys<'t>,
    report: Report,
}

/// A container that is still open, and where in it we are.
enum Container {
    Array { index: usize },
    Object { names: Opened, name: (usize, usize) },
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
    /// Takes one token; nothing is next once the outermost value is complete.
    fn step(&mut self, next: Next) -> Result<Option<Next>, JsonError> {
        self.at = scan::space_end(self.text, self.at);
        let byte = self.peek();
        match next {
            Next::Value => self.value(byte).map(Some),
            Next::ItemOrEnd if byte == Some(b']') => Ok(self.close()),
            Next::ItemOrEnd => self.value(byte).map(Some),
            Next::NameOrEnd if byte == Some(b'}') => Ok(self.close()),
            Next::NameOrEnd | Next::Name => self.name(byte).map(Some),
            Next::CommaOrEnd => self.comma_or_end(byte),
        }
    }

    fn comma_or_end(&mut self, byte: Option<u8>) -> Result<Option<Next>, JsonError> {
        match (self.open.last_mut(), byte) {
            (None, _) => Ok(None),
            (Some(Container::Array { .. }), Some(b']')) | (Some(Container::Object { .. }), Some(b'}')) => {
                Ok(self.close())
            }
            (Some(Container::Array { index }), Some(b',')) => {
                *index += 1;
                self.at += 1;
                Ok(Some(Next::Value))
            }
            (Some(Container::Object { .. }), Some(b',')) => {
                self.at += 1;
                Ok(Some(Next::Name))
            }
            (Some(_), _) => Err(self.unexpected()),
        }
    }

    fn close(&mut self) -> Option<Next> {
        if let Some(Container::Object { names, .. }) = self.open.pop() {
            self.keys.close(&names);
        }
        self.at += 1;
        (!self.open.is_empty()).then_some(Next::CommaOrEnd)
    }

    fn value(&mut self, byte: Option<u8>) -> Result<Next, JsonError> {
        match byte {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{') => {
                let names = self.keys.open();
                return self.open(Container::Object { names, name: (0, 0) }, Next::NameOrEnd);
            }
            Some(b'[') => return self.open(Container::Array { index: 0 }, Next::ItemOrEnd),
            Some(b'-' | b'0'..=b'9') => {
                let end = scan::number_end(self.text, self.at);
                self.at = end.map_err(|offset| JsonError { kind: self.number_problem(offset), offset })?;
            }
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            _ => return Err(self.unexpected()),
        }
        Ok(Next::CommaOrEnd)
    }

    fn open(&mut self, container: Container, next: Next) -> Result<Next, JsonError> {
        if self.open.len() >= self.limit {
            return Err(self.error(JsonErrorKind::Depth));
        }
        self.open.push(container);
        self.report.depth = self.report.depth.max(self.open.len());
        self.at += 1;
        Ok(next)
    }

    fn name(&mut self, byte: Option<u8>) -> Result<Next, JsonError> {
        if byte != Some(b'"') {
            return Err(self.unexpected());
        }
        let start = self.at;
        // Known before the string is read, so that a lone surrogate in it is reported under its own name.
        let end = scan::string_end(self.text, start);
        let Some(Container::Object { names, name }) = self.open.last_mut() else { return Err(self.unexpected()) };
        *name = (start, end);
        let repeated = match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => self.keys.repeats(names, start, end),
            _ => false,
        };
        self.string()?;
        if repeated {
            self.found(start, |report| &mut report.duplicates);
        }
        self.at = scan::space_end(self.text, self.at);
        if self.peek() != Some(b':') {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(Next::Value)
    }

    fn string(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        loop {
            self.at = scan::run_end(self.text, self.at);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.error(JsonErrorKind::String)),
                None => return Err(self.error(JsonErrorKind::End)),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') if self.hex_at(self.at + 2) => return self.unit(),
            Some(_) => return Err(self.error(JsonErrorKind::String)),
            None => return Err(JsonError { kind: JsonErrorKind::End, offset: self.text.len() }),
        }
        Ok(())
    }

    fn unit(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let first = hex4(self.text, start + 2);
        self.at += 6;
        if !(0xD800..0xE000).contains(&first) {
            return Ok(());
        }
        let paired = self.text.get(self.at..self.at + 2) == Some(b"\\u") && self.hex_at(self.at + 2);
        if paired && join(first, hex4(self.text, self.at + 2)).is_some() {
            self.at += 6;
        } else {
            self.found(start, |report| &mut report.surrogates);
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), JsonError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(left, right)| left == right).count();
        self.at += same;
        Err(self.unexpected())
    }

    fn finish(mut self) -> Result<Report, JsonError> {
        self.report.end = self.at;
        let rest = scan::space_end(self.text, self.at);
        if rest < self.text.len() {
            return Err(JsonError { kind: JsonErrorKind::Trailing, offset: rest });
        }
        Ok(self.report)
    }

    #[cold]
    fn found(&mut self, offset: usize, list: fn(&mut Report) -> &mut Vec<Place>) {
        if list(&mut self.report).len() >= LISTED {
            self.report.unlisted += 1;
            return;
        }
        let pointer = self.pointer();
        list(&mut self.report).push(Place { offset, pointer });
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for container in &self.open {
            if pointer.len() > POINTER {
                pointer.push('…');
                break;
            }
            pointer.push('/');
            match container {
                Container::Array { index } => pointer.push_str(&index.to_string()),
                Container::Object { name: (start, end), .. } => {
                    let literal = self.text.get(*start..*end).unwrap_or_default();
                    let name = Text::decode(literal);
                    let shown = name.to_lossy().chars().take(POINTER).collect::<String>();
                    pointer.push_str(&shown.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn hex_at(&self, from: usize) -> bool {
        self.text.get(from..from + 4).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    }

    fn number_problem(&self, offset: usize) -> JsonErrorKind {
        if offset < self.text.len() { JsonErrorKind::Number } else { JsonErrorKind::End }
    }

    #[cold]
    fn unexpected(&self) -> JsonError {
        let past = self.at >= self.text.len();
        self.error(if past { JsonErrorKind::End } else { JsonErrorKind::Byte })
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError { kind, offset: self.at.min(self.text.len()) }
    }
}

/// So many places of each sort are listed; the rest is counted.
const LISTED: usize = 64;
/// Where a pointer is cut, so that a hostile text cannot make its own report large.
const POINTER: usize = 1_000;

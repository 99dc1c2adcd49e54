//! Which message a line is. Tolerant on purpose: whatever a peer might accept is read, so that nothing passes a gate unseen
//! only because its spelling is unusual.

use bytes::Bytes;

use super::batch::{Step, Steps};
use super::id::Id;
use super::source::Source;
use crate::json::{JsonError, JsonErrorKind, Kind, Limits, Place, Raw, View};

/// A line, read.
#[derive(Debug, Clone)]
pub struct Frame {
    /// What it holds.
    pub content: Content,
    /// Member names that some object in it repeats (mcp R27).
    pub duplicates: Vec<Place>,
}

/// One message or several.
#[derive(Debug, Clone)]
pub enum Content {
    /// Anything but an array.
    Single(Spoken),
    /// An array: its elements in order, those of arrays within it too.
    Batch {
        /// The whole line.
        whole: Source,
        /// What is not an array itself.
        elements: Vec<Spoken>,
    },
}

/// A message with its bytes.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// What it says.
    pub message: Message,
    /// How it came.
    pub source: Source,
}

/// The classes of JSON-RPC messages (hub §12.3).
#[derive(Debug, Clone)]
pub enum Message {
    /// A method and a usable id.
    Request(Request),
    /// A method without a usable id.
    Notification(Notification),
    /// A result or an error.
    Response(Response),
    /// JSON, but none of these.
    Other,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id.
    pub id: Id,
    /// The method; a lone surrogate in it is shown as U+FFFD.
    pub method: Box<str>,
    /// `params`, of any kind.
    pub params: Option<Raw>,
}

/// A message nobody answers.
#[derive(Debug, Clone)]
pub struct Notification {
    /// The method; a lone surrogate in it is shown as U+FFFD.
    pub method: Box<str>,
    /// `params`, of any kind.
    pub params: Option<Raw>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The id it names; nothing when it names none that could be a request's.
    pub id: Option<Id>,
    /// What it says.
    pub reply: Reply,
}

/// What an answer says. Of a message with both, the error counts.
#[derive(Debug, Clone)]
pub enum Reply {
    /// `result`
    Result(Raw),
    /// `error`, whatever its shape.
    Error(Raw),
}

/// Why a line holds no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Nothing but white space.
    Blank,
    /// No JSON.
    NoJson(JsonError),
    /// JSON as far as it was read, but too deep or too long to be read whole.
    TooLarge(JsonError),
}

impl Frame {
    /// Reads a line, with or without what ends it. A byte order mark is passed over; a byte that is no UTF-8 is read as a
    /// question mark, since many peers replace such bytes rather than refuse them.
    ///
    /// # Errors
    /// When the line is blank, no JSON, or beyond `limits`.
    pub fn read(line: &Bytes, limits: Limits) -> Result<Frame, Unread> {
        let at = if line.starts_with(MARK) { MARK.len() } else { 0 };
        let text = line.slice(at..);
        let (checked, text) = match Raw::check(text.clone(), limits) {
            Err(error) if error.kind == JsonErrorKind::Utf8 => {
                let repaired = repaired(&text, error.offset);
                (Raw::check(repaired.clone(), limits), repaired)
            }
            other => (other, text),
        };
        let checked = checked.map_err(|error| unread(&text, error))?;
        let lead = checked.raw.as_bytes().as_ptr() as usize - text.as_ptr() as usize;
        let source = Source::new(line.clone(), checked.raw, at + lead);
        Ok(Frame { content: content(source), duplicates: checked.duplicates })
    }
}

impl Reply {
    /// The value, whichever it is.
    pub fn raw(&self) -> &Raw {
        match self {
            Reply::Result(raw) | Reply::Error(raw) => raw,
        }
    }
}

impl Message {
    fn of(raw: &Raw) -> Message {
        let mut seen = Members::default();
        for (name, value) in raw.view().pairs() {
            seen.take(name, value);
        }
        let id = seen.id.and_then(Id::of);
        let params = seen.params.map(|params| raw.part(params));
        let method = seen.method.and_then(View::text).map(|method| Box::from(method.to_lossy()));
        match (method, id) {
            (Some(method), Some(id)) => Message::Request(Request { id, method, params }),
            (Some(method), None) => Message::Notification(Notification { method, params }),
            (None, id) => match (seen.error, seen.result) {
                (Some(error), _) => Message::Response(Response { id, reply: Reply::Error(raw.part(error)) }),
                (None, Some(result)) => Message::Response(Response { id, reply: Reply::Result(raw.part(result)) }),
                (None, None) => Message::Other,
            },
        }
    }
}

#[derive(Default)]
struct Members<'a> {
    id: Option<View<'a>>,
    method: Option<View<'a>>,
    params: Option<View<'a>>,
    result: Option<View<'a>>,
    error: Option<View<'a>>,
}

impl<'a> Members<'a> {
    /// Of repeated members the last counts, as nearly every reader has it.
    fn take(&mut self, name: View<'a>, value: View<'a>) {
        let place = match name.str().as_deref() {
            Some("id") => &mut self.id,
            Some("method") => &mut self.method,
            Some("params") => &mut self.params,
            Some("result") => &mut self.result,
            Some("error") => &mut self.error,
            _ => return,
        };
        *place = Some(value);
    }
}

fn content(source: Source) -> Content {
    if source.raw().view().kind() != Kind::Array {
        return Content::Single(Spoken { message: Message::of(source.raw()), source });
    }
    let mut elements = Vec::new();
    for step in Steps::of(source.raw().view()) {
        let Step::Element(place) = step else { continue };
        let Some(part) = source.part(place) else { continue };
        elements.push(Spoken { message: Message::of(part.raw()), source: part });
    }
    Content::Batch { whole: source, elements }
}

fn unread(text: &Bytes, error: JsonError) -> Unread {
    match error.kind {
        JsonErrorKind::Depth | JsonErrorKind::Length => Unread::TooLarge(error),
        _ if text.iter().all(u8::is_ascii_whitespace) => Unread::Blank,
        _ => Unread::NoJson(error),
    }
}

/// As many bytes as before, so that every place stays where it is.
fn repaired(text: &[u8], valid: usize) -> Bytes {
    let mut bytes = text.to_vec();
    let mut from = valid;
    while let Some(Err(error)) = bytes.get(from..).map(str::from_utf8) {
        let start = from + error.valid_up_to();
        let end = error.error_len().map_or(bytes.len(), |length| start + length);
        bytes.get_mut(start..end).unwrap_or_default().fill(b'?');
        from = end;
    }
    bytes.into()
}

const MARK: &[u8] = b"\xef\xbb\xbf";

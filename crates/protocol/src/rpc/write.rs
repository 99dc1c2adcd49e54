//! The few messages we write ourselves, each as one line without its newline.

use bytes::Bytes;

use super::id::Id;
use crate::json::{Kind, ObjectWriter, Raw, View};

/// A JSON-RPC error of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorObject {
    /// See [`super::code`].
    pub code: i64,
    /// For people.
    pub message: String,
    /// For programs.
    pub data: Option<Raw>,
}

impl ErrorObject {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.i64("code", self.code).str("message", &self.message);
        if let Some(data) = &self.data {
            out.raw("data", data);
        }
    }
}

/// The answer to `id`.
pub fn answer_result(id: &Id, result: &Raw) -> Bytes {
    line(result.len() + id.as_bytes().len(), |out| {
        out.raw("id", &id.raw()).raw("result", result);
    })
}

/// The error answer to `id`; to nobody in particular where the id could not be read.
pub fn answer_error(id: Option<&Id>, error: &ErrorObject) -> Bytes {
    line(error.message.len(), |out| {
        out.raw("id", &id.map_or_else(Raw::null, Id::raw)).object("error", |out| error.write(out));
    })
}

/// The same to nobody in particular, where an id is never null (mcp §3.2).
pub fn error_without_id(error: &ErrorObject) -> Bytes {
    line(error.message.len(), |out| {
        out.object("error", |out| error.write(out));
    })
}

/// A notification.
pub fn notification(method: &str, params: impl FnOnce(&mut ObjectWriter<'_>)) -> Bytes {
    line(method.len(), |out| {
        out.str("method", method).object("params", params);
    })
}

/// `message` with its `id` set to the given one, whatever it was. Nothing unless it is an object.
pub fn with_id(message: View<'_>, id: &Id) -> Option<Bytes> {
    if message.kind() != Kind::Object {
        return None;
    }
    let mut text = Vec::with_capacity(message.raw().len() + id.as_bytes().len() + 6);
    text.push(b'{');
    let mut placed = false;
    for (name, value) in message.pairs() {
        let is_id = name.is("id");
        if is_id && placed {
            continue;
        }
        placed |= is_id;
        let value = if is_id { id.as_bytes() } else { value.raw() };
        push_member(&mut text, name.raw(), value);
    }
    if !placed {
        push_member(&mut text, b"\"id\"", id.as_bytes());
    }
    text.push(b'}');
    Some(text.into())
}

fn push_member(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    if text.len() > 1 {
        text.push(b',');
    }
    text.extend_from_slice(name);
    text.push(b':');
    text.extend_from_slice(value);
}

fn line(room: usize, fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Bytes {
    let mut text = Vec::with_capacity(room + 64);
    let mut out = ObjectWriter::new(&mut text);
    out.str("jsonrpc", "2.0");
    fill(&mut out);
    out.end();
    text.into()
}

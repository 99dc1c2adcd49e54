//! Finds the spans in a file: which of the shapes we know it has, or what it looks like instead.

use bytes::Bytes;
use lockgate_protocol::json::{JsonError, Limits, Object, Raw, Value};
use thiserror::Error;

use super::flat;
use super::otlp;
use super::span::Span;

/// The two shapes we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Otlp,
    Flat,
}

impl Format {
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Otlp => "otlp",
            Format::Flat => "spans",
        }
    }
}

/// Why a file is no trace we can read. Each says what the file holds instead.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("not JSON: {0}")]
    Json(JsonError),
    #[error("line {line} is not JSON: {source}")]
    Line { line: usize, source: JsonError },
    #[error("no trace in {found}")]
    Shape { found: String },
    #[error("none of {spans} spans is a model, tool or agent step")]
    NothingKnown { spans: usize },
}

/// A span, or the place of one that could not be read.
pub(super) type Found = Vec<Option<Span>>;

/// Every span in `text`.
pub(super) fn spans(text: &Bytes) -> Result<(Format, Found), ImportError> {
    if text.trim_ascii().is_empty() {
        return Err(shape("an empty file".to_owned()));
    }
    let whole = Raw::check(text.clone(), LIMITS);
    match whole {
        Ok(checked) => {
            let root = checked.raw.to_value().map_err(ImportError::Json)?;
            in_value(&root)
        }
        Err(err) if text.iter().filter(|byte| **byte == b'\n').count() > 0 => lines(text, err),
        Err(err) => Err(ImportError::Json(err)),
    }
}

/// One value a line. If not even the first line is JSON, the file is not of lines, and the first complaint stands.
fn lines(text: &Bytes, whole: JsonError) -> Result<(Format, Found), ImportError> {
    let mut entries = Vec::new();
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let value = Raw::check(text.slice_ref(line), LIMITS).and_then(|checked| checked.raw.to_value());
        match value {
            Ok(value) => entries.push(value),
            Err(_) if entries.is_empty() => return Err(ImportError::Json(whole)),
            Err(source) => return Err(ImportError::Line { line: at + 1, source }),
        }
    }
    in_list(&entries, "lines of JSON")
}

fn in_value(root: &Value) -> Result<(Format, Found), ImportError> {
    match root {
        Value::Array(items) => in_list(items, "an array"),
        Value::Object(object) => in_object(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(shape(kind(root).to_owned())),
    }
}

fn in_object(object: &Object) -> Result<(Format, Found), ImportError> {
    if otlp::is_export(object) {
        return Ok((Format::Otlp, otlp::spans(object)));
    }
    for key in ["spans", "data"] {
        if let Some(Value::Array(items)) = object.get(key) {
            return in_list(items, &format!("the list `{key}`"));
        }
    }
    if flat::is_span(object) {
        return Ok((Format::Flat, vec![flat::read(object)]));
    }
    Err(shape(format!("an object with {}", keys(object))))
}

/// A list of spans, or of whole exports as a collector writes them to a file.
fn in_list(items: &[Value], place: &str) -> Result<(Format, Found), ImportError> {
    let objects: Vec<&Object> =
        items.iter().filter_map(|item| if let Value::Object(object) = item { Some(object) } else { None }).collect();
    let Some(first) = objects.first() else {
        let found = items
            .first()
            .map_or_else(|| format!("{place} with nothing in it"), |item| format!("{place} of {}", kind(item)));
        return Err(shape(found));
    };
    if objects.iter().any(|object| otlp::is_export(object)) {
        return Ok((Format::Otlp, objects.into_iter().flat_map(otlp::spans).collect()));
    }
    if !objects.iter().any(|object| flat::is_span(object)) {
        return Err(shape(format!("{place} of objects with {}", keys(first))));
    }
    Ok((Format::Flat, objects.into_iter().map(flat::read).collect()))
}

fn shape(found: String) -> ImportError {
    ImportError::Shape { found }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The first names in an object, enough to recognise the file by.
fn keys(object: &Object) -> String {
    let mut names: Vec<String> =
        object.iter().take(SHOWN).map(|(key, _)| format!("`{}`", clip(&key.to_lossy()))).collect();
    if object.len() > SHOWN {
        names.push("…".to_owned());
    }
    if names.is_empty() { "no keys".to_owned() } else { names.join(", ") }
}

fn clip(key: &str) -> String {
    key.chars().take(40).collect()
}

const SHOWN: usize = 6;
/// A trace may be larger than any payload, but no file should take the machine's memory.
const LIMITS: Limits = Limits { depth: 512, bytes: 1 << 30 };

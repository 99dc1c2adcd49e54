//! One span, whatever file it came from: identity, times, status, and its attributes by dotted name.

use std::collections::BTreeMap;
use std::ops::Bound;

use lockgate_protocol::json::{Object, Text, Value};

use super::when;

/// What every importer makes of an entry.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) failed: bool,
    pub(super) status_message: Option<String>,
    pub(super) attributes: Attributes,
    /// Attributes of the first `exception` event.
    pub(super) exception: Option<Attributes>,
    pub(super) service: Option<String>,
}

/// Leaves by dotted name. Exporters write `a.b`, `{"a":{"b":…}}` or a column `attributes.a.b`; here they are the same.
#[derive(Debug, Default)]
pub(super) struct Attributes(BTreeMap<String, Value>);

impl Attributes {
    /// The leaf of that name, or the object its deeper names make up.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned().or_else(|| self.below(name))
    }

    /// The first of `names` that is there and not null.
    pub(super) fn first(&self, names: &[&str]) -> Option<Value> {
        names.iter().filter_map(|name| self.get(name)).find(|value| *value != Value::Null)
    }

    /// The first of `names` that is a text with something in it.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let texts = names.iter().filter_map(|name| self.0.get(*name)).filter_map(text);
        texts.into_iter().find(|text| !text.is_empty())
    }

    pub(super) fn insert(&mut self, name: String, value: Value) {
        self.0.insert(name, value);
    }

    /// Takes in `value` under `prefix`; objects become dotted names. An importer's first word on a name stands.
    pub(super) fn flatten(&mut self, prefix: &str, value: Value) {
        match value {
            Value::Object(object) if !object.is_empty() => {
                for (key, value) in object {
                    let key = key.to_lossy();
                    let name = if prefix.is_empty() { key.into_owned() } else { format!("{prefix}.{key}") };
                    self.flatten(&name, value);
                }
            }
            other => {
                self.0.entry(prefix.to_owned()).or_insert(other);
            }
        }
    }

    /// `a.0.x`, `a.1.x` as `[{"x":…},{"x":…}]`, other names as objects.
    fn below(&self, name: &str) -> Option<Value> {
        let prefix = format!("{name}.");
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let mut tree = Tree::default();
        for (key, value) in self.0.range::<str, _>(from).take_while(|(key, _)| key.starts_with(&prefix)) {
            let path = key.get(prefix.len()..).unwrap_or_default();
            tree.place(path.split('.').take(DEEPEST), value);
        }
        (!tree.inner.is_empty()).then(|| tree.close())
    }
}

/// Names on their way back to a nested value.
#[derive(Default)]
struct Tree {
    leaf: Option<Value>,
    inner: BTreeMap<String, Tree>,
}

impl Tree {
    fn place<'a>(&mut self, path: impl Iterator<Item = &'a str>, value: &Value) {
        let mut place = self;
        for part in path {
            place = place.inner.entry(part.to_owned()).or_default();
        }
        place.leaf = Some(value.clone());
    }

    fn close(self) -> Value {
        if self.inner.is_empty() {
            return self.leaf.unwrap_or_default();
        }
        let numbered: Option<BTreeMap<usize, &str>> =
            self.inner.keys().map(|key| key.parse().ok().map(|number| (number, key.as_str()))).collect();
        let list = numbered.is_some_and(|numbers| numbers.keys().copied().eq(0..self.inner.len()));
        if list {
            let mut items: Vec<(usize, Tree)> =
                self.inner.into_iter().filter_map(|(key, tree)| Some((key.parse().ok()?, tree))).collect();
            items.sort_by_key(|(number, _)| *number);
            return Value::Array(items.into_iter().map(|(_, tree)| tree.close()).collect());
        }
        let members = self.inner.into_iter().map(|(key, tree)| (Text::from(key), tree.close()));
        Value::Object(members.collect::<Object>())
    }
}

/// A value as the text people see: a string as it is, a number as it is written.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lossy().into_owned()),
        Value::Number(number) => Some(number.as_str().to_owned()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first of `names` in `object` that is there and not null.
pub(super) fn field<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| object.get(name)).find(|value| **value != Value::Null)
}

/// Status in any of its spellings: 2, `"2"`, `ERROR`, `STATUS_CODE_ERROR`, alone or as `code` of an object.
pub(super) fn failed(status: &Value) -> bool {
    match status {
        Value::Object(object) => field(object, &["code", "status_code", "statusCode"]).is_some_and(failed),
        other => text(other).is_some_and(|code| matches!(code.as_str(), "2" | "STATUS_CODE_ERROR" | "ERROR")),
    }
}

/// The first `exception` among a span's events.
pub(super) fn exception<'a>(events: Option<&'a Value>, read: impl Fn(&'a Value) -> Attributes) -> Option<Attributes> {
    let Some(Value::Array(events)) = events else { return None };
    let events = events.iter().filter_map(|event| if let Value::Object(event) = event { Some(event) } else { None });
    let mut named = events.filter(|event| event.get("name").is_some_and(|name| *name == Value::from("exception")));
    Some(named.next()?.get("attributes").map(read).unwrap_or_default())
}

/// Start and end, the end never before the start. `None` without a start.
pub(super) fn times(start: Option<&Value>, end: Option<&Value>, read: fn(&Value) -> Option<f64>) -> Option<(f64, f64)> {
    let start = start.and_then(read)?;
    Some((start, end.and_then(read).unwrap_or(start).max(start)))
}

pub(super) const ANY_TIME: fn(&Value) -> Option<f64> = when::read;
pub(super) const NANOS: fn(&Value) -> Option<f64> = when::nanos;
/// Names nested deeper than any exporter writes keep their rest as one name's worth.
const DEEPEST: usize = 64;

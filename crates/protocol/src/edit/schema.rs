//! A light look at a value through a JSON Schema from the wire: refuses only what is certainly forbidden, leaves the rest to
//! the server. No references, no patterns, and bounds on every kind of work (wire §3.6).

use std::fmt;

use crate::json::{Kind, View};

/// The first thing found that the schema forbids. Shows where and what, never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {}", if pointer.is_empty() { "the whole input" } else { pointer })]
pub struct Issue {
    /// JSON Pointer of the place; empty for the whole value.
    pub pointer: String,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Not of an allowed type.
    Type,
    /// Not one of the listed values.
    Value,
    /// A required member is absent.
    Missing,
    /// A member or item that may not be there.
    Unexpected,
    /// A text or array is too short or too long.
    Size,
    /// A number is out of its bounds.
    Range,
    /// None of several alternatives fits.
    Alternatives,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::Type => "type not allowed",
            Problem::Value => "value not among the allowed ones",
            Problem::Missing => "required member missing",
            Problem::Unexpected => "not allowed here",
            Problem::Size => "too short or too long",
            Problem::Range => "number out of range",
            Problem::Alternatives => "fits none of the alternatives",
        })
    }
}

/// Checks a value. Whatever is not understood passes, and so does everything under another dialect.
///
/// # Errors
/// The first certain violation.
pub fn check(schema: View<'_>, value: View<'_>) -> Result<(), Issue> {
    let ours = |dialect: &str| DIALECTS.iter().any(|known| dialect.trim_end_matches('#').ends_with(known));
    if schema.get("$schema").and_then(View::str).is_some_and(|dialect| !ours(&dialect)) {
        return Ok(());
    }
    Look { steps: 0, depth: 0, read: 0, path: Vec::new() }.at(schema, value)
}

struct Look {
    steps: usize,
    depth: usize,
    /// Bytes of schema and value that were walked over, about.
    read: usize,
    path: Vec<String>,
}

type Found = Result<(), Issue>;

impl Look {
    fn at(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        let walks = if is_container(value) { WALKS } else { 1 };
        let texts = schema.raw().len().saturating_mul(LOOKS).saturating_add(value.raw().len().saturating_mul(walks));
        if self.steps >= STEPS || self.depth >= DEPTH || !self.may_read(texts) {
            return Ok(());
        }
        self.steps += 1;
        self.depth += 1;
        let found = self.all(schema, value);
        self.depth -= 1;
        found
    }

    /// Whether so many bytes more may be walked over. Once they may not, nothing more is found.
    fn may_read(&mut self, bytes: usize) -> bool {
        self.read = self.read.saturating_add(bytes);
        self.read <= READ
    }

    fn all(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        if schema.bool() == Some(false) {
            return self.issue(Problem::Unexpected);
        }
        // What stands beside a reference counts in some drafts and not in others.
        if schema.kind() != Kind::Object || schema.get("$ref").is_some() {
            return Ok(());
        }
        if value.is_null() && schema.get("nullable").and_then(View::bool) == Some(true) {
            return Ok(());
        }
        self.types(schema, value)?;
        self.values(schema, value)?;
        match value.kind() {
            Kind::Object => self.members(schema, value)?,
            Kind::Array => self.items(schema, value)?,
            Kind::String => self.length(schema, value)?,
            Kind::Number => self.range(schema, value)?,
            Kind::Null | Kind::Bool => {}
        }
        self.combinations(schema, value)
    }

    fn types(&self, schema: View<'_>, value: View<'_>) -> Found {
        let Some(stated) = schema.get("type") else { return Ok(()) };
        let names: Vec<View<'_>> = if stated.kind() == Kind::Array { stated.items().collect() } else { vec![stated] };
        let fits = |name: &View<'_>| match name.str().as_deref() {
            Some("null") => value.is_null(),
            Some("boolean") => value.kind() == Kind::Bool,
            Some("string") => value.kind() == Kind::String,
            Some("array") => value.kind() == Kind::Array,
            Some("object") => value.kind() == Kind::Object,
            Some("number") => value.kind() == Kind::Number,
            Some("integer") => value.f64().is_some_and(|number| number.fract() == 0.0 || !number.is_finite()),
            // A type we do not know may be anything.
            _ => true,
        };
        if names.is_empty() || names.iter().any(fits) { Ok(()) } else { self.issue(Problem::Type) }
    }

    fn values(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        let listed = schema.get("enum").filter(|list| list.kind() == Kind::Array).map(View::items);
        let only = schema.get("const");
        for choices in [listed.map(Iterator::collect::<Vec<_>>), only.map(|only| vec![only])].into_iter().flatten() {
            let readable = self.may_read(choices.len().saturating_mul(value.raw().len()));
            let primitive = choices.iter().all(|choice| !is_container(*choice));
            if readable && primitive && !choices.iter().any(|choice| equal(*choice, value)) {
                return self.issue(Problem::Value);
            }
        }
        Ok(())
    }

    fn members(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        for name in schema.get("required").into_iter().flat_map(View::items) {
            let Some(name) = name.str() else { continue };
            if self.may_read(value.raw().len()) && value.get(&name).is_none() {
                return self.below(&name, |look| look.issue(Problem::Missing));
            }
        }
        let properties = schema.get("properties");
        let patterns = schema.get("patternProperties").is_some();
        let others = schema.get("additionalProperties").filter(|_| !patterns);
        for (name, member) in value.members() {
            let name = name.to_lossy();
            let readable = properties.filter(|properties| self.may_read(properties.raw().len()));
            let Some(rule) = readable.and_then(|properties| properties.get(&name)).or(others) else { continue };
            self.below(&name, |look| look.at(rule, member))?;
        }
        Ok(())
    }

    fn items(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        let count = value.items().count();
        self.within(schema, ["minItems", "maxItems"], [count, count])?;
        let items = schema.get("items");
        let listed = items.filter(|items| items.kind() == Kind::Array);
        let first: Vec<View<'_>> =
            schema.get("prefixItems").or(listed).into_iter().flat_map(View::items).take(ITEMS).collect();
        let rest = items.filter(|_| listed.is_none());
        for (place, item) in value.items().take(ITEMS).enumerate() {
            let Some(rule) = first.get(place).copied().or(rest) else { continue };
            self.below(&place.to_string(), |look| look.at(rule, item))?;
        }
        Ok(())
    }

    /// Counted so that a text fails only if it does however characters are counted.
    fn length(&self, schema: View<'_>, value: View<'_>) -> Found {
        let Some(text) = value.text() else { return Ok(()) };
        self.within(schema, ["minLength", "maxLength"], [text.utf16().count(), text.to_lossy().chars().count()])
    }

    fn within(&self, schema: View<'_>, [least, most]: [&str; 2], [large, small]: [usize; 2]) -> Found {
        let bound = |name: &str| schema.get(name).and_then(View::u64).and_then(|bound| usize::try_from(bound).ok());
        let short = bound(least).is_some_and(|least| large < least);
        let long = bound(most).is_some_and(|most| small > most);
        if short || long { self.issue(Problem::Size) } else { Ok(()) }
    }

    fn range(&self, schema: View<'_>, value: View<'_>) -> Found {
        let Some(number) = value.f64() else { return Ok(()) };
        let bound = |name: &str| schema.get(name).and_then(View::f64);
        let strict = |name: &str| schema.get(name).and_then(View::bool) == Some(true);
        // Beyond 2^53 two numbers may look equal and differ.
        let exact = number.abs() < 9_007_199_254_740_992.0;
        let low = bound("minimum")
            .is_some_and(|least| number < least || exact && strict("exclusiveMinimum") && number <= least);
        let high =
            bound("maximum").is_some_and(|most| number > most || exact && strict("exclusiveMaximum") && number >= most);
        let too_low = bound("exclusiveMinimum").is_some_and(|least| number < least || exact && number <= least);
        let too_high = bound("exclusiveMaximum").is_some_and(|most| number > most || exact && number >= most);
        if low || high || too_low || too_high { self.issue(Problem::Range) } else { Ok(()) }
    }

    fn combinations(&mut self, schema: View<'_>, value: View<'_>) -> Found {
        for rule in schema.get("allOf").into_iter().flat_map(View::items) {
            self.at(rule, value)?;
        }
        for name in ["anyOf", "oneOf"] {
            let Some(rules) = schema.get(name).filter(|rules| rules.items().next().is_some()) else { continue };
            if !rules.items().any(|rule| self.at(rule, value).is_ok()) {
                return self.issue(Problem::Alternatives);
            }
        }
        Ok(())
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Look) -> Found) -> Found {
        self.path.push(name.replace('~', "~0").replace('/', "~1"));
        let found = look(self);
        self.path.pop();
        found
    }

    fn issue(&self, problem: Problem) -> Found {
        let pointer = self.path.iter().fold(String::new(), |pointer, name| pointer + "/" + name);
        Err(Issue { pointer, problem })
    }
}

fn equal(left: View<'_>, right: View<'_>) -> bool {
    match (left.kind(), right.kind()) {
        (Kind::Number, Kind::Number) => left.f64() == right.f64(),
        (Kind::String, Kind::String) => left.text() == right.text(),
        (left_kind, right_kind) => left_kind == right_kind && left.raw() == right.raw(),
    }
}

fn is_container(view: View<'_>) -> bool {
    matches!(view.kind(), Kind::Array | Kind::Object)
}

const DIALECTS: &[&str] = &[
    "json-schema.org/draft/2020-12/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-04/schema",
];
const DEPTH: usize = 32;
const STEPS: usize = 20_000;
const ITEMS: usize = 1_000;
/// How often a schema is walked through at one step, about: each look for a keyword is a walk.
const LOOKS: usize = 16;
/// How often a list or an object is.
const WALKS: usize = 4;
/// Bytes walked over in a fraction of a second. Honest schemas and inputs take a small part of it.
const READ: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[track_caller]
    fn check_pair(schema: &str, value: &str, expected: &str) {
        let raw = |text: &str| Raw::parse(text.to_owned()).expect("a JSON text");
        let found = check(raw(schema).view(), raw(value).view());
        assert_eq!(found.map_or_else(|issue| issue.to_string(), |()| "fine".to_owned()), expected, "{schema} {value}");
    }

    #[test]
    fn types_and_values() {
        check_pair(r#"{"type":"object"}"#, "[]", "type not allowed: the whole input");
        check_pair(r#"{"type":["string","null"]}"#, "null", "fine");
        check_pair(r#"{"type":"string","nullable":true}"#, "null", "fine");
        check_pair(r#"{"type":"integer"}"#, "1.0", "fine");
        check_pair(r#"{"type":"integer"}"#, "1.5", "type not allowed: the whole input");
        check_pair(r#"{"type":"integer"}"#, "1e400", "fine");
        check_pair(r#"{"type":"file"}"#, "1", "fine");
        check_pair(r#"{"enum":["a",1]}"#, "1.0", "fine");
        check_pair(r#"{"enum":["a",1]}"#, r#""b""#, "value not among the allowed ones: the whole input");
        check_pair(r#"{"enum":["a",{}]}"#, r#""b""#, "fine");
        check_pair(r#"{"const":null}"#, "0", "value not among the allowed ones: the whole input");
        check_pair("false", "1", "not allowed here: the whole input");
    }

    #[test]
    fn objects() {
        let schema = r#"{"type":"object","required":["q"],"properties":{"q":{"type":"string"},"a/b":{"type":"object",
            "additionalProperties":{"type":"number"}}},"additionalProperties":false}"#;
        check_pair(schema, r#"{"q":"x","a/b":{"n":1}}"#, "fine");
        check_pair(schema, "{}", "required member missing: /q");
        check_pair(schema, r#"{"q":1}"#, "type not allowed: /q");
        check_pair(schema, r#"{"q":"x","r":1}"#, "not allowed here: /r");
        check_pair(schema, r#"{"q":"x","a/b":{"n":"secret"}}"#, "type not allowed: /a~1b/n");
        check_pair(r#"{"patternProperties":{"^x":{}},"additionalProperties":false}"#, r#"{"y":1}"#, "fine");
    }

    #[test]
    fn sizes_and_ranges() {
        check_pair(r#"{"minItems":2}"#, "[1]", "too short or too long: the whole input");
        check_pair(r#"{"items":{"type":"number"}}"#, r#"[1,"x"]"#, "type not allowed: /1");
        check_pair(r#"{"prefixItems":[{"type":"string"}],"items":false}"#, r#"["x",1]"#, "not allowed here: /1");
        check_pair(r#"{"items":[{"type":"string"}]}"#, r#"["x",1]"#, "fine");
        check_pair(r#"{"maxLength":1}"#, "\"😀\"", "fine");
        check_pair(r#"{"minLength":2}"#, "\"😀\"", "fine");
        check_pair(r#"{"minLength":3}"#, "\"😀\"", "too short or too long: the whole input");
        check_pair(r#"{"minimum":1}"#, "0.5", "number out of range: the whole input");
        check_pair(r#"{"exclusiveMaximum":1}"#, "1", "number out of range: the whole input");
        check_pair(r#"{"maximum":1,"exclusiveMaximum":true}"#, "1", "number out of range: the whole input");
        check_pair(r#"{"exclusiveMaximum":9007199254740993}"#, "9007199254740992", "fine");
    }

    #[test]
    fn combinations() {
        check_pair(r#"{"allOf":[{"type":"number"},{"minimum":2}]}"#, "1", "number out of range: the whole input");
        let either = r#"{"oneOf":[{"type":"number"},{"type":"string"},{"type":"string"}]}"#;
        check_pair(either, "\"x\"", "fine");
        check_pair(either, "[]", "fits none of the alternatives: the whole input");
        check_pair(r#"{"anyOf":[]}"#, "1", "fine");
    }

    #[test]
    fn what_is_not_understood_passes() {
        check_pair(r##"{"$ref":"#/x","type":"string"}"##, "1", "fine");
        check_pair(r#"{"$schema":"https://example.org/mine","type":"string"}"#, "1", "fine");
        check_pair(
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}"#,
            "1",
            "type not allowed: the whole input",
        );
        check_pair(r#"{"not":{},"pattern":"(a+)+$","multipleOf":2,"format":"email"}"#, "\"aaaa\"", "fine");
        check_pair("[]", "1", "fine");
        check_pair(r#"{"type":5,"required":"q","properties":[],"enum":{}}"#, "{}", "fine");
    }

    #[test]
    fn hostile_schemas_cost_bounded_work() {
        let fan = format!(r#"{{"allOf":[{}]}}"#, vec!["{\"anyOf\":[{},{},{}]}"; 30_000].join(","));
        check_pair(&fan, "1", "fine");
        let deep = format!("{}{{}}{}", "{\"allOf\":[".repeat(2_000), "]}".repeat(2_000));
        check_pair(&deep, "1", "fine");
        let again = format!(r#"{{"allOf":[{}{{"type":"number"}}]}}"#, "{},".repeat(70));
        check_pair(&again, r#"["x"]"#, "type not allowed: the whole input");
        check_pair(&again, &format!(r#"["{}"]"#, "x".repeat(1 << 20)), "fine");
        let nested = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
        check_pair(r#"{"items":{"items":{"items":{}}}}"#, &nested, "fine");
        let listed = format!(r#"{{"items":{{"enum":[{}1]}}}}"#, r#""","#.repeat(30_000));
        let asked = |count: usize| format!("[{}2]", "1,".repeat(count));
        check_pair(&listed, &asked(9), "value not among the allowed ones: /9");
        check_pair(&listed, &asked(300), "fine");
    }
}

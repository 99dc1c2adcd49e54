//! Exports the registry as JSON Schema (wire §1.10); the web viewer's types come from it.

use super::messages::{Field, MESSAGES, Message, Need, SHARED_OBJECTS, SHARED_WORDS, Shape, Words};
use crate::json::{self, Text, Value};

/// JSON Schema (draft 2020-12) of every frame: 2-space indent, final newline. Says neither that a run id holds no U+0000 nor
/// how large `ts` may be.
pub fn schema() -> String {
    let mut definitions = json::Object::new();
    let mut define = |id: Option<&str>, shape: Value| {
        if let Some(id) = id {
            definitions.insert(id, shape);
        }
    };
    SHARED_WORDS.iter().for_each(|set| define(set.id, words(set)));
    SHARED_OBJECTS.iter().for_each(|object| define(object.id, fields(object.fields)));
    for message in &MESSAGES {
        definitions.insert(id_of(message), envelope(message));
    }
    let any = MESSAGES.iter().map(|message| reference(&id_of(message))).collect();
    definitions.insert("GraphMindEnvelope", object([("anyOf", Value::Array(any))]));
    let root = object([
        ("$schema", Value::from("https://json-schema.org/draft/2020-12/schema")),
        ("$id", Value::from("https://graphmind.dev/wire/v1/envelope.schema.json")),
        ("title", Value::from("GraphMind wire envelope, protocol 1")),
        ("description", Value::from("One text frame between a program under debug and a hub. All objects are open.")),
        ("$ref", Value::from("#/$defs/GraphMindEnvelope")),
        ("$defs", Value::Object(definitions)),
    ]);
    let mut out = String::new();
    pretty(&root, 0, &mut out);
    out.push('\n');
    out
}

fn id_of(message: &Message) -> String {
    format!("envelope.{}", message.kind)
}

fn envelope(message: &Message) -> Value {
    let whole = || object([("type", Value::from("integer")), ("minimum", Value::from(0_u64))]);
    let properties = object([
        ("gm", object([("const", Value::from(1_u64))])),
        ("seq", whole()),
        ("ts", whole()),
        ("runId", kind("string")),
        ("type", object([("const", Value::from(message.kind))])),
        ("payload", fields(message.fields)),
    ]);
    let required = ["gm", "seq", "ts", "runId", "type", "payload"].map(Value::from).to_vec();
    object([("type", Value::from("object")), ("properties", properties), ("required", Value::Array(required))])
}

fn fields(fields: &[Field]) -> Value {
    let properties = fields.iter().map(|field| (Text::from(field.name), shape(&field.shape))).collect();
    let required = fields.iter().filter(|field| field.need == Need::Required);
    let required = required.map(|field| Value::from(field.name)).collect::<Vec<_>>();
    let mut members = vec![("type", Value::from("object")), ("properties", Value::Object(properties))];
    if !required.is_empty() {
        members.push(("required", Value::Array(required)));
    }
    object(members)
}

/// Descends as deep as the registry does.
fn shape(shape_of: &Shape) -> Value {
    match shape_of {
        Shape::Any => Value::Object(json::Object::new()),
        Shape::Text => kind("string"),
        Shape::Flag => kind("boolean"),
        Shape::Int(i64::MIN) => kind("integer"),
        Shape::Int(least) => object([("type", Value::from("integer")), ("minimum", Value::from(*least))]),
        Shape::Amount => object([("type", Value::from("number")), ("minimum", Value::from(0_u64))]),
        Shape::Map => kind("object"),
        Shape::Word(set) => set.id.map_or_else(|| words(set), reference),
        Shape::List(item) => object([("type", Value::from("array")), ("items", shape(item))]),
        Shape::Object(shared) => shared.id.map_or_else(|| fields(shared.fields), reference),
    }
}

fn words(set: &Words) -> Value {
    let words = set.words.iter().copied().map(Value::from).collect();
    object([("type", Value::from("string")), ("enum", Value::Array(words))])
}

fn reference(id: &str) -> Value {
    object([("$ref", Value::from(format!("#/$defs/{id}")))])
}

fn kind(name: &str) -> Value {
    object([("type", Value::from(name))])
}

fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (Text::from(name), value)).collect())
}

fn pretty(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (place, (name, each)) in members.iter().enumerate() {
                out.push_str(if place == 0 { "{\n" } else { ",\n" });
                indent(depth + 1, out);
                plain(&Value::String(name.clone()), out);
                out.push_str(": ");
                pretty(each, depth + 1, out);
            }
            close('}', depth, out);
        }
        Value::Array(items) if !items.is_empty() => {
            for (place, each) in items.iter().enumerate() {
                out.push_str(if place == 0 { "[\n" } else { ",\n" });
                indent(depth + 1, out);
                pretty(each, depth + 1, out);
            }
            close(']', depth, out);
        }
        scalar_or_empty => plain(scalar_or_empty, out),
    }
}

fn close(bracket: char, depth: usize, out: &mut String) {
    out.push('\n');
    indent(depth, out);
    out.push(bracket);
}

fn indent(depth: usize, out: &mut String) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn plain(value: &Value, out: &mut String) {
    let mut bytes = Vec::new();
    json::write(value, &mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

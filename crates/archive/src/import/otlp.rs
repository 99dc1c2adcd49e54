//! OTLP/JSON: resources, scopes, spans, and attribute values wrapped in their types. Both spellings of every name.

use lockgate_protocol::json::{Number, Object, Text, Value};

use super::span::{self, Attributes, NANOS, Span, field};

/// Is this the outermost object of an OTLP export?
pub(super) fn is_export(root: &Object) -> bool {
    field(root, RESOURCE_SPANS).is_some()
}

/// Every span below `root`; `None` for one without a readable start.
pub(super) fn spans(root: &Object) -> Vec<Option<Span>> {
    let mut found = Vec::new();
    for resource_spans in objects(field(root, RESOURCE_SPANS)) {
        let resource = resource_spans.get("resource").and_then(object);
        let service = resource.and_then(|resource| resource.get("attributes")).map(attributes);
        let service = service.and_then(|attributes| attributes.text(&["service.name"]));
        for scope_spans in objects(field(resource_spans, SCOPE_SPANS)) {
            for span in objects(scope_spans.get("spans")) {
                found.push(read(span, service.as_deref()));
            }
        }
    }
    found
}

fn read(span: &Object, service: Option<&str>) -> Option<Span> {
    let start = field(span, &["startTimeUnixNano", "start_time_unix_nano"]);
    let end = field(span, &["endTimeUnixNano", "end_time_unix_nano"]);
    let (start, end) = span::times(start, end, NANOS)?;
    let text = |names: &[&str]| field(span, names).and_then(span::text).filter(|text| !text.is_empty());
    let status = span.get("status");
    let message = status.and_then(object).and_then(|status| status.get("message"));
    Some(Span {
        id: text(&["spanId", "span_id"]),
        parent: text(&["parentSpanId", "parent_span_id"]),
        name: text(&["name"]).unwrap_or_default(),
        start,
        end,
        failed: status.is_some_and(span::failed),
        status_message: message.and_then(span::text),
        attributes: span.get("attributes").map(attributes).unwrap_or_default(),
        exception: span::exception(span.get("events"), attributes),
        service: service.map(str::to_owned),
    })
}

/// A `KeyValue` list. Some exporters write a plain object; it is read as one.
fn attributes(list: &Value) -> Attributes {
    let mut attributes = Attributes::default();
    match list {
        Value::Array(_) => {
            for (key, value) in key_values(list) {
                attributes.insert(key.to_lossy().into_owned(), value);
            }
        }
        other => attributes.flatten("", other.clone()),
    }
    attributes
}

fn key_values(list: &Value) -> impl Iterator<Item = (Text, Value)> + '_ {
    objects(Some(list)).filter_map(|entry| {
        let Some(Value::String(key)) = entry.get("key") else { return None };
        Some((key.clone(), entry.get("value").map(any_value).unwrap_or_default()))
    })
}

/// The value inside an `AnyValue`. 64-bit integers come as strings; one that is none stays a string.
fn any_value(value: &Value) -> Value {
    let Some((kind, inner)) = object(value).and_then(|wrapped| wrapped.iter().next()) else { return value.clone() };
    let Some(kind) = kind.as_str() else { return value.clone() };
    match kind {
        "stringValue" | "string_value" | "boolValue" | "bool_value" | "bytesValue" | "bytes_value" => inner.clone(),
        "intValue" | "int_value" | "doubleValue" | "double_value" => number(inner),
        "arrayValue" | "array_value" => {
            let values = object(inner).and_then(|list| list.get("values"));
            let Some(Value::Array(values)) = values else { return Value::Array(Vec::new()) };
            Value::Array(values.iter().map(any_value).collect())
        }
        "kvlistValue" | "kvlist_value" => {
            let values = object(inner).and_then(|list| list.get("values"));
            Value::Object(values.map(|values| key_values(values).collect()).unwrap_or_default())
        }
        _ => value.clone(),
    }
}

fn number(inner: &Value) -> Value {
    let Value::String(text) = inner else { return inner.clone() };
    let number = text.as_str().and_then(Number::parse);
    number.map_or_else(|| inner.clone(), Value::Number)
}

fn objects(list: Option<&Value>) -> impl Iterator<Item = &Object> {
    let items = if let Some(Value::Array(items)) = list { items.as_slice() } else { &[] };
    items.iter().filter_map(object)
}

fn object(value: &Value) -> Option<&Object> {
    if let Value::Object(object) = value { Some(object) } else { None }
}

const RESOURCE_SPANS: &[&str] = &["resourceSpans", "resource_spans"];
const SCOPE_SPANS: &[&str] =
    &["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];

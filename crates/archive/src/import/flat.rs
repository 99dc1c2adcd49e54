//! Flat lists of spans, as trace stores and data frames export them: one object a span, names in many spellings.

use lockgate_protocol::json::{Object, Value};

use super::span::{self, ANY_TIME, Attributes, Span, field};

/// Does this object look like a span at all?
pub(super) fn is_span(entry: &Object) -> bool {
    let identity = field(entry, IDS).is_some() || nested_id(entry).is_some() || entry.get("context.span_id").is_some();
    identity && field(entry, STARTS).is_some()
}

/// The span in `entry`; `None` without a readable start.
pub(super) fn read(entry: &Object) -> Option<Span> {
    let (start, end) = span::times(field(entry, STARTS), field(entry, ENDS), ANY_TIME)?;
    let text = |names: &[&str]| field(entry, names).and_then(span::text).filter(|text| !text.is_empty());
    let attributes = attributes(entry);
    let status = field(entry, &["status_code", "statusCode", "status"]);
    let nested = if let Some(Value::Object(status)) = entry.get("status") { Some(status) } else { None };
    let nested_message = nested.and_then(|status| field(status, &["message", "description"])).and_then(span::text);
    let service = text(&["resource.attributes.service.name", "resource.service.name", "service.name", "service_name"]);
    Some(Span {
        id: nested_id(entry).and_then(span::text).or_else(|| text(&["context.span_id"])).or_else(|| text(IDS)),
        parent: text(&["parent_id", "parentId", "parent_span_id", "parentSpanId"]),
        name: text(&["name", "span_name", "operation_name", "operationName"]).unwrap_or_default(),
        start,
        end,
        failed: status.is_some_and(span::failed),
        status_message: text(&["status_message", "statusMessage"]).or(nested_message),
        exception: exception(entry),
        service: service.or_else(|| resource_service(entry)).or_else(|| attributes.text(&["service.name"])),
        attributes,
    })
}

/// Nested under `attributes`, in columns named `attributes.…`, or both.
fn attributes(entry: &Object) -> Attributes {
    let mut attributes = Attributes::default();
    if let Some(nested @ Value::Object(_)) = entry.get("attributes") {
        attributes.flatten("", nested.clone());
    }
    for (key, value) in entry {
        if let Some(name) = key.as_str().and_then(|key| key.strip_prefix("attributes.")) {
            attributes.flatten(name, value.clone());
        }
    }
    attributes
}

fn exception(entry: &Object) -> Option<Attributes> {
    span::exception(entry.get("events"), |value| {
        let mut attributes = Attributes::default();
        attributes.flatten("", value.clone());
        attributes
    })
}

fn resource_service(entry: &Object) -> Option<String> {
    let resource = entry.get("resource")?;
    let mut attributes = Attributes::default();
    attributes.flatten("", resource.clone());
    attributes.text(&["attributes.service.name", "service.name"])
}

fn nested_id(entry: &Object) -> Option<&Value> {
    let Some(Value::Object(context)) = entry.get("context") else { return None };
    field(context, IDS)
}

const IDS: &[&str] = &["span_id", "spanId", "id"];
const STARTS: &[&str] = &["start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano", "start", "timestamp"];
const ENDS: &[&str] = &["end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano", "end"];

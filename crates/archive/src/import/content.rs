//! What a span carried: what went in, what came out, what it cost and why it failed.

use lockgate_protocol::debug::{ErrorInfo, TokenUsage};
use lockgate_protocol::json::{Object, Raw, Value};

use super::span::{Attributes, Span};

pub(super) fn input(span: &Span) -> Option<Raw> {
    span.attributes.first(INPUTS).map(payload)
}

/// One answer as it is; several parts of one (text and tool calls) under their names.
pub(super) fn output(span: &Span) -> Option<Raw> {
    let parts: Object = RESPONSES
        .iter()
        .filter_map(|(name, attribute)| {
            let value =
                span.attributes.get(attribute).filter(|value| *value != Value::Null && *value != Value::from(""))?;
            Some(((*name).into(), parsed(value)))
        })
        .collect();
    let value = match parts.len() {
        0 => span.attributes.first(OUTPUTS)?,
        1 => parts.into_iter().next()?.1,
        _ => Value::Object(parts),
    };
    Some(payload(value))
}

/// Tokens in and out; a side nobody counted is 0. `None` if neither was.
pub(super) fn usage(span: &Span) -> Option<TokenUsage> {
    let side = |names: &[&str]| span.attributes.first(names).and_then(|value| count(&value));
    let (input, output) = (side(INPUT_TOKENS), side(OUTPUT_TOKENS));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(TokenUsage { input_tokens: input.unwrap_or(0), output_tokens: output.unwrap_or(0), ..TokenUsage::default() })
}

/// What the first exception says, else the status message. `None` for a span that did not fail.
pub(super) fn error(span: &Span) -> Option<ErrorInfo> {
    if !span.failed {
        return None;
    }
    let nothing = Attributes::default();
    let exception = span.exception.as_ref().unwrap_or(&nothing);
    let message = exception.text(&["exception.message"]).or_else(|| span.status_message.clone());
    Some(ErrorInfo {
        name: exception.text(&["exception.type"]).unwrap_or_else(|| "Error".to_owned()),
        message: message.filter(|message| !message.is_empty()).unwrap_or_else(|| "the span failed".to_owned()),
        stack: exception.text(&["exception.stacktrace"]),
    })
}

pub(super) fn model(span: &Span) -> Option<String> {
    span.attributes.text(&["gen_ai.response.model", "gen_ai.request.model", "ai.model.id", "llm.model_name"])
}

pub(super) fn provider(span: &Span) -> Option<String> {
    span.attributes.text(&["gen_ai.provider.name", "gen_ai.system", "ai.model.provider", "llm.provider", "llm.system"])
}

fn payload(value: Value) -> Raw {
    Raw::from_value(&parsed(value))
}

/// Exporters put JSON into strings; what looks like an object or an array and is one is shown as one.
fn parsed(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let Some(inner) = text.as_str().map(str::trim) else { return value };
    if !inner.starts_with(['{', '[']) {
        return value;
    }
    let parsed = Raw::parse(inner.to_owned()).and_then(|raw| raw.to_value());
    parsed.unwrap_or(value)
}

fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.as_str()?.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

const INPUTS: &[&str] = &[
    "ai.prompt.messages",
    "ai.prompt",
    "ai.toolCall.args",
    "gen_ai.input.messages",
    "gen_ai.tool.call.arguments",
    "input.value",
    "llm.input_messages",
];
const RESPONSES: [(&str, &str); 3] =
    [("text", "ai.response.text"), ("object", "ai.response.object"), ("toolCalls", "ai.response.toolCalls")];
const OUTPUTS: &[&str] =
    &["ai.toolCall.result", "gen_ai.output.messages", "gen_ai.tool.call.result", "output.value", "llm.output_messages"];
const INPUT_TOKENS: &[&str] = &[
    "ai.usage.promptTokens",
    "ai.usage.inputTokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
];
const OUTPUT_TOKENS: &[&str] = &[
    "ai.usage.completionTokens",
    "ai.usage.outputTokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
];

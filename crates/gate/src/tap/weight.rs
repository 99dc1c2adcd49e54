//! What an event weighs in the queue, roughly: the bytes of its texts and payloads.

use lockgate_protocol::debug::{ErrorInfo, Event, Extra};
use lockgate_protocol::json::Raw;

pub(super) fn of(event: &Event) -> usize {
    FRAME
        + match event {
            Event::RunStarted(event) => event.app.len() + raw(event.meta.as_ref()) + loose(&event.extra),
            Event::RunFinished(event) => failure(event.error.as_ref()) + loose(&event.extra),
            Event::GraphHint(event) => {
                event.nodes.iter().map(|node| node.node_id.len() + node.name.len() + FRAME).sum::<usize>()
                    + loose(&event.extra)
            }
            Event::NodeStarted(event) => {
                event.node_id.len() + event.name.len() + raw(event.input.as_ref()) + loose(&event.extra)
            }
            Event::NodeToken(event) => {
                event.deltas.iter().map(|delta| delta.text.len() + FRAME).sum::<usize>() + loose(&event.extra)
            }
            Event::NodeFinished(event) => raw(event.output.as_ref()) + loose(&event.extra),
            Event::NodeError(event) => failure(Some(&event.error)) + loose(&event.extra),
            Event::ExecPaused(event) => loose(&event.extra),
            Event::ExecRefused(event) => {
                event.message.as_ref().map_or(0, String::len)
                    + event.request_id.as_ref().map_or(0, String::len)
                    + loose(&event.extra)
            }
            Event::ExecResumed(event) => {
                raw(event.edited.as_ref()) + event.request_id.as_ref().map_or(0, String::len) + loose(&event.extra)
            }
            Event::ExecUntil(event) => loose(&event.extra),
        }
}

fn raw(value: Option<&Raw>) -> usize {
    value.map_or(0, Raw::len)
}

fn failure(error: Option<&ErrorInfo>) -> usize {
    error.map_or(0, |error| error.name.len() + error.message.len() + error.stack.as_ref().map_or(0, String::len))
}

fn loose(extra: &Extra) -> usize {
    extra.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Everything of bounded size around them.
const FRAME: usize = 256;

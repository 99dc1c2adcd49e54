//! Holds that need no breakpoint: a tool result that says it failed, a model answer cut off in the middle of a tool call
//! (wire §5.6). Reads shapes only; what it says about them never quotes a value.

use lockgate_gate::{Alone, Call, Hold, Policy, Reason, Stop, Verdict};
use lockgate_protocol::debug::{NodeKind, PauseReason, Smart, SmartRule};
use lockgate_protocol::json::{Kind, View};

use crate::presence::Line;

/// Which of the two detectors look (wire §2.9); both do unless switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SmartOptions {
    /// Tool results that say they failed.
    pub(crate) error_result: Detector,
    /// Model answers cut off while they were calling tools.
    pub(crate) truncated: Detector,
}

/// Whether a detector looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    On,
    Off,
}

/// The policy. It has an opinion only while a hub is attached.
pub(crate) struct SmartHolds {
    pub(crate) options: SmartOptions,
    pub(crate) line: Line,
}

impl Policy for SmartHolds {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        let Some(output) = call.output.as_ref().filter(|_| self.line.is_attached()) else { return Verdict::Pass };
        match self.detect(call.node.kind, output.view(), at) {
            Some(smart) => {
                Verdict::Hold(Hold::debugger(Reason { smart: Some(smart), ..Reason::plain(PauseReason::Breakpoint) }))
            }
            None => Verdict::Pass,
        }
    }

    fn alone(&self) -> Alone {
        Alone::OnlyWatches
    }
}

impl SmartHolds {
    fn detect(&self, kind: NodeKind, output: View<'_>, at: Stop) -> Option<Smart> {
        let found = match (kind, at) {
            (NodeKind::Tool, Stop::After | Stop::Error) if self.options.error_result == Detector::On => {
                let failed = says_failed(output)?;
                // A thrown failure often is an object with nothing but `error` in it: that stop is an ordinary one.
                if at == Stop::Error && failed == Failed::OnlyError {
                    return None;
                }
                Smart { rule: SmartRule::ErrorResult, detail: Some(failed.detail().to_owned()) }
            }
            (NodeKind::Llm, Stop::After) if self.options.truncated == Detector::On => {
                Smart { rule: SmartRule::TruncatedToolCall, detail: Some(cut_off(output)?) }
            }
            _ => return None,
        };
        Some(found)
    }
}

/// How a tool result can say that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    IsError,
    Success,
    ExitCode(&'static str),
    /// An object with nothing but `error` in it.
    OnlyError,
}

impl Failed {
    fn detail(self) -> &'static str {
        match self {
            Failed::IsError => "isError is true",
            Failed::Success => "success is false",
            Failed::ExitCode("exit_code") => "exit_code is not zero",
            Failed::ExitCode("exitCode") => "exitCode is not zero",
            Failed::ExitCode(_) => "exitStatus is not zero",
            Failed::OnlyError => "error is the only key",
        }
    }
}

/// Whether a result says that the tool failed, in one walk over its keys; of a repeated key the last counts.
pub(crate) fn says_failed(output: View<'_>) -> Option<Failed> {
    if output.kind() != Kind::Object {
        return None;
    }
    let (mut keys, mut is_error, mut success, mut error) = (0_usize, false, false, Only::Absent);
    let mut codes = [false; EXIT_CODES.len()];
    for (name, value) in output.pairs() {
        // A repeated `error` is one key; how many others there are makes no difference.
        keys += usize::from(error == Only::Absent || !name.is("error"));
        if name.is("isError") {
            is_error = value.bool() == Some(true);
        } else if name.is("success") {
            success = value.bool() == Some(false);
        } else if name.is("error") {
            error = if value.is_null() || value.bool() == Some(false) { Only::Empty } else { Only::Error };
        } else if let Some((_, code)) = EXIT_CODES.iter().zip(&mut codes).find(|(key, _)| name.is(key)) {
            *code = value.f64().is_some_and(|number| number != 0.0);
        }
    }
    if is_error {
        return Some(Failed::IsError);
    }
    if success {
        return Some(Failed::Success);
    }
    if let Some((key, _)) = EXIT_CODES.iter().zip(codes).find(|(_, code)| *code) {
        return Some(Failed::ExitCode(key));
    }
    (keys == 1 && error == Only::Error).then_some(Failed::OnlyError)
}

#[derive(PartialEq)]
enum Only {
    Absent,
    Empty,
    Error,
}

/// What to say about a model answer that ended before its tool calls did; `None` when it did not.
fn cut_off(output: View<'_>) -> Option<String> {
    let reason = output.get("finishReason")?;
    let reason = ["length", "content-filter"].into_iter().find(|word| reason.is(word))?;
    let calls = output.get("toolCalls").filter(|calls| calls.kind() == Kind::Array)?;
    let mut looked_at = 0_usize;
    let mut unread = 0_usize;
    for call in calls.items().take(INSPECTED) {
        looked_at += 1;
        unread += usize::from(call.get("inputText").is_some_and(|text| text.kind() == Kind::String));
    }
    if looked_at == 0 {
        return None;
    }
    let more = if calls.items().nth(INSPECTED).is_some() { " or more" } else { "" };
    Some(format!("finishReason {reason}, {looked_at}{more} tool calls, {unread} of them with text for input"))
}

const EXIT_CODES: [&str; 3] = ["exit_code", "exitCode", "exitStatus"];

const INSPECTED: usize = 256;

#[cfg(test)]
mod tests;

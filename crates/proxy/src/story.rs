//! What viewers are told: the run, its session, the folded protocol group, and one execution per call. Makes events and
//! nothing else; in which order they leave is the exchange's business.

mod label;
pub(crate) mod record;
mod words;

use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Call, End, Node, Stop};
use lockgate_protocol::debug::{
    ErrorInfo, Event, Extra, GraphHint, GraphNodeHint, NodeError, NodeFinished, NodeKind, NodeStarted, RunFinished,
    RunId, RunStarted, RunStatus, SdkInfo,
};
use lockgate_protocol::json::Raw;
use lockgate_protocol::mcp::{Era, Meta};
use lockgate_protocol::rpc::Id;

use crate::exchange::Action;
use crate::mapping::{Place, Subject, node};
use crate::side::Side;
use record::Answerer;
use words::Words;

pub use label::{Command, Shown};

/// The events of one session.
#[derive(Debug)]
pub(crate) struct Story {
    run: RunId,
    words: Words,
    began: Duration,
    session: Arc<Node>,
    group: Arc<Node>,
    /// Since when the protocol group is open.
    group_began: Option<Duration>,
    executions: u64,
    protocol_calls: u64,
    protocol_errors: u64,
    ended: bool,
}

/// One execution of a node, from its start to its end.
#[derive(Debug)]
pub(crate) struct Exec {
    /// What stands at the gate for it, without what came back.
    pub(crate) call: Call,
    pub(crate) era: Era,
    pub(crate) began: Duration,
    pub(crate) retries: u64,
    pub(crate) rounds: u64,
    place: Place,
    answerer: Answerer,
}

/// What an execution begins with.
pub(crate) struct Start<'a> {
    pub(crate) subject: Subject,
    pub(crate) from: Side,
    pub(crate) method: &'a str,
    pub(crate) came: Came<'a>,
    pub(crate) params: Option<&'a Raw>,
    pub(crate) meta: Meta<'a>,
    pub(crate) era: Era,
    pub(crate) packing: Packing,
    /// Another parent than its place has.
    pub(crate) parent: Option<Arc<str>>,
}

/// As what something came.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Came<'a> {
    Request(&'a Id),
    Notification,
    /// Inside another message, or as no message at all.
    Within,
}

/// Whether a message came alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Alone,
    Batched,
}

/// How an execution ended.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) status: RunStatus,
    pub(crate) output: Option<Raw>,
    pub(crate) error: Option<ErrorInfo>,
    /// Answered by hand, at this stop.
    pub(crate) injected: Option<Stop>,
    /// The asker gave up after so long.
    pub(crate) cancelled: Option<Duration>,
}

impl Finish {
    pub(crate) fn new(status: RunStatus) -> Finish {
        Finish { status, output: None, error: None, injected: None, cancelled: None }
    }
}

impl Story {
    pub(crate) fn new(run: RunId) -> Story {
        Story {
            run,
            words: Words::new(),
            began: Duration::ZERO,
            session: Arc::new(node(SESSION, NodeKind::Server, "mcp session")),
            group: Arc::new(node(GROUP, NodeKind::Custom, "protocol")),
            group_began: None,
            executions: 0,
            protocol_calls: 0,
            protocol_errors: 0,
            ended: false,
        }
    }

    /// The run and its session begin.
    pub(crate) fn begin(&mut self, command: &Command, sdk: SdkInfo, at: Duration, out: &mut Vec<Action>) {
        self.began = at;
        let label = command.label();
        self.session = Arc::new(node(SESSION, NodeKind::Server, &label));
        out.push(Action::Emit(Event::RunStarted(RunStarted {
            app: command.app(),
            sdk,
            meta: Some(command.meta()),
            extra: Vec::new(),
        })));
        self.announce(Arc::clone(&self.session.name), out);
        out.push(Action::Emit(Event::NodeStarted(NodeStarted {
            node_id: Arc::clone(&self.session.id),
            parent_id: None,
            kind: self.session.kind,
            name: Arc::clone(&self.session.name),
            instance_id: Arc::clone(&self.session.id),
            input: Some(command.input()),
            collapsed: None,
            redaction: None,
            extra: vec![("transport", self.words.stdio.clone())],
        })));
    }

    /// The server said who it is.
    pub(crate) fn server_named(&mut self, name: &str, out: &mut Vec<Action>) {
        self.announce(name.into(), out);
    }

    fn announce(&self, name: Arc<str>, out: &mut Vec<Action>) {
        let hint =
            GraphNodeHint { node_id: Arc::clone(&self.session.id), kind: self.session.kind, name, parent_id: None };
        out.push(Action::Emit(Event::GraphHint(GraphHint { nodes: vec![hint], ..GraphHint::default() })));
    }

    /// An execution begins.
    pub(crate) fn start(&mut self, start: &Start<'_>, at: Duration, out: &mut Vec<Action>) -> Exec {
        let instance = self.instance();
        let node = &start.subject.node;
        let parent = self.parent(start, at, out);
        if !self.ended {
            out.push(Action::Emit(Event::NodeStarted(NodeStarted {
                node_id: Arc::clone(&node.id),
                parent_id: Some(parent),
                kind: node.kind,
                name: Arc::clone(&node.name),
                instance_id: Arc::clone(&instance),
                input: start.params.cloned(),
                collapsed: None,
                redaction: None,
                extra: self.words.started(start),
            })));
        }
        let mut call = Call::new(self.run.clone(), Arc::clone(node));
        call.instance = Some(instance);
        call.input = start.params.cloned();
        call.mark = Some(("era", start.era.as_str()));
        Exec {
            call,
            era: start.era,
            began: at,
            retries: 0,
            rounds: 0,
            place: start.subject.place,
            answerer: Answerer::of(start.method),
        }
    }

    fn instance(&mut self) -> Arc<str> {
        self.executions += 1;
        format!("mcp_{}", self.executions).into()
    }

    fn parent(&mut self, start: &Start<'_>, at: Duration, out: &mut Vec<Action>) -> Arc<str> {
        match start.subject.place {
            Place::Work => start.parent.clone().unwrap_or_else(|| Arc::clone(&self.session.id)),
            Place::Protocol => {
                self.protocol_calls += 1;
                let group = self.group(at, out);
                start.parent.clone().unwrap_or(group)
            }
        }
    }

    /// The protocol group, which begins with the first frame that belongs into it.
    fn group(&mut self, at: Duration, out: &mut Vec<Action>) -> Arc<str> {
        if self.group_began.is_none() && !self.ended {
            self.group_began = Some(at);
            out.push(Action::Emit(Event::NodeStarted(NodeStarted {
                node_id: Arc::clone(&self.group.id),
                parent_id: Some(Arc::clone(&self.session.id)),
                kind: self.group.kind,
                name: Arc::clone(&self.group.name),
                instance_id: Arc::clone(&self.group.id),
                input: None,
                collapsed: Some(true),
                redaction: None,
                extra: Vec::new(),
            })));
        }
        Arc::clone(&self.group.id)
    }

    /// Something about an execution went wrong, or is to be remarked; it may still end well.
    pub(crate) fn error(&mut self, exec: &Exec, error: ErrorInfo, out: &mut Vec<Action>) {
        if self.ended {
            return;
        }
        if exec.place == Place::Protocol {
            self.protocol_errors += 1;
        }
        out.push(Action::Emit(Event::NodeError(NodeError {
            node_id: Arc::clone(&exec.call.node.id),
            instance_id: exec.call.instance.clone(),
            error,
            held_ms: None,
            extra: vec![("era", self.words.era(exec.era))],
        })));
    }

    /// An execution ends.
    pub(crate) fn finish(&self, exec: Exec, finish: Finish, at: Duration, out: &mut Vec<Action>) {
        if self.ended {
            return;
        }
        out.push(Action::Emit(Event::NodeFinished(NodeFinished {
            node_id: Arc::clone(&exec.call.node.id),
            instance_id: exec.call.instance.clone(),
            output: finish.output.as_ref().map(|output| record::output(output, exec.answerer)),
            usage: None,
            duration_ms: millis(at.saturating_sub(exec.began)),
            held_ms: None,
            status: finish.status,
            redaction: None,
            extra: self.words.finished(&exec, &finish),
        })));
        let end = End { status: finish.status, output: finish.output, error: finish.error };
        out.push(Action::Finished(Box::new((exec.call, end))));
    }

    /// An execution that is over as soon as it began, only to carry a remark.
    pub(crate) fn remark(&mut self, node: Arc<Node>, about: Remark<'_>, at: Duration, out: &mut Vec<Action>) {
        let params = about.text.map(Raw::string);
        let start = Start {
            subject: Subject { node, place: Place::Protocol },
            from: about.from,
            method: "",
            came: Came::Within,
            params: params.as_ref(),
            meta: Meta::default(),
            era: about.era,
            packing: Packing::Alone,
            parent: None,
        };
        let exec = self.start(&start, at, out);
        let error = about.error;
        self.error(&exec, error.clone(), out);
        self.finish(exec, Finish { error: Some(error), ..Finish::new(RunStatus::Error) }, at, out);
    }

    /// Something about the session as a whole went wrong.
    pub(crate) fn session_error(&self, error: ErrorInfo, out: &mut Vec<Action>) {
        out.push(Action::Emit(Event::NodeError(NodeError {
            node_id: Arc::clone(&self.session.id),
            instance_id: Some(Arc::clone(&self.session.id)),
            error,
            held_ms: None,
            extra: Vec::new(),
        })));
    }

    /// The protocol group, the session and the run end; nothing is told afterwards.
    pub(crate) fn end(&mut self, end: &SessionEnd, at: Duration, out: &mut Vec<Action>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let status = if end.error.is_some() { RunStatus::Error } else { RunStatus::Ok };
        if let Some(began) = self.group_began {
            let output = Raw::object(|w| {
                w.u64("calls", self.protocol_calls).u64("errors", self.protocol_errors).u64("stdoutNoise", end.noise);
            });
            out.push(closed(&self.group, RunStatus::Ok, output, at.saturating_sub(began)));
        }
        let output = Raw::object(|w| {
            match end.exit_code {
                Some(code) => w.i64("exitCode", code.into()),
                None => w.null("exitCode"),
            };
            match &end.signal {
                Some(signal) => w.str("signal", signal),
                None => w.null("signal"),
            };
        });
        out.push(closed(&self.session, status, output, at.saturating_sub(self.began)));
        let finished = RunFinished { status, error: end.error.clone(), extra: Vec::new() };
        out.push(Action::Emit(Event::RunFinished(finished)));
    }
}

/// Something worth a node of its own that is over at once.
pub(crate) struct Remark<'a> {
    pub(crate) from: Side,
    pub(crate) era: Era,
    pub(crate) text: Option<&'a str>,
    pub(crate) error: ErrorInfo,
}

/// How the session ended.
#[derive(Debug, Default)]
pub(crate) struct SessionEnd {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<String>,
    pub(crate) noise: u64,
    /// Why it failed, if it did.
    pub(crate) error: Option<ErrorInfo>,
}

/// An error without a stack.
pub(crate) fn error_info(name: impl Into<String>, message: impl Into<String>) -> ErrorInfo {
    ErrorInfo { name: name.into(), message: message.into(), stack: None }
}

fn closed(node: &Node, status: RunStatus, output: Raw, took: Duration) -> Action {
    Action::Emit(Event::NodeFinished(NodeFinished {
        node_id: Arc::clone(&node.id),
        instance_id: Some(Arc::clone(&node.id)),
        output: Some(output),
        usage: None,
        duration_ms: millis(took),
        held_ms: None,
        status,
        redaction: None,
        extra: Extra::new(),
    }))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The node of the session.
pub(crate) const SESSION: &str = "mcp:session";
const GROUP: &str = "mcp:protocol";

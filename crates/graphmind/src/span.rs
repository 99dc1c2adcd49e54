//! A span: one node of a run around any async function, with a gate before it, after it and where it fails (wire §6.4).

use std::error::Error;
use std::sync::Arc;

use lockgate_gate::{Actions, Call, Edit, End, Node, Outcome, Refused, Stop};
use lockgate_protocol::debug::{ErrorInfo, Event, Extra, NodeError, NodeFinished, NodeKind, NodeStarted, RunStatus};
use lockgate_protocol::json::Raw;
use tokio::time::Instant;

use crate::context::Context;
use crate::session::Session;
use crate::stop::{Failure, Stopped};

/// What a span is called, what it is given, and what viewers may do to it.
#[derive(Clone)]
pub struct Span {
    /// Its node.
    pub node: Arc<Node>,
    /// Shown, matched against, and handed to the function as edited.
    pub input: Option<Raw>,
    /// Tells parallel executions of the node apart; made up if absent.
    pub instance: Option<Arc<str>>,
    /// How an edited input is checked; `None`: it cannot be edited.
    pub edit: Option<Edit>,
    /// What a viewer cannot do here.
    pub unsupported: Actions,
    /// Loose fields of its `node.started`.
    pub started: Extra,
    /// Loose fields of its `node.finished`.
    pub finished: Extra,
}

impl Span {
    /// Node `<kind>:<name>`, without input.
    pub fn new(kind: NodeKind, name: &str) -> Span {
        Span::of(Arc::new(Node { id: format!("{kind}:{name}").into(), kind, name: name.into() }))
    }

    /// An execution of `node`, without input.
    pub fn of(node: Arc<Node>) -> Span {
        Span {
            node,
            input: None,
            instance: None,
            edit: None,
            unsupported: Actions::NONE,
            started: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// With this input.
    #[must_use]
    pub fn input(mut self, input: Raw) -> Span {
        self.input = Some(input);
        self
    }
}

/// How results and errors of a function look on the wire and come back from it.
pub struct Shape<T, E> {
    /// What viewers see of a result; `None`: nothing.
    pub write: fn(&T) -> Option<Raw>,
    /// A result from what was injected, absent when a viewer injected nothing.
    pub read: fn(Option<&Raw>) -> Result<T, String>,
    /// What viewers see of an error.
    pub describe: fn(&E) -> Failure,
}

impl<E: Error + 'static> Shape<Raw, E> {
    /// Results that are JSON already; an absent one is `null`.
    pub fn json() -> Shape<Raw, E> {
        Shape {
            write: |output| Some(output.clone()),
            read: |injected| Ok(injected.cloned().unwrap_or_else(Raw::null)),
            describe: Failure::of,
        }
    }
}

impl Session {
    /// Runs `work` as a node of the current run, as often as viewers ask for. It is given the input, edited or not.
    ///
    /// # Errors
    /// Those of `work`, and [`Stopped`] when the gate does not let it go on.
    pub async fn span<E, F>(&self, span: Span, work: impl FnMut(Option<Raw>) -> F) -> Result<Raw, E>
    where
        E: Error + From<Stopped> + 'static,
        F: Future<Output = Result<Raw, E>>,
    {
        self.span_as(span, Shape::json(), work).await
    }

    /// As [`Session::span`], for results and errors of any type.
    ///
    /// # Errors
    /// Those of `work`, and [`Stopped`] when the gate does not let it go on.
    pub async fn span_as<T, E, F>(
        &self,
        span: Span,
        shape: Shape<T, E>,
        mut work: impl FnMut(Option<Raw>) -> F,
    ) -> Result<T, E>
    where
        E: From<Stopped>,
        F: Future<Output = Result<T, E>>,
    {
        if self.is_idle() {
            return work(span.input).await;
        }
        let context = self.here();
        let inside = context.within(&span.node.id);
        let mut execution = Execution::begin(self, &context, span);
        loop {
            match execution.pass(Stop::Before).await {
                Ok(Going::On(_) | Going::Again) => {}
                Err(way) => return execution.leave(way, &shape),
            }
            let result = inside.clone().scope(work(execution.call.input.clone())).await;
            let at = match &result {
                Ok(output) => {
                    execution.call.output = (shape.write)(output);
                    Stop::After
                }
                Err(error) => {
                    let failure = (shape.describe)(error);
                    if failure.status == RunStatus::Aborted && context.abort().is_cancelled() {
                        execution.end(RunStatus::Aborted, Vec::new());
                        return result;
                    }
                    execution.fail(failure.info);
                    Stop::Error
                }
            };
            match execution.pass(at).await {
                Ok(Going::On(None)) => {
                    execution.end(if result.is_ok() { RunStatus::Ok } else { RunStatus::Error }, Vec::new());
                    return result;
                }
                Ok(Going::On(Some(amended))) => return execution.answer(Some(&amended), &shape, Vec::new()),
                Ok(Going::Again) => (execution.call.output, execution.call.error) = (None, None),
                Err(way) => return execution.leave(way, &shape),
            }
        }
    }
}

/// One execution of a node, from its start to its end.
struct Execution<'s> {
    session: &'s Session,
    /// As the gate left it: an edit stays for later attempts.
    call: Call,
    began: Instant,
    loose: Extra,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    Ended,
}

/// The gate let it pass.
enum Going {
    /// With what a policy put in place, if one did.
    On(Option<Raw>),
    Again,
}

/// The gate did not let it pass.
enum Way {
    Answer(Option<Raw>, Stop),
    Refuse(Refused),
}

impl<'s> Execution<'s> {
    fn begin(session: &'s Session, context: &Context, span: Span) -> Execution<'s> {
        let instance = span.instance.unwrap_or_else(|| session.instance());
        let started = session.tap().emit(
            context.run(),
            Event::NodeStarted(NodeStarted {
                node_id: Arc::clone(&span.node.id),
                parent_id: context.parent().cloned(),
                kind: span.node.kind,
                name: Arc::clone(&span.node.name),
                instance_id: Arc::clone(&instance),
                input: span.input.clone(),
                collapsed: None,
                redaction: None,
                extra: span.started,
            }),
        );
        let call = Call {
            instance: Some(instance),
            started,
            input: span.input,
            edit: span.edit,
            unsupported: span.unsupported,
            ..Call::new(context.run().clone(), span.node)
        };
        Execution { session, call, began: Instant::now(), loose: span.finished, state: State::Open }
    }

    async fn pass(&mut self, at: Stop) -> Result<Going, Way> {
        match self.session.gate().pass(self.call.clone(), at).await {
            Outcome::Go(passed) => {
                let amended = passed.amended().cloned();
                self.call = passed.into_inner();
                Ok(Going::On(amended))
            }
            Outcome::Again(passed) => {
                self.call = passed.into_inner();
                Ok(Going::Again)
            }
            Outcome::Answer(injected) => Err(Way::Answer(injected, at)),
            Outcome::Refuse(refused) => Err(Way::Refuse(refused)),
        }
    }

    fn fail(&mut self, error: ErrorInfo) {
        self.session.tap().emit(
            &self.call.run,
            Event::NodeError(NodeError {
                node_id: Arc::clone(&self.call.node.id),
                instance_id: self.call.instance.clone(),
                error: error.clone(),
                held_ms: None,
                extra: Vec::new(),
            }),
        );
        self.call.error = Some(Box::new(error));
    }

    /// Ends without the function's own result.
    fn leave<T, E: From<Stopped>>(&mut self, way: Way, shape: &Shape<T, E>) -> Result<T, E> {
        let refused = match way {
            Way::Answer(injected, at) => {
                let at = Raw::string(at.point().as_str());
                return self.answer(injected.as_ref(), shape, vec![("injected", Raw::bool(true)), ("injectedAt", at)]);
            }
            Way::Refuse(refused) => refused,
        };
        match &refused {
            Refused::Aborted => self.end(RunStatus::Aborted, Vec::new()),
            Refused::Cancelled => self.end(RunStatus::Aborted, vec![("cancelled", Raw::bool(true))]),
            Refused::Policy(refusal) => {
                self.call.output = None;
                self.fail(ErrorInfo { name: "Refused".to_owned(), message: refusal.message.clone(), stack: None });
                self.end(RunStatus::Error, Vec::new());
            }
        }
        Err(Stopped::from(refused).into())
    }

    /// Ends with a value from outside, which must read as a result.
    fn answer<T, E: From<Stopped>>(&mut self, value: Option<&Raw>, shape: &Shape<T, E>, loose: Extra) -> Result<T, E> {
        match (shape.read)(value) {
            Ok(result) => {
                self.call.output = (shape.write)(&result);
                self.end(RunStatus::Ok, loose);
                Ok(result)
            }
            Err(why) => {
                let stopped = Stopped::Unfit(why);
                self.call.output = None;
                self.fail(ErrorInfo { name: "Unfit".to_owned(), message: stopped.to_string(), stack: None });
                self.end(RunStatus::Error, loose);
                Err(stopped.into())
            }
        }
    }

    fn end(&mut self, status: RunStatus, mut loose: Extra) {
        self.state = State::Ended;
        let error = if status == RunStatus::Ok { None } else { self.call.error.take().map(|error| *error) };
        let output = self.call.output.take();
        loose.append(&mut self.loose);
        self.session.tap().emit(
            &self.call.run,
            Event::NodeFinished(NodeFinished {
                node_id: Arc::clone(&self.call.node.id),
                instance_id: self.call.instance.clone(),
                output: output.clone(),
                usage: None,
                duration_ms: self.began.elapsed().as_secs_f64() * 1_000.0,
                held_ms: None,
                status,
                redaction: None,
                extra: loose,
            }),
        );
        self.session.gate().finished(&self.call, &End { status, output, error });
    }
}

impl Drop for Execution<'_> {
    /// A future that is dropped in the middle is a call that was taken away; it would look alive for good otherwise.
    fn drop(&mut self) {
        if self.state == State::Open {
            self.end(RunStatus::Aborted, Vec::new());
        }
    }
}

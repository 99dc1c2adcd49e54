//! Runs: one execution of the program's own making, reported from start to end (wire §2.5).

use std::error::Error;

use lockgate_protocol::debug::{ErrorInfo, Event, RunFinished, RunStarted, RunStatus};
use lockgate_protocol::json::Raw;

use crate::context::Context;
use crate::session::Session;
use crate::stop::Failure;

/// What a run is called and what is known about it before it starts.
#[derive(Clone, Debug)]
pub struct RunStart {
    /// Shown as the name of the run.
    pub name: String,
    /// Members of its `meta`, over those of the session.
    pub meta: Vec<(String, Raw)>,
}

impl RunStart {
    /// A run of this name.
    pub fn named(name: impl Into<String>) -> RunStart {
        RunStart { name: name.into(), meta: Vec::new() }
    }
}

impl Session {
    /// Runs `work` as a run of its own, nested or not. What it returns is passed on untouched.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn run<T, E, F>(&self, name: impl Into<String>, work: F) -> Result<T, E>
    where
        E: Error + 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.run_as(RunStart::named(name), Failure::of, work).await
    }

    /// As [`Session::run`], with more to say about it, and for errors that need to be described.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn run_as<T, E, F>(&self, start: RunStart, describe: impl Fn(&E) -> Failure, work: F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let context = self.enter(&start.name);
        self.started(&context, &start.meta);
        let mut reported = Reported { session: self, context: context.clone(), ended: None };
        let result = context.scope(work).await;
        reported.ended = Some(match &result {
            Ok(_) => (RunStatus::Ok, None),
            Err(error) => {
                let Failure { info, status } = describe(error);
                (status, Some(info))
            }
        });
        result
    }

    /// Announces a run; `meta` comes over that of the session.
    pub(crate) fn started(&self, context: &Context, meta: &[(String, Raw)]) {
        let settings = self.settings();
        let mut members = vec![("name", Raw::string(context.name()))];
        for (key, value) in settings.meta.iter().chain(meta) {
            match members.iter_mut().find(|(known, _)| known == key) {
                Some((_, place)) => place.clone_from(value),
                None => members.push((key, value.clone())),
            }
        }
        let meta = Raw::object(|w| {
            for (key, value) in &members {
                w.raw(key, value);
            }
        });
        let (app, sdk) = (settings.app.clone(), settings.sdk.clone());
        let event = RunStarted { app, sdk, meta: Some(meta), extra: Vec::new() };
        self.tap().emit(context.run(), Event::RunStarted(event));
    }

    /// Reports the end of a run, once.
    pub(crate) fn ended(&self, context: &Context, status: RunStatus, error: Option<ErrorInfo>) {
        self.forget(context.run());
        let event = RunFinished { status, error, extra: Vec::new() };
        self.tap().emit(context.run(), Event::RunFinished(event));
    }
}

/// Reports the end of the run when it goes out of scope, also when the future around it is dropped: a run that nobody
/// finishes would look alive in every viewer for good.
struct Reported<'s> {
    session: &'s Session,
    context: Context,
    ended: Option<(RunStatus, Option<ErrorInfo>)>,
}

impl Drop for Reported<'_> {
    fn drop(&mut self) {
        let (status, error) = self.ended.take().unwrap_or((RunStatus::Aborted, None));
        let status = if self.context.abort().is_cancelled() { RunStatus::Aborted } else { status };
        self.session.ended(&self.context, status, error);
    }
}

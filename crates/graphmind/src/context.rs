//! The run a piece of code belongs to: task-local, so that nested functions find it without being told.

use std::sync::Arc;

use lockgate_protocol::debug::RunId;
use tokio_util::sync::CancellationToken;

tokio::task_local! {
    static HERE: Context;
}

/// A run, and the node one stands in. Cheap to clone.
///
/// It does not follow into spawned tasks by itself; take it along with [`Context::scope`].
#[derive(Clone, Debug)]
pub struct Context {
    run: Arc<Run>,
    parent: Option<Arc<str>>,
}

#[derive(Debug)]
struct Run {
    session: u64,
    id: RunId,
    name: Arc<str>,
    abort: CancellationToken,
}

impl Context {
    pub(crate) fn new(session: u64, id: RunId, name: &str) -> Context {
        let run = Run { session, id, name: name.into(), abort: CancellationToken::new() };
        Context { run: Arc::new(run), parent: None }
    }

    /// Where the running code stands; `None` outside of any run.
    pub fn current() -> Option<Context> {
        HERE.try_with(Context::clone).ok()
    }

    /// Of this session only: several may live in one program.
    pub(crate) fn current_of(session: u64) -> Option<Context> {
        Context::current().filter(|context| context.run.session == session)
    }

    /// Runs `work` as part of this run.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        HERE.scope(self, work).await
    }

    /// Id of the run.
    pub fn run(&self) -> &RunId {
        &self.run.id
    }

    /// Name of the run.
    pub fn name(&self) -> &str {
        &self.run.name
    }

    /// Fires when somebody aborts the run in the debugger; firing it aborts the run as well.
    pub fn abort(&self) -> &CancellationToken {
        &self.run.abort
    }

    /// The node around the running code.
    pub fn parent(&self) -> Option<&Arc<str>> {
        self.parent.as_ref()
    }

    /// The same run, inside of `node`.
    pub(crate) fn within(&self, node: &Arc<str>) -> Context {
        Context { run: Arc::clone(&self.run), parent: Some(Arc::clone(node)) }
    }
}

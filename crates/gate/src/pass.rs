//! The single door: asks the policies, lets the call stand if one of them says so, answers how it goes on.

mod check;
mod room;
mod waiter;
mod walk;

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use lockgate_protocol::debug::{ExecResume, Matcher, RunMode};

use crate::breakpoint::Breakpoints;
use crate::call::{Call, End, Outcome, Passed, Stop};
use crate::config::GateConfig;
use crate::hold::{Held, Input, Revisit};
use crate::policy::{Alone, Policy};
use crate::presence::Presence;
use room::Room;
use walk::{Hits, Walk};

/// Where calls stand still. A clone is the same gate.
///
/// A hold needs a tokio runtime with time; a call that nothing holds needs none.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    policies: Vec<Arc<dyn Policy>>,
    breakpoints: Breakpoints,
    room: Room,
    on_abort: Arc<dyn Fn(&Call) + Send + Sync>,
    /// Whether a hub answered; only a hint, the room decides.
    attached: AtomicBool,
    /// What the policies together do while none has.
    alone: Alone,
}

impl Gate {
    /// A gate that nobody watches yet.
    #[must_use]
    pub fn new(config: GateConfig) -> Self {
        let objects = config.policies.iter().any(|policy| policy.alone() == Alone::MayObject);
        Self(Arc::new(Inner {
            alone: if objects { Alone::MayObject } else { Alone::OnlyWatches },
            breakpoints: Breakpoints::new(config.hidden.clone(), Arc::clone(&config.warn)),
            room: Room::new(&config),
            policies: config.policies,
            on_abort: config.on_abort,
            attached: AtomicBool::new(false),
        }))
    }

    /// Takes a call through the gate. Nothing holds it: ready at once, without allocation.
    ///
    /// Policies are asked at the first poll. Dropping the future releases the hold: a hold of the debugger with its
    /// unattended release, a guarded one with abort.
    pub fn pass(&self, call: Call, at: Stop) -> Pass<'_> {
        Pass { gate: &self.0, way: Way::Fresh(call, at) }
    }

    /// Tells the policies that an attempt ended.
    pub fn finished(&self, call: &Call, end: &End) {
        for policy in &self.0.policies {
            policy.finished(call, end);
        }
    }

    /// Who is at the other end from now on. Detached forgets breakpoints and mode, then releases every hold (wire §2.2).
    pub fn presence(&self, presence: Presence) {
        self.0.attached.store(presence.is_attached(), Ordering::Relaxed);
        if !presence.is_attached() {
            self.0.breakpoints.reset();
        }
        self.0.room.step(Input::Presence(presence));
    }

    /// Whether a hub answered, so that preparing what only a debugger needs is worth it.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.0.attached.load(Ordering::Relaxed)
    }

    /// Whether nothing can be held, refused or amended right now: no hub is attached and no policy objects without one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.alone == Alone::OnlyWatches && !self.is_attached()
    }

    /// Replaces all breakpoints and the mode, as every `hello.ack` does (wire §1.7).
    pub fn arm(&self, matchers: Vec<Matcher>, mode: RunMode) {
        self.0.breakpoints.arm(matchers, mode);
    }

    /// Adds a breakpoint; an equal one stays, with its count.
    pub fn set(&self, matcher: Matcher) {
        self.0.breakpoints.set(matcher);
    }

    /// Removes the equal breakpoint (wire §1.6).
    pub fn clear(&self, matcher: &Matcher) {
        self.0.breakpoints.clear(matcher);
    }

    /// Run or step.
    pub fn mode(&self, mode: RunMode) {
        self.0.breakpoints.mode(mode);
    }

    /// A viewer's answer to a hold (wire §3.2). An unknown pause is ignored.
    pub fn resume(&self, resume: ExecResume) {
        self.0.room.step(Input::Resume(resume));
    }

    /// Has every guarded hold looked at, when its policy learnt something new. `look` must not call the gate.
    pub fn revisit(&self, look: impl Fn(&Held<'_>) -> Revisit) {
        self.0.room.revisit(look);
    }

    /// How many calls stand.
    #[must_use]
    pub fn held(&self) -> usize {
        self.0.room.held()
    }

    /// Releases every hold as if nobody came.
    pub fn release_all(&self) {
        self.0.room.step(Input::ReleaseAll);
    }

    /// Releases every hold and never again makes one. Policies go on refusing what they refuse.
    pub fn dispose(&self) {
        self.0.attached.store(false, Ordering::Relaxed);
        self.0.breakpoints.reset();
        self.0.room.step(Input::Dispose);
    }
}

/// A call on its way through a gate: [`Gate::pass`].
///
/// Written out by hand, so that a call that is not held is moved as seldom as possible.
#[must_use = "a call that is not polled does not pass"]
pub struct Pass<'g> {
    gate: &'g Arc<Inner>,
    way: Way<'g>,
}

/// A box around every fresh call would be the allocation this is to avoid.
enum Way<'g> {
    Fresh(Call, Stop),
    Objected(Pin<Box<dyn Future<Output = Outcome> + Send + 'g>>),
    Over,
}

impl Future for Pass<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let gate = self.gate;
        match &mut self.way {
            Way::Fresh(call, at) => {
                let objection = gate.object(call, *at, (0, Hits::Due));
                let Way::Fresh(call, at) = mem::replace(&mut self.way, Way::Over) else { return Poll::Pending };
                match objection {
                    None => Poll::Ready(Outcome::Go(Passed::new(call, None))),
                    Some(objection) => {
                        self.way = Way::Objected(Box::pin(Walk::new(call, at).stand(gate, objection)));
                        self.poll(context)
                    }
                }
            }
            Way::Objected(walk) => walk.as_mut().poll(context),
            Way::Over => Poll::Pending,
        }
    }
}

//! The one actor that owns the live truth: who is attached, who owns which run, what stands still, who looks on. Everything
//! else asks it or tells it; it waits for nothing but its own inputs.

pub(crate) mod apps;
mod intake;
mod owed;
mod polls;
pub(crate) mod records;
mod settle;
mod timers;
mod viewers;
mod wishes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lockgate_protocol::debug::{Control, Principal};
use lockgate_runs::writer::Done;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::apps::Apps;
pub(crate) use self::intake::{Arrival, First, Greeting};
use self::owed::Owed;
pub(crate) use self::polls::Poll;
use self::polls::Polls;
pub(crate) use self::records::Introduction;
use self::records::{Names, Records};
use self::settle::Unkept;
use self::timers::Timers;
pub(crate) use self::viewers::Joined;
use self::viewers::Viewers;
pub(crate) use self::wishes::{Asker, RequestId, Wanted};
use crate::breakpoints::Breakpoints;
use crate::claims::Claims;
use crate::feed::{Feed, ViewerId};
use crate::pauses::{AppId, House, Key, Pauses, WaiterId};
use crate::storage::Pending;
use crate::store::{Liveness, Run, StoredEvent};
use crate::throttle::Throttle;
use crate::watch::Watch;

/// What connections hold of the actor.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    /// Full: the program waits at its socket, and its queue grows over there.
    pub(crate) apps: mpsc::Sender<FromApp>,
    /// Full: whoever asks waits.
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) names: Names,
}

/// From a program's connection, in the order it came.
#[derive(Debug)]
pub(crate) enum FromApp {
    Hello { app: AppId, greeting: Box<Greeting> },
    Frames { app: AppId, arrivals: Vec<Arrival> },
    Gone { app: AppId },
}

/// From viewers, HTTP and the hub's own housekeeping.
#[derive(Debug)]
pub(crate) enum Command {
    ViewerCame {
        principal: Principal,
        feed: Arc<Feed>,
        reply: oneshot::Sender<ViewerId>,
    },
    ViewerLeft(ViewerId),
    /// `run` absent: the list of runs.
    Subscribe {
        viewer: ViewerId,
        run: Option<Arc<str>>,
        after: Option<u64>,
        known: Option<Box<Introduction>>,
    },
    Unsubscribe {
        viewer: ViewerId,
        run: Option<Arc<str>>,
    },
    /// A viewer has everything up to `after` and wants the rest as it comes.
    Join {
        viewer: ViewerId,
        run: Arc<str>,
        turn: u64,
        after: u64,
        reply: oneshot::Sender<Joined>,
    },
    State(ViewerId),
    Control {
        viewer: ViewerId,
        control: Control,
    },
    Resume {
        wanted: Box<Wanted>,
        asker: Asker,
    },
    Poll(Box<Poll>),
    /// Runs that differ from their rows: owned, held, or not written yet.
    Overlay(oneshot::Sender<Vec<(Run, Liveness)>>),
    /// Whether a pause is open here, and in which words.
    PauseState(Key, oneshot::Sender<Option<&'static str>>),
    /// Answered when the store shows readers all that was shown of the run; with what a failing one has missed of it.
    Readable(Arc<str>, oneshot::Sender<Option<Behind>>),
    Health(oneshot::Sender<Health>),
    /// Runs that were running when the hub began; answered when the store has followed.
    Reconcile {
        runs: Vec<Arc<str>>,
        reply: oneshot::Sender<()>,
    },
    /// Runs that were removed from the store.
    Pruned(Vec<Arc<str>>),
}

/// A run whose store is behind: how it stands, and which of its events the store has missed.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    pub(crate) run: Run,
    pub(crate) missed: Vec<StoredEvent>,
}

/// How the store does.
#[derive(Debug)]
pub(crate) struct Health {
    /// Why it keeps nothing at the moment.
    pub(crate) failure: Option<Arc<str>>,
    /// Events that were shown and will never be kept.
    pub(crate) lost: u64,
}

/// The time, both ways.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: Instant,
    pub(crate) wall_ms: u64,
}

impl Clock {
    pub(crate) fn read() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { now: Instant::now(), wall_ms: u64::try_from(wall.as_millis()).unwrap_or(0) }
    }
}

/// What the actor begins with.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) house: House,
    pub(crate) breakpoints: Breakpoints,
    pub(crate) claims: Claims,
    pub(crate) grace: Duration,
    /// As `welcome` tells it.
    pub(crate) version: Arc<str>,
    pub(crate) hub_capabilities: Vec<String>,
}

/// All of the live truth.
pub(crate) struct State {
    setup: Setup,
    apps: Apps,
    records: Records,
    pauses: Pauses,
    watch: Watch,
    viewers: Viewers,
    polls: Polls,
    /// Who is told how a resume ended.
    askers: HashMap<WaiterId, (Asker, Arc<str>)>,
    timers: Timers,
    /// Runs whose counts changed since viewers were told.
    dirty: HashSet<Arc<str>>,
    pending: Pending,
    unkept: Unkept,
    owed: Owed,
    /// Runs of an earlier hub that nobody came back for, whatever a reader saw of them before.
    orphans: HashSet<Arc<str>>,
    /// Why the store keeps nothing at the moment.
    storage: Option<Arc<str>>,
    reconciled: Vec<oneshot::Sender<()>>,
    throttle: Throttle,
    next: u64,
}

/// The actor's own ends of its channels.
pub(crate) struct Inputs {
    apps: mpsc::Receiver<FromApp>,
    commands: mpsc::Receiver<Command>,
    pub(crate) done: mpsc::Receiver<Done>,
}

impl Live {
    /// The handle, the state, and what feeds it; [`State::run`] is the future.
    pub(crate) fn new(setup: Setup, pending: Pending, done: mpsc::Receiver<Done>) -> (Live, State, Inputs) {
        let (apps, apps_in) = mpsc::channel(32);
        let (commands, commands_in) = mpsc::channel(256);
        let state = State {
            setup,
            apps: Apps::new(),
            records: Records::default(),
            pauses: Pauses::default(),
            watch: Watch::default(),
            viewers: Viewers::default(),
            polls: Polls::default(),
            askers: HashMap::new(),
            timers: Timers::default(),
            dirty: HashSet::new(),
            pending,
            unkept: Unkept::default(),
            owed: Owed::default(),
            orphans: HashSet::new(),
            storage: None,
            reconciled: Vec::new(),
            throttle: Throttle::default(),
            next: 0,
        };
        let live = Live { apps, commands, names: state.records.names() };
        (live, state, Inputs { apps: apps_in, commands: commands_in, done })
    }

    /// Asks and waits for the answer; nothing when the hub is stopping.
    pub(crate) async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(question(reply)).await.ok()?;
        answer.await.ok()
    }
}

/// Answers a question, unless nobody waits for it any more.
fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    if reply.send(answer).is_err() {
        tracing::trace!("an answer came too late");
    }
}

enum Event {
    Done(Done),
    Command(Command),
    App(FromApp),
    Time,
    Stop,
}

impl State {
    /// Runs until told to stop; then answers everybody who waits, and keeps what has arrived.
    pub(crate) async fn run(mut self, mut inputs: Inputs, stop: CancellationToken) {
        loop {
            let event = inputs.next(&self, &stop).await;
            let clock = Clock::read();
            match event {
                Event::Done(done) => self.settle(done, clock),
                Event::Command(command) => self.obey(command, clock),
                Event::App(from) => self.take_in(from, clock),
                Event::Time => {}
                Event::Stop => break,
            }
            self.pass_time(clock);
            self.pending.flush(clock.now);
        }
        let clock = Clock::read();
        self.shut();
        // What was taken in is kept, though nobody is shown it any more.
        while let Ok(from) = inputs.apps.try_recv() {
            self.take_in(from, clock);
        }
        self.drain(&mut inputs, clock).await;
        if !self.owed.runs.is_empty() {
            self.repay(clock);
            self.drain(&mut inputs, clock).await;
            self.owed.part();
        }
        // Dropping the way to the writer lets it commit and end.
    }

    async fn drain(&mut self, inputs: &mut Inputs, clock: Clock) {
        while self.pending.hurry() || self.pending.in_flight() {
            match inputs.done.recv().await {
                Some(done) => self.settle(done, clock),
                None => break,
            }
        }
    }

    fn obey(&mut self, command: Command, clock: Clock) {
        match command {
            Command::ViewerCame { principal, feed, reply } => self.viewer_came(principal, feed, reply, clock),
            Command::ViewerLeft(viewer) => self.viewer_left(viewer, clock),
            Command::Subscribe { viewer, run, after, known } => self.subscribe(viewer, run, after, known),
            Command::Unsubscribe { viewer, run } => self.unsubscribe(viewer, run),
            Command::Join { viewer, run, turn, after, reply } => {
                tell(reply, self.join(viewer, &run, turn, after));
            }
            Command::State(viewer) => self.show_state(viewer),
            Command::Control { viewer, control } => self.arm(viewer, control, clock),
            Command::Resume { wanted, asker } => self.resume(*wanted, asker, clock),
            Command::Poll(poll) => self.poll(*poll, clock),
            Command::Overlay(reply) => tell(reply, self.overlay()),
            Command::PauseState(key, reply) => {
                tell(reply, self.pauses.get(&key).map(crate::pauses::Hold::state));
            }
            Command::Readable(run, reply) => {
                if let Some(reply) = self.unkept.wait(&run, reply) {
                    tell(reply, self.behind(&run));
                }
            }
            Command::Health(reply) => tell(reply, Health { failure: self.storage.clone(), lost: self.owed.lost }),
            Command::Reconcile { runs, reply } => self.reconcile(runs, reply, clock),
            Command::Pruned(runs) => self.pruned(&runs),
        }
    }

    fn overlay(&self) -> Vec<(Run, Liveness)> {
        let differs = |now: Liveness, stored: bool| now.live || now.held > 0 || !stored;
        let all = self.records.iter().filter(|record| !record.is_awaited());
        let all = all.map(|record| (record, self.liveness(&record.run.id, record.owner)));
        let written = |record: &records::Record| {
            record.is_written() && record.ensured && !self.owed.runs.contains(&record.run.id)
        };
        let all = all.filter(|(record, now)| differs(*now, written(record)));
        all.map(|(record, now)| (record.run.clone(), now)).collect()
    }

    fn liveness(&self, run: &str, owner: Option<AppId>) -> Liveness {
        Liveness { live: owner.is_some(), held: self.pauses.held(run) }
    }

    /// A run in memory that nobody needs there any more is forgotten.
    fn forget_idle(&mut self, run: &str) {
        let idle = |record: &records::Record| {
            record.owner.is_none() && record.followers == 0 && record.abandon_at.is_none() && record.is_written()
        };
        if !self.setup.claims.has(run) && !self.owed.runs.contains(run) && self.records.get(run).is_some_and(idle) {
            self.records.remove(run);
        }
    }

    fn shut(&mut self) {
        let answers = self.pauses.shut();
        self.answer(answers);
        self.shut_polls();
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Inputs {
    async fn next(&mut self, state: &State, stop: &CancellationToken) -> Event {
        let deadline = state.next_deadline();
        tokio::select! {
            biased;
            () = stop.cancelled() => Event::Stop,
            Some(done) = self.done.recv() => Event::Done(done),
            Some(command) = self.commands.recv() => Event::Command(command),
            Some(from) = self.apps.recv(), if state.pending.has_room() => Event::App(from),
            () = tokio::time::sleep_until(deadline.unwrap_or_else(far)), if deadline.is_some() => Event::Time,
            else => Event::Stop,
        }
    }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(86_400)
}

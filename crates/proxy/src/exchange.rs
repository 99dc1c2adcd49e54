//! The step: a frame or a decision in, actions out. The same inputs give the same actions; nothing here waits, reads a clock
//! or touches a stream.

mod action;
mod batch;
mod cancel;
mod edit;
mod era;
mod open;
mod question;
mod reply;
mod rounds;
mod schemas;
mod stray;
mod task;
mod telling;

use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::Stop;
use lockgate_protocol::debug::{RunId, SdkInfo};
use lockgate_protocol::json::Raw;
use lockgate_protocol::pending::{Pending, Rounds};
use lockgate_protocol::rpc::{Content, Fate, Frame, Message, Source, Spoken, Unread};

use crate::mapping::Mapping;
use crate::relay::Heard;
use crate::rules::{LIMITS, MOST_OPEN, MOST_ROUNDS, Rules};
use crate::side::{Both, Side};
use crate::story::{Command, Packing, Story};
use batch::{Batch, Groups};
use cancel::Cancels;
use era::Eras;
use open::{Open, Round, Standing};
use schemas::Schemas;
use stray::Tally;
use task::Tasks;

pub(crate) use action::{
    Action, Ask, Asker, Debugger, Decided, Input, Left, Moment, Passage, Patience, Progress, Say, Target,
};

/// The state of one session.
#[derive(Debug)]
pub(crate) struct Exchange {
    rules: Rules,
    story: Story,
    mapping: Mapping,
    eras: Eras,
    /// Open questions by the side that asked.
    asked: Both<Pending<Open>>,
    /// What stands at the gate, by the side its frame came from.
    standing: Both<Option<Work>>,
    rounds: Rounds<Round>,
    tasks: Tasks,
    schemas: Schemas,
    cancels: Cancels,
    groups: Groups,
    tally: Tally,
    /// Bytes kept so that open questions can be asked again.
    kept: usize,
    /// What the client said about itself last.
    client: Option<Raw>,
    heard: Heard,
    /// Whether the frame that is dealt with is still here.
    passage: Passage,
    /// The moment of this step.
    now: Moment,
    /// What this step asks for.
    out: Vec<Action>,
}

/// A frame that is not dealt with yet.
#[derive(Debug)]
struct Work {
    standing: Standing,
    frame: Whole,
    passage: Passage,
}

/// The frame a message came in.
#[derive(Debug)]
enum Whole {
    Single(Bytes),
    Batch(Box<Batch>),
}

/// How far a message is.
enum Course {
    Settled(Settled),
    Stands(Standing, Stop),
}

/// What becomes of a message.
struct Settled {
    fate: Fate,
    /// What its sender gets from us.
    back: Option<Back>,
}

enum Back {
    /// An answer in place of the other side's.
    Answer(Bytes),
    /// A request once more.
    Again(Bytes),
}

impl Settled {
    const KEPT: Settled = Settled { fate: Fate::Keep, back: None };
    const CUT: Settled = Settled { fate: Fate::Cut, back: None };

    fn answered(bytes: Bytes) -> Settled {
        Settled { fate: Fate::Cut, back: Some(Back::Answer(bytes)) }
    }

    fn again(bytes: Bytes) -> Settled {
        Settled { fate: Fate::Cut, back: Some(Back::Again(bytes)) }
    }

    fn replaced(bytes: Bytes) -> Settled {
        Settled { fate: Fate::Replace(bytes), back: None }
    }
}

impl Exchange {
    pub(crate) fn new(run: RunId, rules: Rules) -> Exchange {
        Exchange {
            rules,
            story: Story::new(run),
            mapping: Mapping::default(),
            eras: Eras::default(),
            asked: Both::of(|_| Pending::new(MOST_OPEN)),
            standing: Both::default(),
            rounds: Rounds::new(MOST_ROUNDS),
            tasks: Tasks::default(),
            schemas: Schemas::default(),
            cancels: Cancels::default(),
            groups: Groups::default(),
            tally: Tally::default(),
            kept: 0,
            client: None,
            heard: Heard::Nothing,
            passage: Passage::Waits,
            now: Moment { at: Duration::ZERO, debugger: Debugger::Away },
            out: Vec::new(),
        }
    }

    /// The session begins. What is to be done is added to `out`.
    pub(crate) fn begin(&mut self, command: &Command, sdk: SdkInfo, now: Moment, out: &mut Vec<Action>) {
        self.story.begin(command, sdk, now.at, out);
    }

    /// Whether every frame goes on as it came, as far as what happened before has a say in it: nobody waits for answers that
    /// were given by hand, or for the end of what never began.
    pub(crate) fn is_plain(&self) -> bool {
        !self.cancels.swallows()
            && !self.groups.wait_for_any()
            && self.rounds.iter().all(|round| round.prepared.is_empty())
    }

    /// One step. What is to be done is added to `out`.
    pub(crate) fn step(&mut self, input: Input, now: Moment, out: &mut Vec<Action>) {
        self.now = now;
        self.passage = Passage::Waits;
        // Also after a step that failed half-way: what that one wanted is not done.
        self.out.clear();
        self.take(input);
        out.append(&mut self.out);
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Frame { from, line } => self.frame(from, line),
            Input::Passed { from, left } => self.passed(from, left),
            Input::Decided { from, decided } => self.decided(from, decided),
            Input::Ahead { from, line } => self.ahead(from, &line),
            Input::Gone(side) => self.gone(side),
            Input::Tick => self.expire(),
            Input::Unjudged(why) => self.overflow(why),
            Input::Ended(end) => self.end(end),
        }
    }

    fn frame(&mut self, from: Side, line: Bytes) {
        let frame = match Frame::read(&line, LIMITS) {
            Ok(frame) => frame,
            Err(Unread::Blank) => return self.relay(from, line),
            Err(Unread::NoJson(_)) => return self.stray(from, line),
            Err(Unread::TooLarge(_)) => return self.unread(from, line),
        };
        if self.refuses(from, &frame) {
            return;
        }
        if from == Side::Server && speaks(&frame.content) {
            self.heard = Heard::Something;
        }
        match frame.content {
            Content::Single(Spoken { message: Message::Other, .. }) => self.stray(from, line),
            Content::Single(spoken) => {
                let course = self.message(from, spoken, Packing::Alone);
                self.proceed(from, course, Whole::Single(line));
            }
            Content::Batch { whole, elements } => {
                self.foresee(from, &elements);
                let batch = Batch::new(whole, elements, self.groups.open());
                self.elements(from, Box::new(batch));
            }
        }
    }

    /// A frame went on before it was looked at; what it said is told all the same.
    fn passed(&mut self, from: Side, left: Left) {
        let (passage, line) = match left {
            Left::Whole(line) => (Passage::Over, Some(line)),
            Left::Short(copy) => (Passage::OverShort, Some(copy)),
            Left::Nothing => (Passage::OverShort, None),
        };
        self.passage = passage;
        match line {
            Some(line) => self.frame(from, line),
            None => self.unread(from, Bytes::new()),
        }
    }

    fn message(&mut self, from: Side, spoken: Spoken, packing: Packing) -> Course {
        let Spoken { message, source } = spoken;
        let came = Came { from, source, packing };
        match message {
            Message::Request(request) => self.question(request, came),
            Message::Notification(told) => self.telling(&told, came),
            Message::Response(response) => self.reply(response, came),
            Message::Other => Course::Settled(Settled::KEPT),
        }
    }

    fn decided(&mut self, from: Side, decided: Decided) {
        let Some(Work { standing, frame, passage }) = self.standing[from].take() else { return };
        self.passage = passage;
        let course = match standing {
            Standing::Question(question) => self.question_decided(*question, decided),
            Standing::Telling(telling) => self.telling_decided(*telling, decided),
            Standing::Reply(reply) => self.reply_decided(*reply, decided),
            Standing::Asking(asking) => self.asking_decided(*asking, decided),
            Standing::Answering(answering) => self.answering_decided(*answering, decided),
            Standing::Result(result) => self.result_decided(*result, decided),
        };
        self.proceed(from, course, frame);
    }

    /// Lets a message stand at the gate, or passes it on; then takes the rest of its batch.
    fn proceed(&mut self, from: Side, course: Course, frame: Whole) {
        match (course, frame) {
            (Course::Stands(standing, at), frame) => self.stands(from, standing, at, frame),
            (Course::Settled(settled), Whole::Single(line)) => self.pass_on(from, line, settled),
            (Course::Settled(settled), Whole::Batch(mut batch)) => {
                if let Some(again) = batch.settle(settled) {
                    self.send(from, again);
                }
                self.elements(from, batch);
            }
        }
    }

    fn stands(&mut self, from: Side, standing: Standing, at: Stop, frame: Whole) {
        let ask = Ask { passage: self.passage, ..standing.ask(from, at) };
        self.out.push(Action::Ask(Box::new(ask)));
        self.standing[from] = Some(Work { standing, frame, passage: self.passage });
    }

    /// The elements of a batch in turn, until one of them stands at the gate.
    fn elements(&mut self, from: Side, mut batch: Box<Batch>) {
        while let Some(spoken) = batch.rest.next() {
            self.groups.enter(batch.group);
            let course = self.message(from, spoken, Packing::Batched);
            self.groups.leave();
            match course {
                Course::Stands(standing, at) => return self.stands(from, standing, at, Whole::Batch(batch)),
                Course::Settled(settled) => {
                    if let Some(again) = batch.settle(settled) {
                        self.send(from, again);
                    }
                }
            }
        }
        self.assemble(from, *batch);
    }

    /// A frame goes on as it came, unless it is there already.
    fn relay(&mut self, from: Side, line: Bytes) {
        if self.passage == Passage::Waits {
            self.out.push(Action::Send { to: from.other(), bytes: line });
        }
    }

    /// Sends a message of our own making, on a line of its own.
    fn send(&mut self, to: Side, bytes: Bytes) {
        let bytes = if bytes.ends_with(b"\n") { bytes } else { Bytes::from([&bytes[..], b"\n"].concat()) };
        self.out.push(Action::Send { to, bytes });
    }

    /// A message that came alone.
    fn pass_on(&mut self, from: Side, line: Bytes, settled: Settled) {
        if let Some(Back::Answer(bytes) | Back::Again(bytes)) = settled.back {
            self.send(from, bytes);
        }
        match settled.fate {
            Fate::Keep => self.relay(from, line),
            // Too late for what has passed.
            Fate::Replace(_) if self.passage != Passage::Waits => {}
            Fate::Replace(bytes) => self.send(from.other(), bytes),
            Fate::Cut => {}
        }
        self.send_due();
    }

    /// Sends answers of ours whose time has come.
    fn send_due(&mut self) {
        for (to, answer) in self.groups.due() {
            self.send(to, answer);
        }
    }
}

/// Whether a line holds a message; a server that only logs JSON has said nothing yet.
fn speaks(content: &Content) -> bool {
    match content {
        Content::Single(spoken) => !matches!(spoken.message, Message::Other),
        Content::Batch { elements, .. } => elements.iter().any(|spoken| !matches!(spoken.message, Message::Other)),
    }
}

/// How a message came.
struct Came {
    from: Side,
    source: Source,
    packing: Packing,
}

#[cfg(test)]
mod tests;

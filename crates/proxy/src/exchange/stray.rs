//! What is no message, answers nothing, or may not pass: noise, unread lines, unmatched answers, refused frames. And the end,
//! where all of it is counted.

use bytes::Bytes;
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::json::{Place, Raw};
use lockgate_protocol::mcp::{Era, Params, method};
use lockgate_protocol::rpc::{Content, ErrorObject, Frame, Id, Message, Spoken, answer_error, error_without_id};

use super::Exchange;
use super::action::{Action, Say};
use crate::answer::{self, Denial};
use crate::relay::Heard;
use crate::rules::{Duplicates, Trouble};
use crate::side::Side;
use crate::story::{Exec, Finish, Remark, SessionEnd, error_info};

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Lines of the server that are no messages.
    noise: u64,
    /// Lines of the client that are no messages.
    unparsable: u64,
    /// Answers to nothing.
    unmatched: u64,
    /// Answers to what was answered or given up before.
    late: u64,
    /// Lines that were too deep or too long to be read.
    unread: u64,
    /// Requests that were pushed out by newer ones.
    pub(super) evicted: u64,
    /// Remarks that became nodes.
    remarked: u64,
}

impl Exchange {
    /// A line that is no message goes on all the same; a server's is shown.
    pub(super) fn stray(&mut self, from: Side, line: Bytes) {
        match from {
            Side::Client => self.tally.unparsable += 1,
            Side::Server => {
                self.tally.noise += 1;
                self.out.push(Action::Say(Say::Noise(line.clone())));
                if self.tally.noise <= SHOWN {
                    let text = String::from_utf8_lossy(line.trim_ascii_end());
                    let text: String = text.chars().take(QUOTED).collect();
                    let node = self.mapping.method("stdout-noise");
                    let error = error_info("StdoutNoise", "the server wrote something that is no message to stdout");
                    let era = self.eras.connection();
                    self.story.remark(node, Remark { from, era, text: Some(&text), error }, self.now.at, &mut self.out);
                }
            }
        }
        self.relay(from, line);
    }

    /// A line too deep or too long to be read.
    pub(super) fn unread(&mut self, from: Side, line: Bytes) {
        self.tally.unread += 1;
        match self.rules.trouble {
            Trouble::Pass => {
                if self.tally.unread == 1 {
                    self.out.push(Action::Say(Say::Unread(from)));
                }
                self.relay(from, line);
            }
            Trouble::Refuse => self.overflow("a frame is too deep to be judged"),
        }
    }

    /// The session ends rather than let something through unjudged.
    pub(super) fn overflow(&mut self, why: &'static str) {
        self.story.session_error(error_info("GuardOverflow", why), &mut self.out);
        self.out.push(Action::Stop(why));
    }

    /// An answer without a question goes on; servers and clients are told apart by what their era allows.
    pub(super) fn unmatched(&mut self, from: Side, id: Option<&Id>) {
        if id.is_some_and(|id| self.cancels.closed(from.other(), id).is_some()) {
            self.tally.late += 1;
            return;
        }
        self.tally.unmatched += 1;
        if from == Side::Client && self.eras.is_stateless() && self.tally.remarked < SHOWN {
            self.tally.remarked += 1;
            let node = self.mapping.method("response");
            let error = error_info("EraViolation", "a client sends no answers in the stateless era");
            let era = self.eras.connection();
            self.story.remark(node, Remark { from, era, text: None, error }, self.now.at, &mut self.out);
        }
    }

    /// Whether a frame may not pass: its sender, or whoever waits for it, is told why.
    pub(super) fn refuses(&mut self, from: Side, frame: &Frame) -> bool {
        let Some(denial) = self.denial(frame) else { return false };
        let unnamed = matches!(denial, Denial::Duplicate(place) if repeats_id(place));
        let spoken: &[Spoken] = match &frame.content {
            Content::Single(spoken) => std::slice::from_ref(spoken),
            Content::Batch { elements, .. } => elements,
        };
        let era = self.eras.connection();
        let error = answer::error(&denial, era);
        self.out.push(Action::Say(Say::Refused(from, error.message.clone())));
        for each in spoken {
            match &each.message {
                Message::Request(request) if !unnamed => self.send(from, answer_error(Some(&request.id), &error)),
                Message::Request(request) => {
                    let none = Raw::null();
                    let params = Params::read(request.params.as_ref().unwrap_or(&none).view());
                    let nobody = match params.meta.era().unwrap_or(era) {
                        Era::Handshake => answer_error(None, &error),
                        Era::Stateless => error_without_id(&error),
                    };
                    self.send(from, nobody);
                }
                Message::Response(response) => self.refuse_answer(from, response.id.as_ref(), &error),
                Message::Notification(_) | Message::Other => {}
            }
        }
        self.send_due();
        true
    }

    /// Why a frame may not pass, if it may not.
    pub(super) fn denial<'f>(&self, frame: &'f Frame) -> Option<Denial<'f>> {
        let duplicate = frame.duplicates.first().filter(|_| self.rules.duplicates == Duplicates::Refuse);
        match (duplicate, &frame.content) {
            (Some(place), _) => Some(Denial::Duplicate(place)),
            (None, Content::Batch { .. }) if self.rules.trouble == Trouble::Refuse => Some(Denial::Batch),
            (None, _) => None,
        }
    }

    /// An answer may not pass: whoever waits for it gets an error in its place.
    fn refuse_answer(&mut self, from: Side, id: Option<&Id>, error: &ErrorObject) {
        let Some(open) = id.and_then(|id| self.close(from.other(), id)) else { return };
        self.groups.closed(open.group);
        self.cancels.answered(from.other(), &open.id, open.exec.era);
        self.send(from.other(), answer_error(Some(&open.id), error));
        self.fail(open.exec, error_info(format!("Refused({})", error.code), error.message.clone()));
    }

    /// Both streams are over: what is still open ends, then the session.
    pub(super) fn end(&mut self, mut end: SessionEnd) {
        let clean = end.error.is_none() && end.exit_code == Some(0);
        let mut left: Vec<Exec> = Vec::new();
        for side in Side::BOTH {
            for (_, open) in self.asked[side].drain() {
                // A subscription has no other end than that of its stream, unless it is cancelled.
                if clean && *open.method == *method::LISTEN {
                    self.story.finish(open.exec, Finish::new(RunStatus::Ok), self.now.at, &mut self.out);
                } else {
                    left.push(open.exec);
                }
            }
            left.extend(self.standing[side].take().into_iter().flat_map(|work| work.standing.into_execs()));
        }
        left.extend(self.tasks.drain().into_iter().map(|open| open.exec));
        for round in self.rounds.drain() {
            left.extend(round.children.into_iter().map(|child| child.exec));
            left.push(round.open.exec);
        }
        let unanswered = left.len();
        for exec in left {
            self.fail(exec, error_info("McpServerExited", "the server ended without an answer"));
        }
        if let Some(error) = &end.error {
            self.story.session_error(error.clone(), &mut self.out);
        }
        end.noise = self.tally.noise;
        self.story.end(&end, self.now.at, &mut self.out);
        if let Some(summary) = self.tally.summary(unanswered) {
            self.out.push(Action::Say(Say::Summary(summary)));
        }
    }

    /// Whether the server said anything that is a message.
    pub(crate) fn heard(&self) -> Heard {
        self.heard
    }

    /// Requests of the client that have no answer.
    pub(crate) fn unanswered(&self) -> usize {
        self.asked.client.len()
    }
}

impl Tally {
    fn summary(&self, unanswered: usize) -> Option<String> {
        let unanswered = u64::try_from(unanswered).unwrap_or(u64::MAX);
        let counts = [
            (unanswered, "unanswered request", "unanswered requests"),
            (self.unmatched, "answer without a request", "answers without a request"),
            (self.late, "late answer", "late answers"),
            (self.evicted, "request no longer watched", "requests no longer watched"),
            (self.noise, "line of stdout noise", "lines of stdout noise"),
            (self.unparsable, "unparsable line from the client", "unparsable lines from the client"),
            (self.unread, "line too deep to read", "lines too deep to read"),
        ];
        let parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _, _)| *count > 0)
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Whether two readers would not even agree on the id.
fn repeats_id(duplicate: &Place) -> bool {
    duplicate.pointer.ends_with("/id")
}

/// Lines of noise, and remarks, that become nodes.
const SHOWN: u64 = 25;
/// Characters of a line of noise that are recorded.
const QUOTED: usize = 2_000;

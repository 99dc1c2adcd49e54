//! What happens while a call stands: its asker hears progress so that it does not give up, the person at the terminal hears
//! where to look and how long there is. Pure: told the time, it says what is due (wire §10.5, hub §21.6).

mod hosts;
mod progress;

use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::{Outcome, Refused, Stop};
use lockgate_protocol::debug::ResumeAction;
use lockgate_protocol::mcp::method;
use lockgate_protocol::rpc;

use crate::exchange::Asker;
use crate::side::Side;

pub(crate) use hosts::{Evidence, HostLimit, Hosts, Resets, save};

/// Watches over one call that stands.
#[derive(Debug)]
pub(crate) struct Vigil {
    about: String,
    at: Stop,
    asker: Option<Asker>,
    began: Duration,
    next_beat: Option<Duration>,
    noticed: Noticed,
}

/// What begins to stand.
#[derive(Debug)]
pub(crate) struct Stands<'a> {
    /// Its node's name.
    pub(crate) name: &'a str,
    /// Its method; may be empty.
    pub(crate) title: &'a str,
    pub(crate) at: Stop,
    pub(crate) asker: Option<Asker>,
}

#[derive(Debug, PartialEq, Eq)]
enum Noticed {
    NotYet,
    Told,
}

/// How long a call may stand.
#[derive(Debug)]
pub(crate) struct Countdown<'h> {
    pub(crate) host: &'h HostLimit,
    /// `--hold-limit`
    pub(crate) limit: Option<Duration>,
    /// What ends the hold by itself, so long after it was asked for.
    pub(crate) end: Option<(ResumeAction, Duration)>,
}

/// Whether askers are told that a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heartbeat {
    /// Progress goes to whoever asked for it.
    On,
    /// Nothing is sent that no peer sent.
    Off,
}

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Progress for the asker, without its newline.
    Beat(Bytes),
    /// A line for the person at the terminal.
    Notice(String),
}

impl Vigil {
    /// A call begins to stand.
    pub(crate) fn begin(stands: Stands<'_>, heartbeat: Heartbeat, now: Duration) -> Vigil {
        let Stands { name, title, at, asker } = stands;
        let id = asker.as_ref().map(|asker| format!(" id {}", asker.id)).unwrap_or_default();
        let title = if title.is_empty() { name } else { title };
        let name = if name == title { String::new() } else { format!(" {name}") };
        let beats = heartbeat == Heartbeat::On && asker.as_ref().is_some_and(|asker| asker.token.is_some());
        Vigil {
            about: crate::console::visible(&format!("{title}{name}{id}")),
            at,
            asker,
            began: now,
            next_beat: beats.then(|| now + FIRST_BEAT),
            noticed: Noticed::NotYet,
        }
    }

    /// When something is due next.
    pub(crate) fn next(&self) -> Option<Duration> {
        let notice = (self.noticed == Noticed::NotYet).then(|| self.began + NOTICE);
        [notice, self.next_beat].into_iter().flatten().min()
    }

    /// What is due now. `place` is where the call can be released.
    pub(crate) fn due(&mut self, now: Duration, countdown: Option<&Countdown<'_>>, place: &str) -> Vec<Duty> {
        let mut duties = Vec::new();
        if self.noticed == Noticed::NotYet && now >= self.began + NOTICE {
            self.noticed = Noticed::Told;
            duties.push(Duty::Notice(self.notice(now, countdown, place)));
        }
        if self.next_beat.is_some_and(|due| now >= due) {
            self.next_beat = Some(now + NEXT_BEAT);
            duties.extend(self.beat().map(Duty::Beat));
        }
        duties
    }

    /// The progress that was reported last.
    pub(crate) fn reported(&self) -> Option<f64> {
        self.asker.as_ref()?.progress.highest
    }

    /// The side that waits for an answer.
    pub(crate) fn asker_side(&self) -> Option<Side> {
        self.asker.as_ref().map(|asker| asker.side)
    }

    /// How long its asker has waited.
    pub(crate) fn waited(&self, now: Duration) -> Option<Duration> {
        self.asker.as_ref().map(|asker| now.saturating_sub(asker.since))
    }

    /// Whether progress was reported at all while it stood.
    pub(crate) fn has_beaten(&self) -> bool {
        self.next_beat.is_some_and(|next| next > self.began + FIRST_BEAT)
    }

    /// What the person is told about the end, if the beginning was told.
    pub(crate) fn ended(&self, outcome: Option<&Outcome>, now: Duration) -> Option<String> {
        if self.noticed == Noticed::NotYet {
            return None;
        }
        let word = match outcome {
            None | Some(Outcome::Go(_)) => "continue",
            Some(Outcome::Again(_)) => "retry",
            Some(Outcome::Answer(_)) => "inject",
            Some(Outcome::Refuse(Refused::Aborted)) => "abort",
            Some(Outcome::Refuse(Refused::Cancelled)) => "given up by its asker",
            Some(Outcome::Refuse(Refused::Policy(_))) => "refused",
        };
        Some(format!("released {}: {word} after {}", self.about, seconds(now.saturating_sub(self.began))))
    }

    fn beat(&mut self) -> Option<Bytes> {
        let at = self.at.point();
        let asker = self.asker.as_mut()?;
        let token = asker.token.as_ref()?;
        let Some(value) = progress::next(asker.progress) else {
            self.next_beat = None;
            return None;
        };
        asker.progress.highest = Some(value);
        Some(rpc::notification(method::PROGRESS, |out| {
            out.raw("progressToken", token).f64("progress", value);
            out.str("message", &format!("held at {at} in the debugger: {}", self.about));
        }))
    }

    fn notice(&self, now: Duration, countdown: Option<&Countdown<'_>>, place: &str) -> String {
        let mut notice = format!("held {} at {}", self.about, self.at.point());
        if !place.is_empty() {
            notice += &format!(", release it at {place}");
        }
        let waiting = self.asker.as_ref().map(|asker| now.saturating_sub(asker.since));
        if let (Some(countdown), Some(waited)) = (countdown, waiting) {
            let (who, whole) = match (countdown.limit, countdown.host.evidence) {
                (Some(limit), _) => ("it may stand", limit),
                (None, Evidence::Usual) => ("hosts usually wait", countdown.host.patience),
                (None, Evidence::Known | Evidence::Learned) => ("this host waits", countdown.host.patience),
            };
            let left = |whole: Duration| seconds(whole.saturating_sub(waited));
            notice += &format!("; {who} {}, ", seconds(whole));
            notice += &match countdown.end {
                Some((action, after)) => format!("{action} in {}", left(after)),
                None => format!("{} left", left(whole)),
            };
        }
        notice
    }
}

fn seconds(duration: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths.is_multiple_of(10) { format!("{} s", tenths / 10) } else { format!("{}.{} s", tenths / 10, tenths % 10) }
}

/// Holds shorter than this are not mentioned.
const NOTICE: Duration = Duration::from_millis(250);
const FIRST_BEAT: Duration = Duration::from_secs(1);
const NEXT_BEAT: Duration = Duration::from_secs(5);

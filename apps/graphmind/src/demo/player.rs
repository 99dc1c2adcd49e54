//! Plays a script over an ingest connection, at its own pace, and stands still where a person wants it to.

use std::time::Duration;

use lockgate_protocol::debug::{Control, Envelope, ExecResume, ResumeAction, RunId, RunStatus};
use lockgate_protocol::json::Raw;
use tokio::time::{Instant, sleep_until};

use super::scene::{Armed, Now, Scene};
use super::script::{Frame, Script};
use crate::clock;
use crate::fault::Fault;
use crate::ingest::Ingest;

/// A play in progress.
pub(crate) struct Player<'a> {
    script: &'a Script,
    link: &'a mut Ingest,
    scene: Scene,
    /// How many times faster than recorded.
    speed: f64,
    /// Place in the recording, milliseconds.
    at: u64,
    pauses: u32,
}

/// What the caller may want to tell somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Held { pause: String },
    Released(ResumeAction),
}

/// How a play ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) status: RunStatus,
    pub(crate) held: bool,
}

impl<'a> Player<'a> {
    pub(crate) fn new(script: &'a Script, link: &'a mut Ingest, run: RunId, speed: f64) -> Player<'a> {
        let armed = Armed { matchers: link.ack.breakpoints.clone(), mode: link.ack.mode };
        Player { script, link, scene: Scene::new(run, armed), speed, at: 0, pauses: 0 }
    }

    /// Plays to an end; `seen` hears of holds as they happen.
    pub(crate) async fn play(mut self, mut seen: impl FnMut(Seen)) -> Result<Ending, Fault> {
        let script = self.script;
        self.branch(&script.base, None).await?;
        loop {
            self.branch(&script.fail, None).await?;
            if !self.scene.armed.holds(&script.stop) {
                self.branch(&script.cont, None).await?;
                return Ok(Ending { status: RunStatus::Error, held: self.pauses > 0 });
            }
            let resume = self.hold(&mut seen).await?;
            seen(Seen::Released(resume.action));
            let status = match resume.action {
                ResumeAction::Continue => {
                    self.branch(&script.cont, None).await?;
                    RunStatus::Error
                }
                ResumeAction::Inject => {
                    let answer = resume.output.unwrap_or_else(Raw::null);
                    self.branch(&script.inject, Some(&answer)).await?;
                    RunStatus::Ok
                }
                ResumeAction::Retry => {
                    let failed = self.scene.retry(&script.stop, now());
                    self.send_all(failed).await?;
                    continue;
                }
                ResumeAction::Abort => {
                    let ending = self.scene.abort(now());
                    self.send_all(ending).await?;
                    RunStatus::Aborted
                }
            };
            return Ok(Ending { status, held: true });
        }
    }

    async fn branch(&mut self, frames: &[Frame], answer: Option<&Raw>) -> Result<(), Fault> {
        for frame in frames {
            let gap = Duration::from_millis(frame.at.saturating_sub(self.at)).div_f64(self.speed).min(LONGEST_GAP);
            self.at = frame.at;
            self.pass_time(gap).await?;
            let envelope = self.scene.play(frame, &self.script.stop, answer, now());
            self.link.send(&envelope).await?;
        }
        Ok(())
    }

    /// Lets time pass, but not the wishes of the person watching.
    async fn pass_time(&mut self, gap: Duration) -> Result<(), Fault> {
        let until = Instant::now() + gap;
        loop {
            tokio::select! {
                () = sleep_until(until) => return Ok(()),
                control = self.link.control() => match control {
                    Some(control) => self.hear(control),
                    None => return Err(self.link.gone()),
                },
            }
        }
    }

    /// Stands still until somebody releases this very pause, or nobody has for so long that nobody will.
    async fn hold(&mut self, seen: &mut impl FnMut(Seen)) -> Result<ExecResume, Fault> {
        self.pauses += 1;
        let pause = format!("pause_demo_{}", self.pauses);
        let since = Instant::now();
        let paused = self.scene.pause(&self.script.stop, &pause, now());
        self.link.send(&paused).await?;
        seen(Seen::Held { pause: pause.clone() });
        let resume = loop {
            let heard = tokio::select! {
                () = sleep_until(since + PATIENCE) => break unattended(&pause),
                heard = self.link.control() => heard,
            };
            match heard {
                None => return Err(self.link.gone()),
                Some(Control::Resume(resume)) if *resume.pause_id == *pause => break resume,
                Some(other) => self.hear(other),
            }
        };
        let resumed = self.scene.resume(&self.script.stop, &resume, since.elapsed(), now());
        self.link.send(&resumed).await?;
        Ok(resume)
    }

    fn hear(&mut self, control: Control) {
        match control {
            Control::BreakpointSet(matcher) => self.scene.armed.set(matcher),
            Control::BreakpointClear(matcher) => self.scene.armed.clear(&matcher),
            Control::ModeSet(mode) => self.scene.armed.mode = mode,
            Control::Resume(_) | Control::WatchSet(_) => {}
        }
    }

    async fn send_all(&mut self, envelopes: Vec<Envelope>) -> Result<(), Fault> {
        for envelope in envelopes {
            self.link.send(&envelope).await?;
        }
        Ok(())
    }
}

/// What a debugger does where nobody comes: it lets go.
fn unattended(pause: &str) -> ExecResume {
    ExecResume {
        pause_id: pause.into(),
        action: ResumeAction::Continue,
        output: None,
        input: None,
        request_id: None,
        pin: None,
    }
}

fn now() -> Now {
    Now { at: std::time::Instant::now(), ms: clock::now_ms() }
}

/// As long as a hold of ours waits for somebody (wire §10.3).
const PATIENCE: Duration = Duration::from_secs(600);
/// Nobody wants to watch a recorded wait in full.
const LONGEST_GAP: Duration = Duration::from_millis(1_200);

//! The gate's own policy: breakpoints with conditions and hit counts, and the step mode. Always asked last.

mod condition;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_protocol::debug::{Matcher, NodeKind, PausePoint, PauseReason, RunMode};
use lockgate_protocol::edit::Hidden;

use crate::call::{Call, Stop};
use crate::policy::{Hold, Policy, Reason, Verdict};
use crate::warning::Warning;
use condition::{Condition, Seen};

/// Which sides of a call are hidden from everybody but the host (wire §4.1), and so from conditions too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenSides {
    /// Its input.
    pub input: Hidden,
    /// Its output.
    pub output: Hidden,
}

pub(crate) struct Breakpoints {
    /// One bit per stop at which anything could hold: all that an unwatched call costs.
    stops: AtomicU8,
    armed: Mutex<Arming>,
    hidden: Arc<dyn Fn(NodeKind) -> HiddenSides + Send + Sync>,
    warn: Arc<dyn Fn(&Warning) + Send + Sync>,
}

struct Arming {
    now: Arc<Armed>,
    /// Matchers that could not be read and have been complained about.
    bad: BTreeSet<String>,
}

/// What is armed. Replaced whole, so that judging needs no lock.
#[derive(Clone)]
struct Armed {
    mode: RunMode,
    points: Vec<Arc<Point>>,
}

struct Point {
    key: String,
    kind: Option<NodeKind>,
    name: Option<String>,
    at: Stop,
    condition: Condition,
}

impl Policy for Breakpoints {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        if self.stops.load(Ordering::Relaxed) & bit(at) == 0 {
            return Verdict::Pass;
        }
        let armed = Arc::clone(&self.lock().now);
        let mut fitting = armed.points.iter().filter(|point| point.fits(call, at));
        let (hit, stepped) = match armed.mode {
            RunMode::Run => (self.hits(fitting, call, at), false),
            // Steps ask no condition and count no hit.
            RunMode::Step => (fitting.next().is_some(), at != Stop::After),
        };
        let kind = match (hit || stepped, at) {
            (false, _) => return Verdict::Pass,
            (true, Stop::Error) => PauseReason::Error,
            (true, Stop::Before | Stop::After) if hit => PauseReason::Breakpoint,
            (true, Stop::Before | Stop::After) => PauseReason::Step,
        };
        Verdict::Hold(Hold::debugger(Reason::plain(kind)))
    }
}

impl Breakpoints {
    pub(crate) fn new(
        hidden: Arc<dyn Fn(NodeKind) -> HiddenSides + Send + Sync>,
        warn: Arc<dyn Fn(&Warning) + Send + Sync>,
    ) -> Self {
        let now = Arc::new(Armed { mode: RunMode::Run, points: Vec::new() });
        let armed = Mutex::new(Arming { now, bad: BTreeSet::new() });
        Self { stops: AtomicU8::new(0), armed, hidden, warn }
    }

    /// Replaces everything that was armed; equal matchers keep their count.
    pub(crate) fn arm(&self, matchers: Vec<Matcher>, mode: RunMode) {
        self.change(|armed, old, read| {
            armed.mode = mode;
            armed.points.clear();
            for matcher in matchers {
                put(armed, old, read(matcher));
            }
        });
    }

    /// Adds one; an equal one stays as it is, count and all.
    pub(crate) fn set(&self, matcher: Matcher) {
        self.change(|armed, old, read| put(armed, old, read(matcher)));
    }

    /// Removes the equal one.
    pub(crate) fn clear(&self, matcher: &Matcher) {
        let key = matcher.key();
        self.change(|armed, _, _| armed.points.retain(|point| point.key != key));
    }

    pub(crate) fn mode(&self, mode: RunMode) {
        self.change(|armed, _, _| armed.mode = mode);
    }

    /// Nothing armed, run mode: what a lost hub leaves behind.
    pub(crate) fn reset(&self) {
        self.arm(Vec::new(), RunMode::Run);
    }

    /// Every fitting matcher counts its hit, whichever of them holds.
    fn hits<'p>(&self, fitting: impl Iterator<Item = &'p Arc<Point>>, call: &Call, at: Stop) -> bool {
        let seen = Seen { call, at, hidden: &*self.hidden };
        let mut hit = false;
        for point in fitting {
            hit |= point.condition.hit(&seen, &*self.warn);
        }
        hit
    }

    fn change(&self, edit: impl FnOnce(&mut Armed, &[Arc<Point>], &mut dyn FnMut(Matcher) -> Option<Point>)) {
        let mut warnings = Vec::new();
        let mut arming = self.lock();
        let old = Arc::clone(&arming.now);
        let mut armed = Armed::clone(&old);
        let bad = &mut arming.bad;
        edit(&mut armed, &old.points, &mut |matcher| read(matcher, bad, &mut warnings));
        let stops = armed.points.iter().fold(0, |stops, point| stops | bit(point.at));
        let stepped = match armed.mode {
            RunMode::Run => 0,
            RunMode::Step => bit(Stop::Before) | bit(Stop::Error),
        };
        arming.now = Arc::new(armed);
        // Under the lock, so that the last change is also the last to say which stops matter.
        self.stops.store(stops | stepped, Ordering::Relaxed);
        drop(arming);
        for warning in &warnings {
            (self.warn)(warning);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Arming> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Point {
    fn fits(&self, call: &Call, at: Stop) -> bool {
        self.at == at
            && self.kind.is_none_or(|kind| kind == call.node.kind)
            && self.name.as_deref().is_none_or(|name| name == &*call.node.name)
    }
}

fn put(armed: &mut Armed, old: &[Arc<Point>], point: Option<Point>) {
    let Some(point) = point else { return };
    if armed.points.iter().any(|known| known.key == point.key) {
        return;
    }
    let known = old.iter().find(|known| known.key == point.key).map(Arc::clone);
    armed.points.push(known.unwrap_or_else(|| Arc::new(point)));
}

/// A matcher whose condition cannot be read is left out, with one complaint.
fn read(matcher: Matcher, bad: &mut BTreeSet<String>, warnings: &mut Vec<Warning>) -> Option<Point> {
    let key = matcher.key();
    let at = match matcher.point {
        None | Some(PausePoint::Before) => Stop::Before,
        Some(PausePoint::After) => Stop::After,
        Some(PausePoint::Error) => Stop::Error,
    };
    match Condition::read(matcher.when.as_ref(), matcher.after.unwrap_or(0)) {
        Ok(condition) => Some(Point { key, kind: matcher.kind, name: matcher.name, at, condition }),
        Err(error) => {
            if bad.len() == REMEMBERED {
                bad.clear();
            }
            if bad.insert(key) {
                warnings.push(Warning::BadCondition(error));
            }
            None
        }
    }
}

fn bit(at: Stop) -> u8 {
    match at {
        Stop::Before => 1,
        Stop::After => 2,
        Stop::Error => 4,
    }
}

/// Unreadable matchers that are remembered, so that a hub sending them again and again is complained about once.
const REMEMBERED: usize = 256;

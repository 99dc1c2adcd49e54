//! When a hold ends by itself, how, and because of what: the earliest of four clocks (wire §10.3, §10.5; hub §21.6).

use lockgate_protocol::debug::{Until, Why};
use tokio::time::Instant;

use super::Rules;
use super::slot::Slot;
use super::told::Now;
use crate::policy::Release;

/// The end of a hold that nobody releases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) release: Release,
    why: Why,
}

impl Due {
    /// As viewers are told.
    pub(super) fn until(&self, now: Now) -> Until {
        let ahead = self.at.saturating_duration_since(now.at);
        let ahead = u64::try_from(ahead.as_millis()).unwrap_or(u64::MAX);
        Until { at: Some(now.epoch_ms.saturating_add(ahead)), action: self.release.action(), why: self.why }
    }
}

/// The earliest end of `slot`; `unwatched` is since when nobody watches.
pub(super) fn due(slot: &Slot, rules: &Rules, unwatched: Option<Instant>) -> Option<Due> {
    let hold = &slot.terms.hold;
    let guard = hold.guard.as_deref();
    let timeout = rules.pause_timeout.and_then(|limit| slot.opened.checked_add(limit));
    let review = guard.and_then(|guard| slot.opened.checked_add(guard.review));
    let patience = match (guard, unwatched, hold.patience.or(rules.patience)) {
        (None, Some(since), Some(limit)) => since.max(slot.opened).checked_add(limit),
        _ => None,
    };
    let limit = slot.terms.limit.as_ref().and_then(|limit| {
        let release = match (guard, &limit.action, unwatched) {
            // Whatever was chosen for the debugger does not open a guard.
            (Some(_), _, _) => Release::Abort,
            (None, Some(chosen), _) => chosen.clone(),
            (None, None, Some(_)) => hold.alone(),
            (None, None, None) => return None,
        };
        Some(Due { at: limit.at?, release, why: Why::HostLimit })
    });
    let alone = |at: Option<Instant>, why| at.map(|at| Due { at, release: hold.alone(), why });
    [alone(timeout, Why::Timeout), alone(review, Why::Review), alone(patience, Why::Patience), limit]
        .into_iter()
        .flatten()
        .min_by_key(|due| due.at)
}

//! The table of hub §4, and what a flood of run ids may push out.

use super::{Bond, ClaimLimits, Claims, Session, Stage, Standing};
use crate::store::Status;
use std::sync::Arc;

struct Desk(Claims);

impl Desk {
    fn new(claims: usize, sealed: usize) -> Desk {
        Desk(Claims::new(ClaimLimits { claims, sealed }))
    }

    /// `+a` and `-a` connect and disconnect a session, `a r` lets it write to a run (lower case: loose, upper case: strict),
    /// `r=finished` turns a run. Answers what became of the last write.
    fn play(&mut self, script: &str) -> String {
        let mut last = String::new();
        for step in script.split(';').map(str::trim) {
            if let Some(token) = step.strip_prefix('+') {
                self.0.connect(&token.into());
            } else if let Some(token) = step.strip_prefix('-') {
                self.0.disconnect(token);
            } else if let Some((run, stage)) = step.split_once('=') {
                self.0.turn(&run.into(), stage_of(stage));
            } else if let Some((token, run)) = step.split_once(' ') {
                last = self.write(token, run, Standing { owned_by_another: false, status: None });
            }
        }
        last
    }

    fn write(&mut self, token: &str, run: &str, standing: Standing) -> String {
        let bond = if token.chars().all(char::is_uppercase) { Bond::Strict } else { Bond::Loose };
        let (entry, evicted) = self.0.enter(&run.into(), &Session { token: token.into(), bond }, standing);
        format!("{entry:?}{}", evicted.map_or(String::new(), |run: Arc<str>| format!(" without {run}")))
    }
}

fn stage_of(word: &str) -> Stage {
    match word {
        "running" => Stage::Running,
        "finished" => Stage::Finished,
        "abandoned" => Stage::Abandoned,
        other => panic!("no stage: {other}"),
    }
}

fn check(script: &str, expected: &str) {
    assert_eq!(Desk::new(100, 100).play(script), expected, "{script}");
}

#[test]
fn a_run_belongs_to_the_session_that_began_it() {
    check("+A; A r", "Claimed");
    check("+A; A r; A r", "Allowed");
    check("+A; A r; +B; B r", "Refused(Owned)");
    check("+A; A r; -A; +B; B r", "Refused(Owned)");
    check("+A; A r; -A; +A; A r", "Allowed");
    check("+A; A r; r=finished; +B; B r", "Refused(Owned)");
    check("+A; A r; r=abandoned; -A; +B; B r", "Refused(Owned)");
}

#[test]
fn an_old_sdk_may_be_succeeded_once_it_is_gone() {
    check("+a; a r; +b; b r", "Refused(Owned)");
    check("+a; a r; -a; +b; b r", "TakenOver");
    check("+a; a r; -a; +b; b r; b r", "Allowed");
    check("+a; a r; -a; +b; b r; +a; a r", "Refused(Owned)");
    check("+a; +a; a r; -a; +b; b r", "Refused(Owned)");
    check("+a; a r; -a; +B; B r; -B; +c; c r", "Refused(Owned)");
}

#[test]
fn without_a_claim_the_record_decides() {
    let unclaimed = |owned_by_another, status, expected: &str| {
        let mut desk = Desk::new(9, 9);
        assert_eq!(desk.write("A", "r", Standing { owned_by_another, status }), expected, "{status:?}");
    };
    unclaimed(false, None, "Claimed");
    unclaimed(false, Some(Status::Running), "Claimed");
    unclaimed(false, Some(Status::Abandoned), "Claimed");
    unclaimed(false, Some(Status::Ok), "Refused(Ended)");
    unclaimed(false, Some(Status::Error), "Refused(Ended)");
    unclaimed(false, Some(Status::Aborted), "Refused(Ended)");
    unclaimed(true, None, "Refused(Owned)");
    unclaimed(true, Some(Status::Abandoned), "Refused(Owned)");
}

#[test]
fn room_is_made_in_order() {
    let mut desk = Desk::new(3, 9);
    desk.play("+A; A a; A b; A c");
    assert_eq!(desk.play("A d"), "Refused(Full)", "a strict session never gives up its own running run");
    assert_eq!(desk.play("+z; z d"), "Refused(Full)", "nor does a stranger take it");
    desk.play("b=abandoned; c=finished");
    assert_eq!(desk.play("z d"), "Claimed without c", "finished goes first, though younger");
    assert_eq!(desk.play("z e"), "Claimed without b", "then abandoned");
    assert_eq!(desk.play("z f"), "Claimed without d", "then the newcomer's own, oldest first");
    assert_eq!(desk.play("+y; y g"), "Refused(Full)", "but nobody else's");
    assert_eq!(desk.play("A a"), "Allowed");
}

#[test]
fn the_oldest_of_a_kind_goes_first() {
    let mut desk = Desk::new(3, 9);
    desk.play("+A; A a; A b; A c; c=finished; a=finished; b=finished");
    assert_eq!(desk.play("A d"), "Claimed without a");
    assert_eq!(desk.play("A e"), "Claimed without b");
    desk.play("c=running");
    assert_eq!(desk.play("A f"), "Refused(Full)", "a run that came back to life is safe again");
}

#[test]
fn an_evicted_abandoned_run_is_sealed() {
    let mut desk = Desk::new(1, 2);
    desk.play("+A; A a; a=abandoned; A b");
    assert_eq!(desk.play("A a"), "Refused(Sealed)", "for its own session too");
    desk.play("b=abandoned; A c; c=abandoned; A d");
    assert_eq!(desk.play("A b"), "Refused(Sealed)");
    desk.play("d=finished");
    assert_eq!(desk.play("A a"), "Claimed without d", "only so many are remembered");
}

#[test]
fn a_flood_leaves_running_claims_alone() {
    let mut desk = Desk::new(5_000, 10_000);
    desk.play("+A; A honest; +flood");
    for run in 0..6_000 {
        desk.play(&format!("flood f{run}"));
    }
    assert_eq!(desk.play("A honest"), "Allowed");
    assert_eq!(desk.0.claims.len(), 5_000);
    assert_eq!(desk.play("flood f5999"), "Allowed");
    assert!(!desk.0.has("f0"));
}

#[test]
fn forgetting_leaves_nothing_behind() {
    let mut desk = Desk::new(9, 9);
    desk.play("+a; a r; a s; s=finished; a t; t=abandoned; -a");
    for run in ["r", "s", "t", "unknown"] {
        desk.0.forget(run);
    }
    let Claims { claims, finished, abandoned, yielding, connected, .. } = &desk.0;
    assert!(claims.is_empty() && finished.is_empty() && abandoned.is_empty());
    assert!(yielding.is_empty() && connected.is_empty());
}

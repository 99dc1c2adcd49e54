//! The clocks of a hold: timeout, patience while nobody watches, the asker's own limit (wire §10.3, §10.5; hub §21.6).

use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Alone, Call, Hold, Limit, Policy, Reason, Release, Stop, Verdict, Watched};
use lockgate_protocol::debug::PauseReason;
use lockgate_protocol::json::Raw;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::kit::{Desk, Says, after, outcome, settle, tool};

const SECOND: Duration = Duration::from_secs(1);

/// Patient for ten seconds.
fn patient(watched: Watched) -> Desk {
    let desk = Desk::detached(|config| config.patience = Some(10 * SECOND));
    desk.attach(watched, &["watch"]);
    desk.set("{}");
    desk
}

#[tokio::test(start_paused = true)]
async fn b08_patience_ends_a_hold_that_nobody_watches() {
    let mut desk = patient(Watched::No);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(9_999).await;
    assert!(!passing.is_finished());
    after(2).await;
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log(), ["paused 1 before breakpoint continue in 10000 ms by patience", "resumed 1 continue"]);
}

#[tokio::test(start_paused = true)]
async fn b08_watching_stops_the_clock_and_leaving_starts_it() {
    let mut desk = patient(Watched::No);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(9_000).await;
    desk.attach(Watched::Yes, &["watch"]);
    after(3_600_000).await;
    assert!(!passing.is_finished());
    desk.attach(Watched::No, &["watch"]);
    after(9_000).await;
    assert!(!passing.is_finished());
    desk.attach(Watched::No, &["watch"]);
    after(1_001).await;
    assert_eq!(outcome(passing).await, "go", "hearing the same again changes nothing");
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint continue in 10000 ms by patience",
            "until 1",
            "until 1 continue in 10000 ms by patience",
            "resumed 1 continue",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn b08_a_later_hold_has_its_own_patience() {
    let desk = patient(Watched::No);
    after(8_000).await;
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(9_000).await;
    assert!(!passing.is_finished());
    after(1_001).await;
    assert_eq!(outcome(passing).await, "go");
}

#[tokio::test(start_paused = true)]
async fn b08_without_a_limit_or_a_word_about_watching_no_clock_runs() {
    let check = async |desk: Desk| {
        let mut desk = desk;
        desk.set("{}");
        let passing = desk.pass(tool("t"), Stop::Before).await;
        after(24 * 3_600_000).await;
        assert!(!passing.is_finished());
        assert_eq!(desk.log(), ["paused 1 before breakpoint"]);
        desk.gate.release_all();
        outcome(passing).await;
    };
    check(patient(Watched::Unknown)).await;
    check(patient(Watched::Yes)).await;
    let endless = Desk::new(|config| config.patience = None);
    endless.attach(Watched::No, &[]);
    check(endless).await;
}

#[tokio::test(start_paused = true)]
async fn b08_the_pause_timeout_runs_regardless() {
    let mut desk = Desk::detached(|config| {
        config.patience = Some(10 * SECOND);
        config.pause_timeout = Some(15 * SECOND);
    });
    desk.attach(Watched::No, &["watch"]);
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(5_000).await;
    desk.attach(Watched::Yes, &["watch"]);
    after(9_999).await;
    assert!(!passing.is_finished());
    after(2).await;
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint continue in 10000 ms by patience",
            "until 1 continue in 10000 ms by timeout",
            "resumed 1 continue",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn b08_what_was_over_before_somebody_came_stays_over() {
    let desk = patient(Watched::No);
    let gate = desk.gate.clone();
    let mut passing = Box::pin(gate.pass(tool("t"), Stop::Before));
    let mut poll = || passing.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(poll().is_pending());
    // Nobody polls, so no timer can fire.
    tokio::time::advance(11 * SECOND).await;
    desk.attach(Watched::Yes, &["watch"]);
    assert_eq!(desk.gate.held(), 0);
    assert!(poll().is_ready());
}

#[tokio::test(start_paused = true)]
async fn b08_a_hold_may_bring_its_own_patience() {
    let policy = Says(|_: &Call, _| {
        let hold = Hold { patience: Some(SECOND), ..Hold::debugger(Reason::plain(PauseReason::Breakpoint)) };
        Verdict::Hold(hold)
    });
    let mut desk = Desk::new(|config| {
        config.policies = vec![Arc::new(policy)];
        config.patience = Some(10 * SECOND);
    });
    desk.attach(Watched::No, &["watch"]);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(1_001).await;
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(
        desk.log().first().map(String::as_str),
        Some("paused 1 before breakpoint continue in 1000 ms by patience")
    );
}

/// A call whose asker gives up after `seconds`.
fn limited(seconds: u32, action: Option<Release>) -> (Call, watch::Sender<Option<Instant>>) {
    let (moves, deadline) = watch::channel(Some(Instant::now() + seconds * SECOND));
    (Call { limit: Some(Box::new(Limit { deadline, action })), ..tool("t") }, moves)
}

#[tokio::test(start_paused = true)]
async fn a_chosen_release_comes_at_the_askers_limit() {
    let check = async |action, expected: &str, told: &str| {
        let mut desk = Desk::new(|_| {});
        desk.set("{}");
        let (call, _moves) = limited(55, Some(action));
        let passing = desk.pass(call, Stop::Before).await;
        after(54_999).await;
        assert!(!passing.is_finished());
        after(2).await;
        assert_eq!(outcome(passing).await, expected);
        assert_eq!(
            desk.log(),
            [format!("paused 1 before breakpoint {told} in 55000 ms by host-limit"), format!("resumed 1 {told}")]
        );
    };
    check(Release::Continue, "go", "continue").await;
    check(Release::Abort, "aborted", "abort").await;
    check(Release::Inject(Some(Raw::bool(true))), "answer true", "inject").await;
}

#[tokio::test(start_paused = true)]
async fn without_a_choice_the_limit_counts_only_while_nobody_watches() {
    for (watched, ends) in [(Watched::No, true), (Watched::Yes, false), (Watched::Unknown, false)] {
        let mut desk = Desk::new(|_| {});
        desk.attach(watched, &["watch"]);
        desk.set("{}");
        let (call, _moves) = limited(55, None);
        let passing = desk.pass(call, Stop::Before).await;
        after(55_001).await;
        assert_eq!(passing.is_finished(), ends, "{watched:?}");
        desk.gate.release_all();
        outcome(passing).await;
        let until = if ends { " continue in 55000 ms by host-limit" } else { "" };
        assert_eq!(desk.log().first(), Some(&format!("paused 1 before breakpoint{until}")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_moves_the_limit() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let (call, moves) = limited(10, Some(Release::Continue));
    let passing = desk.pass(call, Stop::Before).await;
    after(9_000).await;
    moves.send_replace(Some(Instant::now() + 10 * SECOND));
    settle().await;
    after(9_999).await;
    assert!(!passing.is_finished());
    moves.send_replace(None);
    settle().await;
    drop(moves);
    after(3_600_000).await;
    assert!(!passing.is_finished(), "not known any more");
    desk.answer(1, r#""action":"continue""#);
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint continue in 10000 ms by host-limit",
            "until 1 continue in 10000 ms by host-limit",
            "until 1",
            "resumed 1 continue",
        ]
    );
}

/// Never objects, as the debugger's policies do not without a hub; or might, as guards do.
struct Minds(Alone);

impl Policy for Minds {
    fn judge(&self, _: &Call, _: Stop) -> Verdict {
        Verdict::Pass
    }

    fn alone(&self) -> Alone {
        self.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_is_open_only_while_nothing_can_object() {
    let check = |policies: &[Alone], alone: bool, attached: bool| {
        let made = |minds: &Alone| -> Arc<dyn Policy> { Arc::new(Minds(*minds)) };
        let desk = Desk::detached(|config| config.policies = policies.iter().map(made).collect());
        assert_eq!(desk.gate.is_open(), alone, "{policies:?}");
        desk.attach(Watched::Unknown, &[]);
        assert_eq!(desk.gate.is_open(), attached, "{policies:?}");
        desk.detach();
        assert_eq!(desk.gate.is_open(), alone, "{policies:?}");
    };
    check(&[], true, false);
    check(&[Alone::OnlyWatches, Alone::OnlyWatches], true, false);
    check(&[Alone::OnlyWatches, Alone::MayObject], false, false);
}

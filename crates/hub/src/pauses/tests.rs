//! The race of hub §9, played by scripts.

use std::time::Duration;

use lockgate_protocol::debug::{Principal, RefusalCode, ResumeAction};
use lockgate_protocol::json::Raw;
use tokio::time::Instant;

use super::{Answer, AppId, Ask, Code, Echo, House, Item, Key, Outcome, Owner, Pauses, Refused, WaiterId};
use crate::level::{Edits, Level, Reads};

/// A registry, a clock, and one program that holds calls of run `r`.
struct Desk {
    pauses: Pauses,
    start: Instant,
    now: u64,
    waiter: u64,
    attached: bool,
    echo: Echo,
    edits: bool,
    house: House,
    sent: Option<String>,
}

fn desk() -> Desk {
    Desk {
        pauses: Pauses::default(),
        start: Instant::now(),
        now: 0,
        waiter: 0,
        attached: true,
        echo: Echo::Yes,
        edits: true,
        house: House { agents: Level::Off, edits: Edits::Allowed, reads: Reads::Open },
        sent: None,
    }
}

fn key(pause: &str) -> Key {
    Key { run: "r".into(), pause: pause.into() }
}

fn item(payload: &str) -> Item {
    Item::read(Raw::parse(payload.to_owned()).unwrap().view(), 7)
}

impl Desk {
    fn at(&self) -> Instant {
        self.start + Duration::from_millis(self.now)
    }

    fn open(&mut self, pause: &str) {
        self.open_with(pause, r#"{"nodeId":"n","point":"before"}"#);
    }

    fn open_with(&mut self, pause: &str, payload: &str) {
        assert!(self.pauses.open(&key(pause), AppId(1), item(payload)));
    }

    /// Somebody asks, and waits for 30 s; `sent` then has what went to the program.
    fn ask(&mut self, pause: &str, change: impl FnOnce(&mut Ask)) -> String {
        self.waiter += 1;
        let mut ask = Ask {
            key: key(pause),
            action: ResumeAction::Continue,
            output: None,
            input: None,
            pin: None,
            request: format!("q{}", self.waiter).into(),
            by: Principal::Viewer,
            operator: None,
            waiter: WaiterId(self.waiter),
            until: self.at() + Duration::from_secs(30),
        };
        change(&mut ask);
        let owner = Owner { app: AppId(1), edits: self.edits, longest: 1_000 };
        let asked = self.pauses.ask(self.at(), &ask, self.attached.then_some(owner), self.house);
        self.sent = asked.as_ref().ok().map(|release| String::from_utf8_lossy(release.payload.as_bytes()).into_owned());
        asked.map_or_else(|outcome| show(&outcome), |_| "sent".to_owned())
    }

    fn go(&mut self, pause: &str) -> String {
        self.ask(pause, |_| {})
    }

    /// The program answers; the frame is stored.
    fn resumed(&mut self, pause: &str, action: &str, request: Option<&str>) -> String {
        let winner = self.pauses.winner(&key(pause), action, request, self.echo);
        let credit = winner.as_ref().map_or("nobody".to_owned(), |winner| winner.by.to_string());
        format!("{credit}:{}", all(self.pauses.resumed(&key(pause), winner.as_ref())))
    }

    fn refused(&mut self, pause: &str, request: Option<&str>) -> String {
        let refusal = Refused { code: RefusalCode::Schema, message: Some("a\u{202e}\nb") };
        all(self.pauses.refused(&key(pause), request, refusal))
    }

    fn pass(&mut self, ms: u64) -> String {
        self.now += ms;
        all(self.pauses.tick(self.at()))
    }

    fn state(&self) -> String {
        let states = self
            .pauses
            .list(None)
            .map(|(key, hold)| format!("{}={}", key.pause, if hold.is_open() { "open" } else { "resolving" }));
        states.collect::<Vec<_>>().join(" ")
    }
}

fn show(outcome: &Outcome) -> String {
    format!("{}/{}", outcome.kind.as_str(), outcome.code.map_or("-", Code::as_str))
}

fn all(answers: impl IntoIterator<Item = Answer>) -> String {
    let answers = answers.into_iter().map(|answer| format!(" q{} {}", answer.waiter.0, show(&answer.outcome)));
    answers.collect()
}

#[test]
fn the_first_release_wins() {
    let mut desk = desk();
    desk.open("p");
    assert_eq!(desk.go("p"), "sent");
    assert_eq!(desk.sent.as_deref(), Some(r#"{"pauseId":"p","action":"continue","requestId":"q1"}"#));
    assert_eq!(desk.state(), "p=resolving");
    assert_eq!(desk.ask("p", |ask| ask.action = ResumeAction::Abort), "taken/pause-taken");
    assert_eq!(desk.resumed("p", "continue", Some("q1")), "viewer: q1 resumed/-");
    assert_eq!(desk.state(), "");
    assert_eq!(desk.go("p"), "no-such-pause/no-such-pause");
    assert_eq!(desk.pass(60_000), "", "nobody waits any more");
}

#[test]
fn five_seconds_without_an_answer_open_the_pause_again() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    assert_eq!(desk.pass(4_999), "");
    assert_eq!(desk.go("p"), "taken/pause-taken");
    assert_eq!(desk.pass(1), "");
    assert_eq!(desk.state(), "p=open");
    assert_eq!(desk.ask("p", |ask| ask.by = Principal::Anonymous), "sent");
    // The answer to the first attempt comes late, and still decides.
    assert_eq!(desk.resumed("p", "continue", Some("q1")), "viewer: q1 resumed/- q3 taken/superseded");
}

#[test]
fn nobody_is_credited_for_what_the_program_did_itself() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    assert_eq!(desk.resumed("p", "continue", None), "nobody: q1 taken/superseded");
    desk.open("q");
    desk.open("o");
    desk.go("q");
    desk.go("o");
    assert_eq!(desk.resumed("q", "continue", Some("q3")), "nobody: q2 taken/superseded", "an id of another pause");
}

#[test]
fn a_program_that_echoes_nothing_is_judged_by_the_action() {
    let mut desk = desk();
    desk.echo = Echo::No;
    desk.open("p");
    desk.go("p");
    desk.pass(5_000);
    desk.ask("p", |ask| (ask.action, ask.by) = (ResumeAction::Retry, Principal::Anonymous));
    assert_eq!(desk.resumed("p", "retry", None), "anonymous: q1 taken/superseded q2 resumed/-");
    desk.open("p");
    desk.go("p");
    assert_eq!(desk.resumed("p", "abort", None), "nobody: q3 taken/superseded");
}

#[test]
fn who_still_waits_is_credited_before_who_has_left() {
    let mut desk = desk();
    desk.echo = Echo::No;
    desk.open("p");
    desk.ask("p", |ask| ask.until -= Duration::from_secs(29));
    assert_eq!(desk.pass(5_000), " q1 timeout/no-answer");
    desk.ask("p", |ask| ask.by = Principal::Anonymous);
    assert_eq!(desk.resumed("p", "continue", None), "anonymous: q2 resumed/-");
    desk.open("p");
    desk.ask("p", |ask| ask.until -= Duration::from_secs(29));
    desk.pass(5_000);
    assert_eq!(desk.resumed("p", "continue", None), "viewer:", "nobody else can have done it");
}

#[test]
fn one_id_for_two_attempts_ends_both() {
    let same = |ask: &mut Ask| ask.request = "same".into();
    let mut desk = desk();
    desk.open("p");
    desk.ask("p", same);
    desk.pass(5_000);
    desk.ask("p", same);
    assert_eq!(show(&desk.pauses.undo(&key("p"), Code::SendFailed)), "timeout/send-failed");
    assert_eq!(desk.state(), "p=open");
    assert_eq!(desk.pauses.waiters.keys().collect::<Vec<_>>(), [&WaiterId(1)], "the first still waits");
    desk.ask("p", same);
    assert_eq!(desk.refused("p", Some("same")), " q1 refused/schema q3 refused/schema");
    assert_eq!(desk.state(), "p=open");
    assert_eq!(desk.pass(60_000), "");
}

#[test]
fn a_refusal_leaves_the_call_standing() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    assert_eq!(desk.refused("p", Some("q1")), " q1 refused/schema");
    assert_eq!(desk.state(), "p=open");
    assert_eq!(desk.go("p"), "sent");
    assert_eq!(desk.refused("p", Some("q1")), "", "answered already");
    assert_eq!(desk.state(), "p=resolving");
    assert_eq!(desk.refused("p", None), " q2 refused/schema");
    assert_eq!(desk.refused("unknown", None), "");
    desk.go("p");
    let refusal = Refused { code: RefusalCode::Shape, message: Some("a\u{202e}\nb\u{7}") };
    let answers = desk.pauses.refused(&key("p"), Some("q3"), refusal);
    assert_eq!(answers[0].outcome.message.as_deref(), Some("a b"));
}

#[test]
fn a_late_refusal_does_not_end_the_attempt_after_it() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    desk.pass(5_000);
    desk.go("p");
    assert_eq!(desk.refused("p", Some("q1")), " q1 refused/schema");
    assert_eq!(desk.state(), "p=resolving");
}

#[test]
fn who_hangs_up_leaves_the_attempt_behind() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    desk.pauses.gone(WaiterId(1));
    assert_eq!(desk.go("p"), "timeout/still-resolving");
    assert_eq!(desk.resumed("p", "continue", Some("q1")), "viewer:", "credited, though nobody waits");
    desk.open("q");
    desk.ask("q", |ask| ask.until -= Duration::from_secs(29));
    assert_eq!(desk.pass(1_000), " q3 timeout/no-answer");
    assert_eq!(desk.go("q"), "timeout/still-resolving");
    desk.pass(4_000);
    assert_eq!(desk.go("q"), "sent");
}

#[test]
fn endings_are_told() {
    let mut desk = desk();
    let others = Key { run: "s".into(), pause: "p".into() };
    desk.open("p");
    desk.go("p");
    desk.pauses.open(&others, AppId(2), item("{}"));
    assert_eq!(all(desk.pauses.run_finished(&"r".into())), " q1 no-such-pause/run-finished");
    assert_eq!((desk.pauses.held("r"), desk.pauses.held("s")), (0, 1));
    desk.open("q");
    desk.go("q");
    assert_eq!(all(desk.pauses.owner_gone(AppId(1))), " q2 timeout/app-disconnected");
    assert_eq!(desk.go("q"), "no-such-pause/no-such-pause");
    desk.open("o");
    desk.go("o");
    assert_eq!(all(desk.pauses.shut()), " q4 timeout/server-closing");
    assert_eq!(desk.state(), "");
}

#[test]
fn a_release_that_could_not_leave_is_undone() {
    let mut desk = desk();
    desk.open("p");
    desk.go("p");
    assert_eq!(show(&desk.pauses.undo(&key("p"), Code::SendFailed)), "timeout/send-failed");
    assert_eq!(desk.state(), "p=open");
    desk.go("ghost");
    desk.pauses.undo(&key("ghost"), Code::AppDisconnected);
    assert_eq!(desk.pass(60_000), "");
}

#[test]
fn the_order_of_the_checks() {
    let mut desk = desk();
    desk.attached = false;
    desk.open("p");
    let cut = Raw::parse(r#"["x…[truncated]"]"#).unwrap();
    let anonymous = |ask: &mut Ask| ask.by = Principal::Anonymous;
    let edit = |ask: &mut Ask| ask.input = Some(Raw::parse("{}").unwrap());
    assert_eq!(desk.ask("p", |ask| (anonymous(ask), edit(ask)).0), "refused/edit-refused");
    assert_eq!(desk.ask("p", |ask| ask.input = Some(cut.clone())), "refused/truncated");
    let inject = |ask: &mut Ask| (ask.action, ask.output) = (ResumeAction::Inject, Some(cut.clone()));
    assert_eq!(desk.ask("p", inject), "refused/truncated");
    assert_eq!(
        desk.ask("p", |ask| ask.output = Some(cut.clone())),
        "no-such-pause/no-owner",
        "not injected, so not looked at"
    );
    desk.house.edits = Edits::Refused;
    assert_eq!(desk.ask("p", edit), "refused/edit-refused");
    desk.house.edits = Edits::Allowed;
    assert_eq!(desk.ask("p", edit), "no-such-pause/no-owner");
    desk.attached = true;
    assert_eq!(desk.ask("p", edit), "refused/not-editable");
    assert_eq!(desk.ask("unknown", edit), "refused/not-editable");
    desk.open_with("e", r#"{"nodeId":"n","point":"before","editable":true}"#);
    desk.edits = false;
    assert_eq!(desk.ask("e", edit), "refused/not-editable", "the program never said it could");
    desk.edits = true;
    let large = Raw::string(&"x".repeat(1_000));
    assert_eq!(desk.ask("e", |ask| ask.input = Some(large)), "refused/too-large");
    assert_eq!(desk.state(), "p=open e=open", "nothing was claimed by all that");
    assert_eq!(desk.ask("e", edit), "sent");
    assert_eq!(desk.sent.as_deref(), Some(r#"{"pauseId":"e","action":"continue","input":{},"requestId":"q11"}"#));
}

#[test]
fn only_what_fits_the_action_is_forwarded() {
    let mut desk = desk();
    let everything = |action| {
        move |ask: &mut Ask| {
            (ask.action, ask.output, ask.pin) = (action, Some(Raw::parse("1").unwrap()), Some("digest".to_owned()));
        }
    };
    desk.open("p");
    desk.ask("p", everything(ResumeAction::Retry));
    assert_eq!(desk.sent.as_deref(), Some(r#"{"pauseId":"p","action":"retry","requestId":"q1"}"#));
    desk.open("i");
    desk.ask("i", everything(ResumeAction::Inject));
    assert_eq!(desk.sent.as_deref(), Some(r#"{"pauseId":"i","action":"inject","output":1,"requestId":"q2"}"#));
    desk.open_with("g", r#"{"nodeId":"n","point":"before","hold":{"policy":"drift","cause":"schema"}}"#);
    desk.ask("g", everything(ResumeAction::Continue));
    assert_eq!(desk.sent.as_deref(), Some(r#"{"pauseId":"g","action":"continue","requestId":"q3","pin":"digest"}"#));
}

#[test]
fn guarded_pauses_are_for_viewers() {
    let mut desk = desk();
    desk.house.agents = Level::Edit;
    let guarded = r#"{"nodeId":"n","point":"before","hold":{"policy":"lock","cause":"unapproved"}}"#;
    desk.open_with("g", guarded);
    let by = |by, action| move |ask: &mut Ask| (ask.by, ask.action) = (by, action);
    for principal in [Principal::Agent, Principal::Anonymous] {
        assert_eq!(desk.ask("g", by(principal, ResumeAction::Continue)), "refused/forbidden");
        assert_eq!(desk.ask("g", by(principal, ResumeAction::Retry)), "refused/forbidden");
    }
    assert_eq!(desk.ask("g", by(Principal::Anonymous, ResumeAction::Abort)), "refused/forbidden");
    assert_eq!(desk.ask("g", by(Principal::Agent, ResumeAction::Abort)), "sent");
    let long = format!(r#"{{"nodeId":"n","point":"before","hold":{{"detail":"{}"}}}}"#, "x".repeat(9_000));
    desk.open_with("h", &long);
    assert_eq!(
        desk.ask("h", by(Principal::Agent, ResumeAction::Continue)),
        "refused/forbidden",
        "however long its reason"
    );
}

#[test]
fn resumes_for_unknown_pauses_go_out_and_are_answered() {
    let mut desk = desk();
    assert_eq!(desk.go("p"), "sent");
    assert_eq!(desk.go("p"), "sent", "nothing to take");
    assert_eq!(desk.resumed("p", "continue", Some("q2")), "viewer: q1 taken/superseded q2 resumed/-");
    desk.go("late");
    desk.open("late");
    assert_eq!(desk.state(), "late=open");
    assert_eq!(desk.resumed("late", "continue", Some("q3")), "viewer: q3 resumed/-");
    desk.go("x");
    assert_eq!(desk.refused("x", None), " q4 refused/schema");
}

#[test]
fn a_flood_of_ghosts_pushes_out_ghosts_only() {
    let mut desk = desk();
    desk.open("real");
    desk.go("real");
    for ghost in 0..1_001 {
        assert_eq!(desk.go(&format!("ghost{ghost}")), "sent");
    }
    assert_eq!(desk.pass(0), " q2 timeout/no-answer");
    assert_eq!(desk.resumed("real", "continue", Some("q1")), "viewer: q1 resumed/-");
    assert_eq!(desk.pass(30_000).matches("no-answer").count(), 1_000);
    assert!(desk.pauses.entries.is_empty() && desk.pauses.deadlines.is_empty() && desk.pauses.waiters.is_empty());
    assert!(desk.pauses.by_owner.is_empty() && desk.pauses.ghosts.is_empty());
}

#[test]
fn a_connection_may_hold_a_thousand_calls() {
    let mut desk = desk();
    for pause in 0..1_000 {
        desk.open(&format!("p{pause}"));
    }
    assert!(!desk.pauses.open(&key("more"), AppId(1), item("{}")));
    assert!(desk.pauses.open(&key("p0"), AppId(1), item("{}")), "opening again is no other pause");
    assert_eq!(desk.pauses.held("r"), 1_000);
    assert!(desk.pauses.open(&Key { run: "s".into(), pause: "p".into() }, AppId(2), item("{}")));
    assert_eq!(desk.go("more"), "sent");
    desk.resumed("p0", "continue", None);
    assert!(desk.pauses.open(&key("next"), AppId(1), item("{}")));
}

#[test]
fn attempts_on_one_pause_are_bounded() {
    let mut desk = desk();
    desk.open("p");
    for _ in 0..20 {
        desk.ask("p", |ask| ask.until += Duration::from_secs(600));
        desk.pass(5_000);
    }
    assert_eq!(desk.resumed("p", "continue", Some("q1")).matches("superseded").count(), 16);
    assert_eq!(desk.pass(10_000_000), "");
}

#[test]
fn pauses_are_listed_oldest_first() {
    let mut desk = desk();
    for pause in ["c", "a", "b"] {
        desk.open(pause);
    }
    desk.go("a");
    assert_eq!(desk.state(), "c=open a=resolving b=open");
    desk.open("c");
    assert_eq!(desk.state(), "a=resolving b=open c=open");
    assert_eq!(desk.pauses.list(Some("other")).count(), 0);
    assert_eq!(desk.pauses.list(Some("r")).count(), 3);
}

#[test]
fn an_item_shows_what_the_program_said() {
    let payload = r#"{"pauseId":"p","nodeId":"tool:x","point":"error","reason":"loop","loop":{"repeats":3},"editable":true,
        "hold":{"policy":"drift"},"until":{"at":5},"smart":7,"unknown":1}"#;
    let mut desk = desk();
    desk.open_with("p", payload);
    desk.pauses.moved(&key("p"), Some(Raw::parse(r#"{"at":9}"#).unwrap()));
    let shown = Raw::object(|w| desk.pauses.get(&key("p")).unwrap().item.write(&key("p"), Some("app"), w));
    assert_eq!(
        String::from_utf8_lossy(shown.as_bytes()),
        r#"{"runId":"r","pauseId":"p","nodeId":"tool:x","point":"error","since":7,"reason":"loop","smart":7,"loop":{"repeats":3},"editable":true,"hold":{"policy":"drift"},"until":{"at":9},"app":"app"}"#
    );
}

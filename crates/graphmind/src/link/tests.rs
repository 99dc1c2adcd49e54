//! The life of a link as scripts: what happens, and what is to be done about it.

use std::time::Duration;

use super::{Action, Failure, Input, Link, Timing};

const ACK: &str = r#"{"gm":1,"seq":0,"ts":1,"runId":"*","type":"hello.ack","payload":{"versions":{"protocol":1,"viewer":"v"},"capabilities":[],"sessionToken":"tok","breakpoints":[],"mode":"run"}}"#;

fn link() -> Link {
    Link::new(Timing::STANDARD)
}

fn said(actions: Vec<Action>) -> String {
    let words = actions.into_iter().map(|action| match action {
        Action::Dial => "dial".to_owned(),
        Action::Hang => "hang up".to_owned(),
        Action::Greet { resume } => format!("hello {}", resume.unwrap_or_default()).trim_end().to_owned(),
        Action::Attach(ack) => format!("attach {} {}", ack.breakpoints.len(), ack.mode),
        Action::Detach => "detach".to_owned(),
        Action::Obey(control) => format!("obey {}", control.kind()),
        Action::Wake(after) => format!("wake {}", after.as_millis()),
        Action::Sleep => "sleep".to_owned(),
        Action::Warn { key, .. } => format!("warn {key}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn text(text: &str) -> Input {
    Input::Text(text.to_owned().into())
}

fn step(link: &mut Link, input: Input) -> String {
    said(link.step(input))
}

fn attached() -> Link {
    let mut link = link();
    for input in [Input::Start, Input::Opened, text(ACK)] {
        link.step(input);
    }
    link
}

#[test]
fn t01_the_way_to_an_attachment() {
    let mut link = link();
    insta::assert_snapshot!(step(&mut link, Input::Start), @"dial, wake 300");
    insta::assert_snapshot!(step(&mut link, Input::Opened), @"hello, wake 1000");
    insta::assert_snapshot!(step(&mut link, text(ACK)), @"sleep, attach 0 run");
    insta::assert_snapshot!(step(&mut link, text(ACK)), @"");
}

#[test]
fn t02_another_major_is_left_from_any_state() {
    let other = r#"{"gm":2,"seq":0,"ts":1,"runId":"*","type":"hello.ack","payload":{}}"#;
    let newer = ACK.replace(r#""protocol":1"#, r#""protocol":2"#);
    for frame in [other, &newer] {
        let mut link = link();
        link.step(Input::Start);
        link.step(Input::Opened);
        assert_eq!(step(&mut link, text(frame)), "warn version, hang up, wake 10000");
    }
    assert_eq!(step(&mut attached(), text(other)), "warn version, hang up, detach, wake 200");
    let Some(Action::Warn { text: said, .. }) = attached().step(text(other)).into_iter().next() else { panic!() };
    assert_eq!(said, "the hub speaks version 2 of the protocol, this program 1");
}

#[test]
fn t03_t04_a_hub_that_takes_too_long_is_tried_again_later() {
    let mut link = link();
    link.step(Input::Start);
    insta::assert_snapshot!(step(&mut link, Input::Timeout), @"warn connect, hang up, wake 10000");
    insta::assert_snapshot!(step(&mut link, Input::Opened), @"");
    insta::assert_snapshot!(step(&mut link, Input::Timeout), @"dial, wake 300");
    link.step(Input::Opened);
    insta::assert_snapshot!(step(&mut link, Input::Timeout), @"warn handshake, hang up, wake 10000");
}

#[test]
fn t09_what_is_not_valid_is_ignored_and_the_link_stays() {
    let mut link = attached();
    for (frame, expected) in [
        ("junk", "warn invalid"),
        ("", "warn invalid"),
        ("[1,2]", "warn invalid"),
        (r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"exec.resume","payload":{}}"#, "warn invalid"),
        (
            r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"exec.resume","payload":{"pauseId":"p","action":"jump"}}"#,
            "warn invalid",
        ),
        (r#"{"gm":2,"seq":-1,"ts":1,"runId":"*","type":"mode.set","payload":{}}"#, "warn invalid"),
        (r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"surprise","payload":3}"#, ""),
        (r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"run.finished","payload":{"status":"ok"}}"#, ""),
        (r#"{"gm":1,"seq":1,"ts":1,"runId":"x","type":"mode.set","payload":{"mode":"step"}}"#, "obey mode.set"),
        (r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"watch.set","payload":{"watched":true}}"#, "obey watch.set"),
        (
            r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"breakpoint.set","payload":{"matcher":{"kind":"tool"}}}"#,
            "obey breakpoint.set",
        ),
        (
            r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"breakpoint.clear","payload":{"matcher":{}}}"#,
            "obey breakpoint.clear",
        ),
        (
            r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"exec.resume","payload":{"pauseId":"p","action":"abort"}}"#,
            "obey exec.resume",
        ),
    ] {
        assert_eq!(step(&mut link, text(frame)), expected, "{frame}");
    }
    assert_eq!(step(&mut link, Input::Text(vec![0xff, 0x00].into())), "warn invalid");
}

#[test]
fn b11_a_breakpoint_that_cannot_be_read_is_skipped_and_said() {
    let mut link = link();
    link.step(Input::Start);
    link.step(Input::Opened);
    let ack = ACK.replace(r#""breakpoints":[]"#, r#""breakpoints":[{},{"after":-1},{"after":"2"},{"after":2}]"#);
    let actions = link.step(text(&ack));
    let said = |actions: &[Action]| {
        let last = actions.last();
        last.and_then(|action| if let Action::Warn { text, .. } = action { Some(text.clone()) } else { None })
    };
    assert_eq!(
        said(&actions).as_deref(),
        Some("the hub sent a breakpoint that cannot be read: payload.breakpoints.1.after: unknown value")
    );
    assert_eq!(self::said(actions), "sleep, attach 2 run, warn breakpoint");
    for kind in ["breakpoint.set", "breakpoint.clear"] {
        let frame =
            format!(r#"{{"gm":1,"seq":1,"ts":1,"runId":"*","type":"{kind}","payload":{{"matcher":{{"after":1.5}}}}}}"#);
        let actions = link.step(text(&frame));
        let expected = format!("the hub sent {kind} that cannot be read: payload.matcher.after: unknown value");
        assert_eq!(said(&actions), Some(expected));
    }
}

#[test]
fn t09_before_the_ack_controls_are_ignored_and_an_ack_with_a_part_missing_is_none() {
    let mut link = link();
    link.step(Input::Start);
    assert_eq!(step(&mut link, text(ACK)), "", "no socket yet");
    link.step(Input::Opened);
    assert_eq!(
        step(&mut link, text(r#"{"gm":1,"seq":1,"ts":1,"runId":"*","type":"mode.set","payload":{"mode":"step"}}"#)),
        ""
    );
    assert_eq!(step(&mut link, text(&ACK.replace(r#""breakpoints":[],"#, ""))), "warn invalid");
    assert_eq!(step(&mut link, text(&ACK.replace(r#","mode":"run""#, ""))), "warn invalid");
    assert_eq!(step(&mut link, Input::Timeout), "warn handshake, hang up, wake 10000");
}

#[test]
fn t11_a_lost_attachment_is_retried_soon_and_then_at_the_usual_interval() {
    let mut link = attached();
    assert_eq!(step(&mut link, Input::Gone(String::new())), "warn lost, hang up, detach, wake 200");
    for wait in [400, 800, 10_000, 10_000] {
        assert_eq!(step(&mut link, Input::Timeout), "dial, wake 300");
        let failed = Input::Failed(Failure::Now(String::new()));
        assert_eq!(step(&mut link, failed), format!("warn connect, hang up, wake {wait}"));
    }
    step(&mut link, Input::Timeout);
    step(&mut link, Input::Opened);
    step(&mut link, text(ACK));
    assert_eq!(step(&mut link, Input::Gone(String::new())), "warn lost, hang up, detach, wake 200", "armed again");

    let mut hasty = Link::new(Timing { retry: Duration::from_millis(300), ..Timing::STANDARD });
    for input in [Input::Start, Input::Opened, text(ACK)] {
        hasty.step(input);
    }
    assert!(step(&mut hasty, Input::Gone(String::new())).ends_with("wake 200"));
    step(&mut hasty, Input::Timeout);
    assert!(step(&mut hasty, Input::Gone(String::new())).ends_with("wake 300"), "never longer than the interval");
}

#[test]
fn the_token_of_a_claimed_run_is_kept_for_good() {
    let mut link = attached();
    let other = ACK.replace(r#""sessionToken":"tok","#, "");
    for (ack, expected) in [(other.as_str(), "hello tok, wake 1000"), (ACK, "hello tok, wake 1000")] {
        step(&mut link, Input::Gone(String::new()));
        step(&mut link, Input::Timeout);
        assert_eq!(step(&mut link, Input::Opened), expected);
        step(&mut link, text(ack));
    }
    step(&mut link, Input::Gone(String::new()));
    step(&mut link, Input::Timeout);
    step(&mut link, Input::Opened);
    step(&mut link, text(&ACK.replace(r#""sessionToken":"tok""#, r#""sessionToken":"new""#)));
    step(&mut link, Input::Gone(String::new()));
    step(&mut link, Input::Timeout);
    assert_eq!(step(&mut link, Input::Opened), "hello new, wake 1000");
}

#[test]
fn r01_r06_a_kick_starts_or_hurries_and_otherwise_does_nothing() {
    let mut link = link();
    assert_eq!(step(&mut link, Input::Timeout), "");
    assert_eq!(step(&mut link, Input::Kick), "dial, wake 300");
    assert_eq!(step(&mut link, Input::Kick), "");
    assert_eq!(step(&mut link, Input::Start), "");
    step(&mut link, Input::Timeout);
    assert_eq!(step(&mut link, Input::Start), "", "the retry is on its way");
    assert_eq!(step(&mut link, Input::Kick), "dial, wake 300");
    step(&mut link, Input::Opened);
    assert_eq!(step(&mut link, Input::Kick), "");
    step(&mut link, text(ACK));
    assert_eq!(step(&mut link, Input::Kick), "");
}

#[test]
fn t12_a_hub_that_can_never_be_reached_is_left_alone() {
    let mut link = link();
    link.step(Input::Start);
    assert_eq!(step(&mut link, Input::Failed(Failure::Ever(String::new()))), "warn hopeless, hang up, sleep");
    for input in [Input::Start, Input::Kick, Input::Timeout, Input::Opened, text(ACK)] {
        assert_eq!(step(&mut link, input), "");
    }
}

#[test]
fn r09_disposed_is_the_end() {
    assert_eq!(step(&mut link(), Input::Dispose), "sleep, hang up");
    let mut link = attached();
    assert_eq!(step(&mut link, Input::Dispose), "sleep, hang up, detach");
    for input in [Input::Start, Input::Kick, Input::Timeout, Input::Opened, text(ACK), Input::Dispose] {
        assert_eq!(step(&mut link, input), "");
    }
}

#[test]
fn events_that_come_late_change_nothing() {
    let mut link = attached();
    for input in [Input::Opened, Input::Timeout, Input::Failed(Failure::Now(String::new()))] {
        assert_eq!(step(&mut link, input), "");
    }
    step(&mut link, Input::Gone(String::new()));
    for input in [Input::Opened, Input::Gone(String::new()), text(ACK), Input::Failed(Failure::Now(String::new()))] {
        assert_eq!(step(&mut link, input), "");
    }
}

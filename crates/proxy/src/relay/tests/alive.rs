//! A call that stands must not die of its host's patience.

use std::time::Duration;

use lockgate_gate::Release;

use super::stage::{RESULT, Stage, pass, raw};
use crate::alive::{Heartbeat, Hosts};

const BEFORE: &str = r#"{"kind":"tool"}"#;
const AFTER: &str = r#"{"kind":"tool","point":"after"}"#;
const CALL: &str = r#"{"id":1,"method":"tools/call","params":{"name":"pay","_meta":{"progressToken":"t"}}}"#;

fn beat(value: &str, point: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t","progress":{value},"message":"held at {point} in the debugger: tools/call pay id 1"}}}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn b13_progress_after_one_second_then_every_five_rising_towards_zero() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    pass(999).await;
    assert!(stage.host.hears_nothing().await);
    pass(1).await;
    assert_eq!(stage.host.hear().await, beat("-1", "before"));
    for value in ["-0.5", "-0.3333333333333333", "-0.25"] {
        pass(4_999).await;
        assert!(stage.host.hears_nothing().await);
        pass(1).await;
        assert_eq!(stage.host.hear().await, beat(value, "before"));
    }
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    pass(60_000).await;
    assert!(stage.host.hears_nothing().await, "it ends with the hold");
}

#[tokio::test(start_paused = true)]
async fn b13_afterwards_it_rises_above_what_the_server_reported() {
    let mut stage = Stage::armed(&[BEFORE, AFTER]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    pass(1_000).await;
    stage.host.hear().await;
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    for (token, progress) in [("\"t\"", "0"), ("\"t\"", "41.5"), ("\"other\"", "99"), ("\"t\"", "7")] {
        stage
            .down(&format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
            ))
            .await;
    }
    stage.server.say(RESULT).await;
    stage.paused(2).await;
    pass(1_000).await;
    assert_eq!(stage.host.hear().await, beat("42.5", "after"));
    stage.resume(2, r#""action":"retry""#);
    stage.server.hear().await;
    stage.server.say(RESULT).await;
    stage.paused(3).await;
    pass(1_000).await;
    assert_eq!(stage.host.hear().await, beat("43.5", "after"));
}

#[tokio::test(start_paused = true)]
async fn b13_the_last_value_before_bounds_the_first_after() {
    let mut stage = Stage::armed(&[BEFORE, AFTER]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    for _ in 0..2 {
        pass(5_000).await;
        stage.host.hear().await;
    }
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    stage.server.say(RESULT).await;
    stage.paused(2).await;
    pass(1_000).await;
    assert_eq!(stage.host.hear().await, beat("0.5", "after"));
}

#[tokio::test(start_paused = true)]
async fn b13_nobody_hears_progress_who_did_not_ask_or_when_it_is_off() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(super::stage::CALL).await;
    stage.paused(1).await;
    pass(50_000).await;
    assert!(stage.host.hears_nothing().await);

    let mut stage = Stage::shaped(|shape| shape.hold.heartbeat = Heartbeat::Off);
    stage.attach();
    stage.arm(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    pass(50_000).await;
    assert!(stage.host.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn the_server_hears_progress_about_its_own_questions() {
    let mut stage = Stage::armed(&[r#"{"kind":"llm"}"#]);
    stage.server.say(r#"{"id":1,"method":"sampling/createMessage","params":{"_meta":{"progressToken":5}}}"#).await;
    stage.paused(1).await;
    pass(1_000).await;
    let heard = stage.server.hear().await;
    assert!(heard.contains(r#""progressToken":5,"progress":-1"#), "{heard}");
}

/// What the until of the first pause says.
async fn until(stage: &mut Stage) -> Option<String> {
    stage.paused(1).await;
    let paused = stage.events().await.iter().find(|event| event.kind() == "exec.paused").expect("a pause").payload();
    let until = paused.view().get("until")?;
    Some(format!("{:?} {:?}", until.get("action")?, until.get("why")?))
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_the_hold_as_it_was_told_to() {
    let check = async |release: Release, host: Option<&str>, server: Option<&str>| {
        let mut stage = Stage::shaped(|shape| {
            shape.hold.limit = Some(Duration::from_secs(20));
            shape.hold.at_limit = Some(release);
        });
        stage.attach();
        stage.arm(&[BEFORE]);
        stage.host.say(super::stage::CALL).await;
        assert!(until(&mut stage).await.is_some_and(|until| until.ends_with(r#""host-limit""#)));
        pass(19_999).await;
        assert_eq!(stage.gate.held(), 1);
        pass(1).await;
        match host {
            Some(heard) => assert!(stage.host.hear().await.contains(heard)),
            None => assert!(stage.host.hears_nothing().await),
        }
        match server {
            Some(heard) => assert_eq!(stage.server.hear().await, heard),
            None => assert!(stage.server.hears_nothing().await),
        }
    };
    check(Release::Continue, None, Some(super::stage::CALL)).await;
    check(Release::Abort, Some("-32099"), None).await;
    check(Release::Inject(Some(raw(r#""late""#))), Some(r#""text":"late""#), None).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_choice_the_limit_counts_only_while_nobody_watches() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(super::stage::CALL).await;
    assert_eq!(until(&mut stage).await, None);
    pass(3_600_000).await;
    assert_eq!(stage.gate.held(), 1);

    let mut stage = Stage::new();
    stage.attach_unwatched();
    stage.arm(&[BEFORE]);
    stage.host.say(super::stage::CALL).await;
    assert_eq!(until(&mut stage).await.as_deref(), Some(r#""continue" "host-limit""#));
    pass(54_999).await;
    assert_eq!(stage.gate.held(), 1);
    pass(1).await;
    assert_eq!(stage.server.hear().await, super::stage::CALL);
}

#[tokio::test(start_paused = true)]
async fn the_time_at_the_server_counts_against_the_hosts_patience() {
    let mut stage = Stage::new();
    stage.attach_unwatched();
    stage.arm(&[AFTER]);
    stage.up(super::stage::CALL).await;
    pass(40_000).await;
    stage.server.say(RESULT).await;
    stage.paused(1).await;
    pass(14_999).await;
    assert_eq!(stage.gate.held(), 1);
    pass(1).await;
    assert_eq!(stage.host.hear().await, RESULT);
}

fn learned() -> Hosts {
    let mut hosts = Hosts::default();
    for _ in 0..2 {
        hosts.gave_up("host", "9", Duration::from_secs(30));
    }
    hosts
}

const HELLO: &str = r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"host","version":"9"}}}"#;

#[tokio::test(start_paused = true)]
async fn what_was_learned_about_a_host_is_used_and_told() {
    let mut stage = Stage::shaped(|shape| shape.hosts = learned());
    stage.attach_unwatched();
    stage.up(HELLO).await;
    stage.arm(&[BEFORE]);
    stage.host.say(super::stage::CALL).await;
    stage.paused(1).await;
    pass(300).await;
    pass(24_700).await;
    assert_eq!(stage.server.hear().await, super::stage::CALL);
    stage.close().await;
    let said = stage.terminal().await;
    assert!(said.contains("; this host waits 30 s, "), "{said}");
}

#[tokio::test(start_paused = true)]
async fn progress_moves_the_limit_where_it_is_known_to_count() {
    let mut hosts = learned();
    hosts.outlasted("host", "9", Duration::from_secs(60));
    let mut stage = Stage::shaped(|shape| shape.hosts = hosts);
    stage.attach_unwatched();
    stage.up(HELLO).await;
    stage.arm(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    for _ in 0..20 {
        pass(5_000).await;
    }
    assert_eq!(stage.gate.held(), 1, "100 s, although the host waits 30");
    let story = stage.story("exec.paused").await;
    assert!(story.contains("exec.until"), "{story}");
}

#[tokio::test(start_paused = true)]
async fn people_are_told_what_ends_a_hold_and_when() {
    let check = async |limit: Option<u64>, at_limit: Option<Release>, expected: &str| {
        let mut stage = Stage::shaped(|shape| {
            shape.hold.limit = limit.map(Duration::from_secs);
            shape.hold.at_limit = at_limit;
        });
        stage.attach();
        stage.arm(&[BEFORE]);
        stage.host.say(CALL).await;
        stage.paused(1).await;
        pass(500).await;
        stage.resume(1, r#""action":"abort""#);
        stage.host.hear().await;
        stage.close().await;
        let said = stage.terminal().await;
        let notice = said.lines().next().and_then(|line| line.split_once("; ")).map(|(_, end)| end);
        assert_eq!(notice, Some(expected), "{said}");
    };
    check(None, None, "hosts usually wait 60 s, 59.5 s left").await;
    check(None, Some(Release::Abort), "hosts usually wait 60 s, abort in 54.5 s").await;
    check(Some(20), None, "it may stand 20 s, 19.5 s left").await;
    check(Some(20), Some(Release::Inject(None)), "it may stand 20 s, inject in 19.5 s").await;
}

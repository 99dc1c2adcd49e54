//! Matchers: fitting, set and cleared live, with conditions and counts (wire §1.6, §2.6, §10.4).

use std::sync::Arc;

use lockgate_gate::{Call, HiddenSides, Round, Stop, Watched};
use lockgate_protocol::debug::{ErrorInfo, NodeKind, RunMode};
use lockgate_protocol::edit::Hidden;

use crate::kit::{Desk, node, raw, tool};

#[tokio::test(start_paused = true)]
async fn h02_a_matcher_fits_by_point_kind_and_name() {
    let check = async |matcher: &str, call: Call, at, expected: bool| {
        let mut desk = Desk::new(|_| {});
        desk.set(matcher);
        assert_eq!(desk.holds(call, at).await, expected, "{matcher} {at:?}");
    };
    let llm = || node(NodeKind::Llm, "step");
    check("{}", tool("t"), Stop::Before, true).await;
    check("{}", llm(), Stop::Before, true).await;
    check("{}", tool("t"), Stop::After, false).await;
    check("{}", tool("t"), Stop::Error, false).await;
    check(r#"{"point":"before"}"#, tool("t"), Stop::Before, true).await;
    check(r#"{"point":"after"}"#, tool("t"), Stop::After, true).await;
    check(r#"{"point":"after"}"#, tool("t"), Stop::Before, false).await;
    check(r#"{"point":"error"}"#, tool("t"), Stop::Error, true).await;
    check(r#"{"point":"error"}"#, tool("t"), Stop::After, false).await;
    check(r#"{"kind":"tool"}"#, tool("t"), Stop::Before, true).await;
    check(r#"{"kind":"tool"}"#, llm(), Stop::Before, false).await;
    check(r#"{"name":"t"}"#, tool("t"), Stop::Before, true).await;
    check(r#"{"name":"t"}"#, tool("T"), Stop::Before, false).await;
    check(r#"{"name":""}"#, tool("t"), Stop::Before, false).await;
    check(r#"{"name":"tool:t"}"#, tool("t"), Stop::Before, false).await;
    check(r#"{"kind":"llm","name":"step","point":"error"}"#, llm(), Stop::Error, true).await;
    check(r#"{"kind":"tool","name":"step","point":"error"}"#, llm(), Stop::Error, false).await;
    let named = Call { instance: Some("t".into()), ..tool("u") };
    check(r#"{"name":"t"}"#, named, Stop::Before, false).await;
}

#[tokio::test(start_paused = true)]
async fn h07_set_and_clear_work_live_and_by_exact_fields() {
    let mut desk = Desk::new(|_| {});
    desk.set(r#"{"name":"t"}"#);
    assert!(desk.holds(tool("t"), Stop::Before).await);
    for other in ["{}", r#"{"name":"u"}"#, r#"{"name":"t","point":"before"}"#, r#"{"name":"t","after":0}"#] {
        desk.clear(other);
        assert!(desk.holds(tool("t"), Stop::Before).await, "{other} is another matcher");
    }
    desk.clear(r#"{"name":"t"}"#);
    assert!(!desk.holds(tool("t"), Stop::Before).await);
    desk.set("{}");
    desk.set(r#"{"point":"before"}"#);
    desk.set("{}");
    desk.clear("{}");
    assert!(desk.holds(tool("t"), Stop::Before).await, "the other one still fits");
    desk.clear(r#"{"point":"before"}"#);
    assert!(!desk.holds(tool("t"), Stop::Before).await);
}

#[tokio::test(start_paused = true)]
async fn b09_a_count_lets_some_pass() {
    let mut desk = Desk::new(|_| {});
    desk.set(r#"{"name":"t","after":2}"#);
    let mut held = Vec::new();
    for name in ["t", "u", "t", "u", "t", "t"] {
        held.push(desk.holds(tool(name), Stop::Before).await);
    }
    assert_eq!(held, [false, false, false, false, true, true]);
    desk.set(r#"{"name":"t","after":2}"#);
    assert!(desk.holds(tool("t"), Stop::Before).await, "setting it again keeps the count");
    desk.clear(r#"{"name":"t","after":2}"#);
    desk.set(r#"{"name":"t","after":2}"#);
    assert!(!desk.holds(tool("t"), Stop::Before).await, "clearing drops it");
    desk.holds(tool("t"), Stop::Before).await;
    desk.detach();
    desk.attach(Watched::Yes, &[]);
    desk.set(r#"{"name":"t","after":2}"#);
    assert!(!desk.holds(tool("t"), Stop::Before).await, "so does a lost link");
}

#[tokio::test(start_paused = true)]
async fn b09_only_calls_for_which_the_condition_is_true_count() {
    let mut desk = Desk::new(|_| {});
    desk.set(r#"{"when":{">":[{"var":"input.n"},5]},"after":1}"#);
    let mut held = Vec::new();
    for n in [9, 1, 1, 9, 1, 9] {
        let call = Call { input: Some(raw(&format!(r#"{{"n":{n}}}"#))), ..tool("t") };
        held.push(desk.holds(call, Stop::Before).await);
    }
    assert_eq!(held, [false, false, false, true, false, true]);
}

#[tokio::test(start_paused = true)]
async fn b09_every_fitting_matcher_counts_whichever_holds() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    desk.set(r#"{"name":"t","after":1}"#);
    assert!(desk.holds(tool("t"), Stop::Before).await);
    desk.clear("{}");
    assert!(desk.holds(tool("t"), Stop::Before).await);
}

#[tokio::test(start_paused = true)]
async fn b09_a_call_that_was_held_and_went_on_counts_once() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    desk.set(r#"{"name":"t","after":3}"#);
    for _ in 0..2 {
        assert!(desk.holds(tool("t"), Stop::Before).await);
    }
    desk.clear("{}");
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(desk.holds(tool("t"), Stop::Before).await);
    }
    assert_eq!(held, [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn b09_step_mode_asks_no_condition_and_counts_nothing() {
    let mut desk = Desk::new(|_| {});
    desk.set(r#"{"when":false,"point":"after"}"#);
    desk.set(r#"{"after":1}"#);
    desk.gate.mode(RunMode::Step);
    assert!(desk.holds(tool("t"), Stop::Before).await);
    assert!(desk.holds(tool("t"), Stop::After).await);
    desk.gate.mode(RunMode::Run);
    assert!(!desk.holds(tool("t"), Stop::Before).await, "this is the first to be counted");
    assert!(!desk.holds(tool("t"), Stop::After).await);
}

#[tokio::test(start_paused = true)]
async fn b10_conditions_see_the_call_and_nothing_else() {
    let check = async |when: &str, call: &Call, at: Stop, expected: bool| {
        let mut desk = Desk::new(|_| {});
        desk.set(&format!(r#"{{"point":"{}","when":{when}}}"#, at.point()));
        assert_eq!(desk.holds(call.clone(), at).await, expected, "{when}");
        assert_eq!(desk.warnings(), [""; 0]);
    };
    let call = Call {
        input: Some(raw(r#"{"city":{"names":["Wien","Vienna"]},"n":7}"#)),
        output: Some(raw(r#"[1,2,3]"#)),
        error: Some(Box::new(ErrorInfo { name: "E".to_owned(), message: "boom".to_owned(), stack: None })),
        ..tool("t")
    };
    for (when, expected) in [
        (r#"{"==":[{"var":"input.city.names.1"},"Vienna"]}"#, true),
        (r#"{"==":[{"var":"input.n"},7]}"#, true),
        (r#"{"==":[{"var":"input.nothing.there"},null]}"#, true),
        (r#"{"==":[{"var":"output.2"},3]}"#, true),
        (r#"{"==":[{"var":"error.message"},"boom"]}"#, true),
        (r#"{"var":"error.stack"}"#, false),
        (r#"{"==":[{"var":"name"},"t"]}"#, true),
        (r#"{"==":[{"var":"kind"},"tool"]}"#, true),
        (r#"{"==":[{"var":"point"},"error"]}"#, true),
        (r#"{"var":"run"}"#, false),
        (r#"{"var":["nothing","default"]}"#, true),
        ("true", true),
        ("0", false),
        ("[]", false),
    ] {
        check(when, &call, Stop::Error, expected).await;
    }
    let bare = Call { input: None, ..tool("t") };
    check(r#"{"and":[{"===":[{"var":"input"},null]},{"===":[{"var":"error"},null]}]}"#, &bare, Stop::Before, true)
        .await;
}

#[tokio::test(start_paused = true)]
async fn b10_hidden_sides_are_placeholders_for_conditions() {
    let call = || Call { input: Some(raw(r#"{"pin":1234}"#)), output: Some(raw(r#""secret""#)), ..tool("t") };
    let check = async |hidden, when: &str, call: Call, expected: bool| {
        let mut desk = Desk::new(|config| {
            config.hidden = Arc::new(move |kind| match kind {
                NodeKind::Tool => hidden,
                _ => HiddenSides { input: Hidden::No, output: Hidden::No },
            });
        });
        desk.set(&format!(r#"{{"point":"after","when":{when}}}"#));
        assert_eq!(desk.holds(call, Stop::After).await, expected, "{when}");
    };
    let both = HiddenSides { input: Hidden::Yes, output: Hidden::Yes };
    let input = HiddenSides { input: Hidden::Yes, output: Hidden::No };
    check(both, r#"{"==":[{"var":"input.pin"},1234]}"#, call(), false).await;
    check(both, r#"{"==":[{"var":"input"},"__REDACTED__"]}"#, call(), true).await;
    check(both, r#"{"==":[{"var":"output"},"__REDACTED__"]}"#, call(), true).await;
    check(input, r#"{"==":[{"var":"output"},"secret"]}"#, call(), true).await;
    let bare = Call { input: None, output: None, ..tool("t") };
    check(both, r#"{"==":[{"var":"input"},null]}"#, bare, true).await;
    let llm = Call { node: node(NodeKind::Llm, "step").node, ..call() };
    check(both, r#"{"==":[{"var":"input.pin"},1234]}"#, llm, true).await;
}

#[tokio::test(start_paused = true)]
async fn b11_a_rule_that_cannot_be_read_is_skipped_with_one_warning() {
    let mut desk = Desk::new(|_| {});
    for _ in 0..3 {
        desk.set(r#"{"when":{"no-such-operator":[1]}}"#);
    }
    assert!(!desk.holds(tool("t"), Stop::Before).await);
    assert_eq!(
        desk.warnings(),
        [
            "breakpoint not set, its condition cannot be read: unknown operator `no-such-operator` at `/no-such-operator`"
        ]
    );
    desk.gate.arm(
        vec![
            crate::kit::read_matcher(r#"{"when":{"no-such-operator":[1]}}"#),
            crate::kit::read_matcher(r#"{"name":"t"}"#),
        ],
        RunMode::Run,
    );
    assert!(desk.holds(tool("t"), Stop::Before).await, "the others are armed");
    assert!(!desk.holds(tool("u"), Stop::Before).await);
    assert_eq!(desk.warnings(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b11_a_rule_beyond_its_bounds_is_false_with_one_warning() {
    let check = async |when: &str, input: &str, warning: &str| {
        let mut desk = Desk::new(|_| {});
        desk.set(&format!(r#"{{"when":{when}}}"#));
        let call = Call { input: Some(raw(input)), ..tool("t") };
        for _ in 0..3 {
            assert!(!desk.holds(call.clone(), Stop::Before).await);
        }
        assert_eq!(desk.warnings(), [format!("condition of a breakpoint counts as false: {warning}")]);
    };
    let many = format!("[{}]", vec!["1"; 6_000].join(","));
    check(r#"{"all":[{"var":"input"},{"==":[{"var":""},1]}]}"#, &many, "rule takes too many steps").await;
    let deep = format!("{}true{}", r#"{"!":["#.repeat(40), "]}".repeat(40));
    check(&deep, "{}", "rule nested too deeply").await;
    let mut desk = Desk::new(|_| {});
    let shallow = format!("{}true{}", r#"{"!":"#.repeat(30), "}".repeat(30));
    desk.set(&format!(r#"{{"when":{shallow}}}"#));
    assert!(desk.holds(tool("t"), Stop::Before).await);
}

#[tokio::test(start_paused = true)]
async fn b12_conditions_need_nothing_from_the_hub_at_the_gate() {
    let mut desk = Desk::new(|_| {});
    desk.attach_old();
    desk.set(r#"{"when":{"==":[{"var":"input.x"},2]}}"#);
    assert!(!desk.holds(tool("t"), Stop::Before).await);
    assert!(desk.holds(Call { input: Some(raw(r#"{"x":2}"#)), ..tool("t") }, Stop::Before).await);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_round_is_held_at_its_answer_only() {
    let check = async |matcher: &str, round, at, expected: bool| {
        let mut desk = Desk::new(|_| {});
        desk.set(matcher);
        assert_eq!(desk.holds(Call { round, ..tool("t") }, at).await, expected, "{matcher} {round:?} {at:?}");
    };
    check("{}", Round::New, Stop::Before, true).await;
    check("{}", Round::Repeated, Stop::Before, false).await;
    check(r#"{"point":"after"}"#, Round::Repeated, Stop::After, true).await;
    check(r#"{"point":"error"}"#, Round::Repeated, Stop::Error, true).await;
}

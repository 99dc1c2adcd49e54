//! Whether somebody is attached makes no difference to what is said and told, as long as nothing is held.

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert_eq, prop_oneof, proptest};
use tokio::runtime::Builder;

use super::stage::{Stage, pass};
use crate::side::Side;

/// A line from a side, and how many milliseconds pass after it.
type Said = (Side, String, u64);

/// When a hub answers: never, before the line of this number, or at once.
type Attached = Option<usize>;

/// Everything viewers are told of a conversation.
async fn told(script: &[Said], attached: Attached) -> Vec<String> {
    let mut stage = Stage::new();
    for (number, (from, line, wait)) in script.iter().enumerate() {
        if attached == Some(number) {
            stage.attach();
        }
        match from {
            Side::Client => stage.up(line).await,
            Side::Server => stage.down(line).await,
        }
        if *wait > 0 {
            pass(*wait).await;
        }
    }
    stage.events().await.iter().map(|event| format!("{} {:?}", event.kind(), event.payload())).collect()
}

fn line() -> impl Strategy<Value = (Side, String)> {
    let fixed = |side, text: &str| Just((side, text.to_owned()));
    let id = || 0_u8..4;
    prop_oneof![
        4 => id().prop_map(|id| {
            (Side::Client, format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t{id}","arguments":{{"n":{id}}}}}}}"#))
        }),
        4 => id().prop_map(|id| (Side::Server, format!(r#"{{"id":{id},"result":{{"content":[]}}}}"#))),
        1 => id().prop_map(|id| (Side::Server, format!(r#"{{"id":{id},"error":{{"code":-1,"message":"no"}}}}"#))),
        1 => id().prop_map(|id| {
            (Side::Client, format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#))
        }),
        1 => id().prop_map(|id| {
            (Side::Server, format!(r#"{{"id":{id},"result":{{"resultType":"input_required","requestState":"s","inputRequests":{{"k":{{"method":"roots/list"}}}}}}}}"#))
        }),
        1 => id().prop_map(|id| {
            let params = r#"{"name":"t","requestState":"s","inputResponses":{"k":{"roots":[]}}}"#;
            (Side::Client, format!(r#"{{"id":{id},"method":"tools/call","params":{params}}}"#))
        }),
        1 => id().prop_map(|id| (Side::Server, format!(r#"{{"id":{id},"method":"sampling/createMessage","params":{{}}}}"#))),
        1 => id().prop_map(|id| (Side::Client, format!(r#"{{"id":{id},"result":{{}}}}"#))),
        1 => (id(), id()).prop_map(|(one, two)| {
            (Side::Client, format!(r#"[{{"id":{one},"method":"ping"}},{{"id":{two},"method":"tools/list"}}]"#))
        }),
        1 => (id(), id()).prop_map(|(one, two)| {
            (Side::Server, format!(r#"[{{"id":{one},"result":{{}}}},{{"id":{two},"result":{{"tools":[]}}}}]"#))
        }),
        1 => fixed(Side::Server, r#"{"method":"notifications/message","params":{"data":1}}"#),
        1 => fixed(Side::Server, "not JSON"),
        1 => fixed(Side::Client, r#"{"id":9,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#),
        1 => fixed(Side::Server, r#"{"id":9,"result":{"serverInfo":{"name":"s"}}}"#),
    ]
}

fn script() -> impl Strategy<Value = Vec<Said>> {
    let said =
        (line(), prop_oneof![3 => Just(0_u64), 1 => 1_u64..20]).prop_map(|((from, line), wait)| (from, line, wait));
    proptest::collection::vec(said, 1..50)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_told_later_is_told_alike(script in script(), at in 0_usize..50) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let at_once = runtime.block_on(told(&script, Some(0)));
        prop_assert_eq!(&runtime.block_on(told(&script, None)), &at_once, "never attached");
        prop_assert_eq!(&runtime.block_on(told(&script, Some(at))), &at_once, "attached at {}", at);
    }
}

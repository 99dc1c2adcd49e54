//! Rules: any rule on any data ends within its limits, with the same answer each time.

use lockgate_logic::{Datum, Limits, Rule, Setting, Strange, Vars};
use lockgate_protocol::json::{Raw, Value};

/// The first line is the rule, the rest is the data.
pub fn logic(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (rule, data) = data.split_at(end);
    let Ok(rule) = Raw::parse(rule.to_vec()) else { return };
    let data = Raw::parse(data.to_vec()).unwrap_or_else(|_| Raw::null());
    let Ok(rule) = Rule::parse_with(rule.view(), Strange::FailsWhenReached) else { return };
    let limits = Limits { steps: 10_000, depth: 32 };
    let setting = Setting { data: Datum::view(data.view()), vars: Vars::Plain, limits };
    let run = || {
        let mut logged: Vec<Value> = Vec::new();
        let answer = rule.eval(&setting, &mut |value| logged.push(value));
        format!("{answer:?} {logged:?}")
    };
    assert_eq!(run(), run(), "the same rule on the same data");
    let answer = rule.eval(&setting, &mut |_| ());
    let holds = rule.holds(&setting, &mut |_| ());
    assert!(answer.is_err() || holds.is_ok(), "what has an answer has a truth");
}

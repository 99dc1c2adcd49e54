//! The golden vectors: what json-logic-js 2.0.5 answers.
#![expect(clippy::unwrap_used, reason = "a malformed vector file must stop the test")]

use lockgate_logic::{Answer, Datum, EvalError, Limits, Rule, Setting, Strange, Vars};
use lockgate_protocol::json::{Raw, Value, View};

const VECTORS: &str = include_str!("../../testkit/golden/jsonlogic.json");

const LIMITS: Limits = Limits { steps: 100_000, depth: 100 };

#[test]
fn answers_as_json_logic_js() {
    let file = Raw::parse(VECTORS).unwrap();
    let mut wrong = Vec::new();
    let mut official = 0;
    for vector in file.view().items() {
        official += usize::from(vector.get("official").is_some());
        if let Err(found) = check(vector) {
            wrong.push(format!("{vector:?}\n  found {found}"));
        }
    }
    assert_eq!(official, 278);
    assert!(wrong.is_empty(), "{} vectors differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(vector: View<'_>) -> Result<(), String> {
    let found = run(vector.get("rule").unwrap(), vector.get("data").unwrap());
    let as_expected = match &found {
        Err(_) => vector.get("error").is_some(),
        Ok(Answer::Undefined) => vector.get("undefined").is_some(),
        Ok(Answer::NotFinite(number)) if number.is_nan() => vector.get("nan").is_some(),
        Ok(Answer::NotFinite(number)) => vector.get("infinity").and_then(View::f64) == Some(number.signum()),
        Ok(Answer::Json(value)) => {
            vector.get("undefined").is_none()
                && vector.get("value").is_some_and(|expected| same(&expected.to_value().unwrap(), value))
        }
    };
    if as_expected { Ok(()) } else { Err(format!("{found:?}")) }
}

fn run(rule: View<'_>, data: View<'_>) -> Result<Answer, EvalError> {
    let rule = Rule::parse_with(rule, Strange::FailsWhenReached).unwrap();
    let setting = Setting { data: Datum::view(data), vars: Vars::Plain, limits: LIMITS };
    rule.eval(&setting, &mut |_| {})
}

/// Numbers by worth, not by spelling.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(expected), Value::Number(found)) => expected.as_f64() == found.as_f64(),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| same(expected, found))
        }
        (Value::Object(expected), Value::Object(found)) => {
            let pairs = expected.iter().zip(found.iter());
            expected.len() == found.len()
                && pairs.into_iter().all(|(expected, found)| expected.0 == found.0 && same(&expected.1, &found.1))
        }
        _ => expected == found,
    }
}

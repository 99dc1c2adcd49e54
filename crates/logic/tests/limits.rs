//! Whatever the rule and the data: no panic, and an end within the limits.
#![expect(clippy::unwrap_used, reason = "the generated texts are valid JSON")]

use std::time::{Duration, Instant};

use lockgate_logic::{Answer, Datum, EvalError, Limits, Rule, Setting, Strange, Vars};
use lockgate_protocol::json::{Number, Object, Raw, Text, Value};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, sample};

fn eval(rule: &Raw, data: &Raw, limits: Limits) -> Result<Answer, EvalError> {
    let rule = Rule::parse_with(rule.view(), Strange::FailsWhenReached).unwrap();
    let setting = Setting { data: Datum::view(data.view()), vars: Vars::Plain, limits };
    rule.eval(&setting, &mut |_| {})
}

/// Rules that would grow without end, and what stops them.
#[test]
fn growth_is_stopped() {
    let table = [
        (
            r#"{"reduce": [{"var": ""}, {"cat": [{"var": "accumulator"}, {"var": "accumulator"}]}, "0123456789"]}"#,
            EvalError::Steps,
        ),
        (
            r#"{"reduce": [{"var": ""}, {"merge": [{"var": "accumulator"}, {"var": "accumulator"}]}, [1]]}"#,
            EvalError::Steps,
        ),
        (
            r#"{"cat": {"reduce": [{"var": ""}, [{"var": "accumulator"}, {"var": "accumulator"}], 1]}}"#,
            EvalError::Nesting,
        ),
        (r#"{"reduce": [{"var": ""}, {"var": ""}, 1]}"#, EvalError::Nesting),
        (
            r#"{"map": [{"var": ""}, {"map": [[1,2,3,4,5,6,7,8,9], {"map": [[1,2,3,4,5,6,7,8,9], 1]}]}]}"#,
            EvalError::Steps,
        ),
    ];
    let data = Raw::parse(format!("[0{}]", ",0".repeat(999))).unwrap();
    for (rule, stopped_by) in table {
        let started = Instant::now();
        let answer = eval(&Raw::parse(rule).unwrap(), &data, Limits { steps: 50_000, depth: 32 });
        assert_eq!(answer, Err(stopped_by), "{rule}");
        assert!(started.elapsed() < Duration::from_secs(5), "{rule}");
    }
}

/// Forty doublings are few elements, but a text of a million million.
#[test]
fn shared_parts_are_paid_for_each_time_they_are_read() {
    let doubled = r#"{"reduce": [{"var": ""}, [{"var": "accumulator"}, {"var": "accumulator"}], 1]}"#;
    let data = Raw::parse(format!("[0{}]", ",0".repeat(39))).unwrap();
    let limits = Limits { steps: 100_000, depth: 32 };
    for rule in [doubled.to_owned(), format!(r#"{{"cat": {doubled}}}"#), format!(r#"{{"==": [{doubled}, 1]}}"#)] {
        assert_eq!(eval(&Raw::parse(rule).unwrap(), &data, limits), Err(EvalError::Steps));
    }
}

#[test]
fn looking_into_large_data_again_and_again_is_paid_for() {
    let data = Raw::parse(format!(r#"{{"text": "{}", "x": 1}}"#, "a".repeat(1 << 20))).unwrap();
    let once = Raw::parse(r#"{"and": [{"var": "x"}, {"in": ["b", {"var": "text"}]}]}"#).unwrap();
    let limits = Limits { steps: 1_000, depth: 32 };
    assert_eq!(eval(&once, &data, limits), Ok(Answer::Json(Value::Bool(false))));
    let often = Raw::parse(format!(r#"{{"and": [1{}]}}"#, r#", {"var": "x"}"#.repeat(100))).unwrap();
    assert_eq!(eval(&often, &data, limits), Err(EvalError::Steps));
}

/// Half a mebibyte is eight steps to walk, whichever unit of it is asked for.
#[test]
fn looking_into_a_text_that_was_built_is_paid_for() {
    let data = Raw::parse(format!(r#"{{"list": [0{}], "text": "{}"}}"#, ",0".repeat(99), "a".repeat(1 << 19))).unwrap();
    for path in ["accumulator.length", "accumulator.524287"] {
        let turn = format!(r#"{{"if": [{{"var": "{path}"}}, {{"var": "accumulator"}}, 0]}}"#);
        let rule = format!(r#"{{"!!": {{"reduce": [{{"var": "list"}}, {turn}, {{"cat": [{{"var": "text"}}]}}]}}}}"#);
        let rule = Raw::parse(rule).unwrap();
        assert_eq!(eval(&rule, &data, Limits { steps: 1_800, depth: 32 }), Err(EvalError::Steps), "{path}");
        let enough = Limits { steps: 3_000, depth: 32 };
        assert_eq!(eval(&rule, &data, enough), Ok(Answer::Json(Value::Bool(true))), "{path}");
    }
}

#[test]
fn the_depth_limit_is_the_rules_own() {
    let data = Raw::null();
    let limits = Limits { steps: 10_000, depth: 32 };
    for (levels, answer) in [(32, Ok(Answer::Json(Value::Bool(true)))), (33, Err(EvalError::Depth))] {
        let rule = Raw::parse(format!("{}1{}", r#"{"!!":"#.repeat(levels), "}".repeat(levels))).unwrap();
        assert_eq!(eval(&rule, &data, limits), answer);
    }
}

#[test]
fn the_deepest_rule_and_the_deepest_data_fit_on_a_small_stack() {
    let rule = Raw::parse(format!("{}1{}", r#"{"map":[[1],"#.repeat(255), "]}".repeat(255))).unwrap();
    let deep = Raw::parse(format!("{}{}", "[".repeat(4_096), "]".repeat(4_096))).unwrap();
    let text = Raw::parse(r#"{"cat": [{"var": ""}]}"#).unwrap();
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let limits = Limits { steps: 1_000_000, depth: 256 };
        assert!(eval(&rule, &Raw::null(), limits).is_ok());
        assert_eq!(eval(&text, &deep, limits), Err(EvalError::Nesting));
    });
    small.unwrap().join().unwrap();
}

proptest! {
    #[test]
    fn any_rule_ends_and_more_steps_change_no_answer(rule in rules(), data in values()) {
        let (rule, data) = (Raw::from_value(&rule), Raw::from_value(&data));
        let few = eval(&rule, &data, Limits { steps: 200, depth: 256 });
        let many = eval(&rule, &data, Limits { steps: 20_000, depth: 256 });
        if few != Err(EvalError::Steps) {
            // NaN is not equal to itself.
            assert_eq!(format!("{few:?}"), format!("{many:?}"));
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            collection::vec((names(), inner), 0..4).prop_map(object),
        ]
    })
}

fn rules() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(6, 64, 4, |inner| {
        prop_oneof![
            1 => collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            1 => collection::vec((names(), inner.clone()), 2..4).prop_map(object),
            6 => (sample::select(OPERATORS), collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, arguments)| object(vec![(name.to_owned(), Value::Array(arguments))])),
            1 => (sample::select(OPERATORS), inner).prop_map(|(name, argument)| object(vec![(name.to_owned(), argument)])),
        ]
    })
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        (-3_i64..9).prop_map(Value::from),
        names().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        collection::vec(any::<u16>(), 0..4).prop_map(|units| Value::String(Text::from_utf16(&units))),
    ]
}

fn names() -> impl Strategy<Value = String> {
    sample::select(&["", "a", "b", "a.b", "0", "1", "length", "current", "accumulator", "toString", "1e3", "."][..])
        .prop_map(str::to_owned)
}

fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (Text::from(name), value)).collect::<Object>())
}

const OPERATORS: &[&str] = &[
    "==",
    "===",
    "!=",
    "!==",
    ">",
    ">=",
    "<",
    "<=",
    "!!",
    "!",
    "%",
    "log",
    "in",
    "cat",
    "substr",
    "+",
    "*",
    "-",
    "/",
    "min",
    "max",
    "merge",
    "var",
    "missing",
    "missing_some",
    "if",
    "?:",
    "and",
    "or",
    "map",
    "filter",
    "reduce",
    "all",
    "none",
    "some",
    "frobnicate",
];

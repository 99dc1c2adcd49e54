//! What a host relies on beyond the vectors: refusals with their place, data that stays data, its own `var`, the log.
#![expect(clippy::unwrap_used, reason = "the tables below hold valid JSON")]

use insta::assert_snapshot;
use lockgate_logic::{Answer, Datum, EvalError, Limits, Rule, Scope, Setting, Strange, Vars};
use lockgate_protocol::json::{Raw, Value};

const LIMITS: Limits = Limits { steps: 10_000, depth: 32 };

/// Rule and data in, JSON or the error's words out.
fn eval(rule: &'static str, data: &'static str) -> String {
    let (rule, data) = (Raw::parse(rule).unwrap(), Raw::parse(data).unwrap());
    let setting = Setting { data: Datum::view(data.view()), vars: Vars::Plain, limits: LIMITS };
    let rule = Rule::parse_with(rule.view(), Strange::FailsWhenReached).unwrap();
    shown(rule.eval(&setting, &mut |_| {}))
}

fn shown(answer: Result<Answer, EvalError>) -> String {
    match answer {
        Ok(Answer::Json(value)) => format!("{:?}", Raw::from_value(&value)),
        Ok(Answer::Undefined) => "undefined".to_owned(),
        Ok(Answer::NotFinite(number)) => number.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

fn check(table: &[(&'static str, &'static str, &str)]) {
    for (rule, data, expected) in table {
        assert_eq!(&eval(rule, data), expected, "{rule} on {data}");
    }
}

fn refusal(rule: impl Into<Vec<u8>>) -> String {
    let rule = Raw::parse(rule.into()).unwrap();
    Rule::parse(rule.view()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_refused_rule_names_its_place() {
    assert_snapshot!(refusal(r#"{"frobnicate": 1}"#), @"unknown operator `frobnicate` at `/frobnicate`");
    assert_snapshot!(refusal(r#"{"and": [true, {"!": {"a/b~c": 1}}]}"#), @"unknown operator `a/b~c` at `/and/1/!/a~1b~0c`");
    assert_snapshot!(refusal(r#"[1, [{"": 2}]]"#), @"unknown operator `` at `/1/0/`");
    assert_snapshot!(refusal(r#"{"toString": []}"#), @"unknown operator `toString` at `/toString`");
    assert_snapshot!(refusal(r#"{"\ud800": []}"#), @"unknown operator `�` at `/�`");
    assert_snapshot!(refusal(format!("{}1{}", "[".repeat(600), "]".repeat(600))), @"json nested too deeply at byte 512 at ``");
    let deep = refusal(format!("{}1{}", r#"{"!":["#.repeat(257), "]}".repeat(257)));
    assert!(deep.starts_with("json nested too deeply"), "{deep}");
    let deep = refusal(format!("{}1{}", r#"{"!":"#.repeat(257), "}".repeat(257)));
    assert!(deep.starts_with("rule nested too deeply at `/!/!/"), "{deep}");
}

#[test]
fn an_operator_in_a_branch_not_taken_fails_only_when_reached() {
    check(&[
        (r#"{"if": [true, 1, {"frobnicate": 1}]}"#, "null", "1"),
        (r#"{"if": [false, 1, {"frobnicate": 1}]}"#, "null", "error: unknown operator `frobnicate`"),
        // json-logic-js walks into its own functions here.
        (r#"{"cat.prototype.constructor": ["a"]}"#, "null", "error: unknown operator `cat.prototype.constructor`"),
    ]);
}

#[test]
fn objects_without_exactly_one_key_are_data() {
    check(&[
        ("{}", "null", "{}"),
        (r#"{"var": "a", "x": {"var": "a"}}"#, r#"{"a": 1}"#, r#"{"var":"a","x":{"var":"a"}}"#),
        (r#"{"!!": {}}"#, "null", "true"),
        // Of a repeated key the last counts, so this is one key.
        (r#"{"var": "a", "var": "b"}"#, r#"{"a": 1, "b": 2}"#, "2"),
    ]);
}

#[test]
fn values_from_data_are_never_run() {
    check(&[
        (r#"{"var": "x"}"#, r#"{"x": {"+": [1, 2]}}"#, r#"{"+":[1,2]}"#),
        (
            r#"{"map": [{"var": "x"}, {"var": ""}]}"#,
            r#"{"x": [{"var": "secret"}], "secret": 1}"#,
            r#"[{"var":"secret"}]"#,
        ),
        (r#"{"missing": {"var": "x"}}"#, r#"{"x": {"cat": "secret"}, "secret": 1}"#, r#"[{"cat":"secret"}]"#),
        (r#"{"missing": [{"var": "x"}]}"#, r#"{"x": [{"cat": "secret"}], "secret": 1}"#, r#"[{"cat":"secret"}]"#),
        (
            r#"{"missing_some": [1, {"var": "x"}]}"#,
            r#"{"x": [{"cat": "secret"}], "secret": 1}"#,
            r#"[{"cat":"secret"}]"#,
        ),
        (
            r#"{"reduce": [{"var": "x"}, {"var": "accumulator"}, {"var": "x.0"}]}"#,
            r#"{"x": [{"+": [1]}]}"#,
            r#"{"+":[1]}"#,
        ),
    ]);
}

#[test]
fn paths_find_own_members_only() {
    check(&[
        (r#"{"var": "constructor"}"#, "{}", "null"),
        (r#"{"var": "constructor"}"#, r#"{"constructor": 1}"#, "1"),
        (r#"{"var": "__proto__.x"}"#, "{}", "null"),
        (r#"{"var": "x.toString"}"#, r#"{"x": "a"}"#, "null"),
        (r#"{"var": ["a.b", 5]}"#, r#"{"a": null}"#, "5"),
        (r#"{"var": ["a", 5]}"#, r#"{"a": null}"#, "null"),
        (r#"{"var": "0.1"}"#, "[[1, 2]]", "2"),
        (r#"{"var": 0.1}"#, "[[1, 2]]", "2"),
        (r#"{"var": "01"}"#, "[1, 2]", "null"),
        (r#"{"var": "-1"}"#, "[1, 2]", "null"),
        (r#"{"var": "99999999999999999999999"}"#, "[1, 2]", "null"),
        (r#"{"var": "length"}"#, "[1, 2]", "2"),
        (r#"{"var": "s.length"}"#, r#"{"s": "h😀"}"#, "3"),
        (r#"{"var": "s.1"}"#, r#"{"s": "h😀"}"#, r#""\ud83d""#),
        (r#"{"var": "\ud800"}"#, r#"{"\ud800": 1, "\ud800": 2}"#, "2"),
        (r#"{"var": ""}"#, r#"{"": 1}"#, r#"{"":1}"#),
        (r#"{"var": [[]]}"#, r#"{"": 1}"#, "1"),
    ]);
}

#[test]
fn arrays_and_objects_are_equal_to_themselves_only() {
    check(&[
        (r#"{"===": [{"var": "a"}, {"var": "a"}]}"#, r#"{"a": [1]}"#, "true"),
        (r#"{"===": [{"var": "a"}, {"var": "b"}]}"#, r#"{"a": [1], "b": [1]}"#, "false"),
        (r#"{"==": [[1], [1]]}"#, "null", "false"),
        (r#"{"==": [[1], "1"]}"#, "null", "true"),
        (r#"{"==": [{"var": "a"}, "[object Object]"]}"#, r#"{"a": {}}"#, "true"),
        (r#"{"in": [{"var": "a.0"}, {"var": "a"}]}"#, r#"{"a": [{}]}"#, "true"),
        (r#"{"in": [{}, {"var": "a"}]}"#, r#"{"a": [{}]}"#, "false"),
    ]);
}

#[test]
fn numbers_and_texts_are_javascripts() {
    check(&[
        (r#"{"-": [" 0x1F\n", 0]}"#, "null", "31"),
        (r#"{"-": ["0b101", "0o7"]}"#, "null", "-2"),
        (r#"{"-": ["-0x1F", 0]}"#, "null", "NaN"),
        (r#"{"-": ["0x", 0]}"#, "null", "NaN"),
        (r#"{"-": ["0x20000000000001", 0]}"#, "null", "9007199254740992"),
        (r#"{"-": ["0x20000000000003", 0]}"#, "null", "9007199254740996"),
        (r#"{"-": ["0x200000000000010000000000000000000000001", 0]}"#, "null", "1.1417981541647682e+46"),
        (r#"{"-": ["1_000", 0]}"#, "null", "NaN"),
        (r#"{"-": ["inf", 0]}"#, "null", "NaN"),
        (r#"{"-": ["-Infinity", 0]}"#, "null", "-inf"),
        (r#"{"-": ["\u0085 1", 0]}"#, "null", "NaN"),
        (r#"{"-": ["\ufeff 1", 0]}"#, "null", "1"),
        (r#"{"-": [".", 0]}"#, "null", "NaN"),
        (r#"{"+": ["5.e1x"]}"#, "null", "50"),
        (r#"{"+": ["5e+"]}"#, "null", "5"),
        (r#"{"+": ["-.5abc", "Infinit"]}"#, "null", "NaN"),
        (r#"{"+": ["12\ud800"]}"#, "null", "12"),
        (r#"{"/": [1, {"min": [0, -0]}]}"#, "null", "-inf"),
        (r#"{"/": [1, {"max": [-0, 0]}]}"#, "null", "inf"),
        (r#"{"/": [1, {"+": [-0]}]}"#, "null", "inf"),
        (r#"{"cat": [1e21, -1e-7, [1, [null, {}]], true, null]}"#, "null", r#""1e+21-1e-71,,[object Object]true""#),
        (r#"{"cat": ["\ud83d", "\ude00"]}"#, "null", r#""😀""#),
        (r#"{"in": ["\ude00", "😀"]}"#, "null", "true"),
        (r#"{"substr": ["h😀i", 1, 2]}"#, "null", r#""😀""#),
        (r#"{"substr": ["jsonlogic", -5, "-2"]}"#, "null", r#""""#),
        (r#"{"substr": ["jsonlogic", -0.5, -2.5]}"#, "null", r#""jsonlo""#),
        (r#"{"cat": [{"var": ""}]}"#, r#"{"toString": 1}"#, "error: an object with a member `toString` has no text"),
        (r#"{"/": [1, {"*": [-1, 0, 1]}]}"#, "null", "inf"),
        (r#"{"/": [1, {"*": [-1e-200, 1e-200, 2]}]}"#, "null", "inf"),
        (r#"{"/": [1, {"*": [-1, 0]}]}"#, "null", "-inf"),
        (r#"{"/": [1, {"*": ["-0", "5"]}]}"#, "null", "-inf"),
        (r#"{"/": [1, {"*": ["-0", "5", "2"]}]}"#, "null", "inf"),
        (
            r#"{"in": [1, {"var": ""}]}"#,
            r#"{"indexOf": null}"#,
            "error: an object with a member `indexOf` cannot be searched",
        ),
        (r#"{"in": ["indexOf", {"var": ""}]}"#, r#"["indexOf"]"#, "true"),
        (r#"{"*": []}"#, "null", "error: `*` needs a factor"),
        (r#"{"missing_some": [1]}"#, "null", "error: missing_some needs paths"),
        (r#"{"and": []}"#, "null", "undefined"),
        (r#"[{"and": []}, {"/": [0, 0]}]"#, "null", "[null,null]"),
        (r#"{"reduce": [[1], {"var": ""}, {"and": []}]}"#, "null", r#"{"current":1}"#),
    ]);
}

#[test]
fn values_that_pass_through_keep_their_text() {
    check(&[(r#"{"var": "x"}"#, r#"{"x": [12345678901234567890123, 1.0]}"#, "[12345678901234567890123,1.0]")]);
}

#[test]
fn a_host_answers_var_and_sees_where_it_stands() {
    let rule = Raw::parse(
        r#"[{"var": "a"}, {"map": [[7], {"var": ["b", "unused"]}]}, {"var": ["none", "default"]}, {"missing": ["x"]}]"#,
    );
    let rule = Rule::parse(rule.unwrap().view()).unwrap();
    let answer = |path: &Datum<'_>, scope: &Scope<'_>| {
        let path = path.to_value().map_err(|error| error.to_string())?;
        if path == Value::from("none") {
            return Ok(None);
        }
        let place = match scope {
            Scope::Root(_) => "root",
            Scope::Element(_) => "element",
        };
        let standing = scope.datum().to_value().map_err(|error| error.to_string())?;
        Ok(Some(Datum::value(vec![path, Value::from(place), standing].into()).map_err(|error| error.to_string())?))
    };
    let data = Raw::parse(r#"{"x": 1}"#).unwrap();
    let setting = Setting { data: Datum::view(data.view()), vars: Vars::Asked(&answer), limits: LIMITS };
    assert_snapshot!(shown(rule.eval(&setting, &mut |_| {})), @r#"[["a","root",{"x":1}],[["b","element",7]],"default",[]]"#);

    let refuse = |_: &Datum<'_>, _: &Scope<'_>| Err("no such function".to_owned());
    let setting = Setting { vars: Vars::Asked(&refuse), ..setting };
    assert_snapshot!(shown(rule.eval(&setting, &mut |_| {})), @"error: no such function");
}

#[test]
fn data_may_be_put_together_from_parts() {
    let input = Raw::parse(r#"{"city": "Rome"}"#).unwrap();
    let data = Datum::object([
        ("input", Datum::view(input.view())),
        ("name", Datum::text("search")),
        ("output", Datum::null()),
    ]);
    let setting = Setting { data: data.unwrap(), vars: Vars::Plain, limits: LIMITS };
    let rule =
        Raw::parse(r#"{"and": [{"==": [{"var": "name"}, "search"]}, {"in": ["Ro", {"var": "input.city"}]}]}"#).unwrap();
    assert_eq!(Rule::parse(rule.view()).unwrap().holds(&setting, &mut |_| {}), Ok(true));
}

#[test]
fn what_is_logged_goes_to_the_host() {
    let rule = Raw::parse(r#"{"map": [[1, "two"], {"log": {"var": ""}}]}"#).unwrap();
    let setting = Setting { data: Datum::null(), vars: Vars::Plain, limits: LIMITS };
    let mut logged = Vec::new();
    let truth = Rule::parse(rule.view()).unwrap().holds(&setting, &mut |value| logged.push(value));
    assert_eq!((truth, logged), (Ok(true), vec![Value::from(1_u64), Value::from("two")]));
}

//! What the whole command line makes of words.

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
}

#[test]
fn the_definition_holds_together() {
    whole().debug_assert();
}

#[test]
fn wrong_lines_say_what_and_how() {
    let check = |line: &str, message: &str, hint: &str| {
        let fault = parse(&words(line)).expect_err("wrong");
        assert_eq!((fault.message.as_str(), fault.hint.as_deref()), (message, Some(hint)), "{line}");
    };
    check("wiat", "no command `wiat`", "did you mean `wait`?");
    check("xyzzy", "no command `xyzzy`", "`graphmind --help` shows what it takes");
    check("--prt 1", "unexpected argument `--prt` found", "did you mean `--port`?");
    check("mcp-proxy --trce srv", "unexpected argument `--trce` found", "did you mean `--trace`?");
    check(
        "wait --timeout soon",
        "invalid value `soon` for `--timeout <SECONDS>`: not a number of seconds",
        "`graphmind wait --help` shows what it takes",
    );
    check(
        "resume p --run r --action jump",
        "invalid value `jump` for `--action <ACTION>` [possible values: continue, retry, inject, abort]",
        "`graphmind resume --help` shows what it takes",
    );
    check(
        "resume p --run r --action inject --output -5",
        "unexpected argument `-5` found",
        "a value that starts with `-` needs the = form: --output=-5",
    );
    check(
        "runs --yes",
        "the following required arguments were not provided: --clear",
        "`graphmind runs --help` shows what it takes",
    );
}

#[test]
fn both_forms_of_a_value_and_serve_without_its_name() {
    for line in ["", "--port 5000", "--port=5000", "serve --port=0"] {
        let asked = parse(&words(line)).expect("good");
        assert!(matches!(asked, Asked::Command(Command::Serve(_))), "{line}");
    }
    let asked = parse(&words("wait --timeout=0 --port 5000")).expect("good");
    assert!(matches!(asked, Asked::Command(Command::Wait(_))));
}

#[test]
fn help_and_version_are_answers() {
    for line in ["--help", "-h", "--version", "-v", "wait --help", "mcp-proxy --help", "help resume"] {
        assert!(matches!(parse(&words(line)), Ok(Asked::Text(_))), "{line}");
    }
    let asked = parse(&words("mcp-proxy -- srv --help")).expect("good");
    assert!(matches!(asked, Asked::Command(Command::McpProxy(_))));
}

#[test]
fn who_reads() {
    let check = |line: &str, expected: Reader| assert_eq!(reader(&words(line)), expected, "{line}");
    check("wait --json", Reader::Program);
    check("--json", Reader::Program);
    check("wait", Reader::Person);
    check("init --host plain -- srv --json", Reader::Person);
    check("mcp-proxy srv --json", Reader::Person);
    check("mcp --json", Reader::Person);
}

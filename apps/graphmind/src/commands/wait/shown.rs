//! One held call, for a person with lines to paste, for a program as one object. Large values go to private files.

use std::fmt::Write as _;
use std::io::Write as _;

use lockgate_protocol::json::{Object, Raw, Value, View};

use crate::args::DEFAULT_PORT;
use crate::client::text;
use crate::clock;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::text::{Shell, age, visible, visible_json};

pub(super) fn show(pause: &Raw, port: u16, reader: Reader) -> Result<(), Fault> {
    let values = values(pause.view())?;
    let commands = commands(pause.view(), port, Shell::HERE);
    match reader {
        Reader::Program => out::json(&String::from_utf8_lossy(&program(pause, &values, &commands))),
        Reader::Person => out::bytes(person(pause.view(), &values, &commands).as_bytes()),
    }
}

/// A value of the held call: as text, or where it was put.
struct Shown<'a> {
    name: &'static str,
    view: View<'a>,
    file: Option<String>,
}

fn values(pause: View<'_>) -> Result<Vec<Shown<'_>>, Fault> {
    let Some(node) = pause.get("node") else { return Ok(Vec::new()) };
    let mut shown = Vec::new();
    for name in ["input", "output", "error"] {
        let Some(view) = node.get(name) else { continue };
        let large = String::from_utf8_lossy(view.raw()).chars().count() > LARGEST_SHOWN;
        let file = if large { Some(to_file(name, view.raw())?) } else { None };
        shown.push(Shown { name, view, file });
    }
    Ok(shown)
}

/// A new file only this user can read.
fn to_file(name: &str, value: &[u8]) -> Result<String, Fault> {
    let failed = |err: &std::io::Error| Fault::io(format!("write the {name} to a file"), err);
    let made = tempfile::Builder::new().prefix(&format!("graphmind-{name}-")).suffix(".json").tempfile();
    let mut file = made.map_err(|err| failed(&err))?;
    file.write_all(value).map_err(|err| failed(&err))?;
    let (_, path) = file.keep().map_err(|err| failed(&err.error))?;
    Ok(path.to_string_lossy().into_owned())
}

fn person(pause: View<'_>, values: &[Shown<'_>], commands: &[(&'static str, String)]) -> String {
    let get = |name: &str| text(pause, name).map(|text| visible(&text).into_owned());
    let or_dash = |name: &str| get(name).unwrap_or_else(|| "-".to_owned());
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{name:<8}{text}");
    };
    line("held", &format!("{} ({})", or_dash("nodeId"), or_dash("point")));
    line("why", &why(pause));
    let app = get("app").map(|app| format!(" of {app}")).unwrap_or_default();
    line("run", &format!("{}{app}", or_dash("runId")));
    let since = pause.get("since").and_then(View::f64).map(|since| age(clock::now_ms(), clock::whole_ms(since)));
    line("pause", &format!("{}{}", or_dash("pauseId"), since.map(|since| format!(", {since}")).unwrap_or_default()));
    if let Some(until) = until(pause) {
        line("until", &until);
    }
    let editable = pause.get("editable").and_then(View::bool) == Some(true);
    line("edit", if editable { "its arguments can be changed" } else { "its arguments cannot be changed" });
    for value in values {
        let text = String::from_utf8_lossy(value.view.raw());
        match &value.file {
            Some(file) => line(value.name, &format!("{} bytes, in {file}", value.view.raw().len())),
            None => line(value.name, &visible_json(&text)),
        }
    }
    if commands.is_empty() {
        out.push_str("\nIts ids hold characters that cannot be pasted; release it in a viewer.\n");
        return out;
    }
    out.push_str("\nRelease it with one of:\n");
    for (_, command) in commands {
        let _ = writeln!(out, "  {command}");
    }
    out
}

fn why(pause: View<'_>) -> String {
    let reason = text(pause, "reason").unwrap_or_else(|| "breakpoint".to_owned());
    let part = |at: &str, name: &str| pause.get(at).and_then(|part| text(part, name));
    let more = [
        part("hold", "policy"),
        part("hold", "cause"),
        part("hold", "detail"),
        part("smart", "rule"),
        part("smart", "detail"),
    ];
    let more: Vec<String> = more.into_iter().flatten().collect();
    let repeats = pause.get("loop").and_then(|found| found.get("repeats")).and_then(View::u64);
    let mut why = reason;
    if !more.is_empty() {
        let _ = write!(why, ": {}", more.join(", "));
    }
    if let Some(repeats) = repeats {
        let _ = write!(why, ": {repeats} times the same");
    }
    visible(&why).into_owned()
}

/// When and how it ends if nobody comes.
fn until(pause: View<'_>) -> Option<String> {
    let until = pause.get("until")?;
    let at = until.get("at").and_then(View::f64).map(clock::whole_ms)?;
    let left = at.saturating_sub(clock::now_ms()) / 1_000;
    let action = text(until, "action").unwrap_or_default();
    let cause = text(until, "why").unwrap_or_default();
    Some(visible(&format!("{left}s from now, then {action} ({cause})")).into_owned())
}

/// The lines that would release it. None if its ids cannot be pasted safely.
fn commands(pause: View<'_>, port: u16, shell: Shell) -> Vec<(&'static str, String)> {
    // An id that looks like a flag would be taken for one.
    let word =
        |name: &str| text(pause, name).filter(|id| !id.starts_with('-')).as_deref().and_then(|id| shell.word(id));
    let (Some(id), Some(run)) = (word("pauseId"), word("runId")) else { return Vec::new() };
    let port = if port == DEFAULT_PORT { String::new() } else { format!(" --port {port}") };
    let at_before = pause.get("point").is_none_or(|point| point.is("before"));
    let editable = pause.get("editable").and_then(View::bool) == Some(true);
    let guarded = pause.get("hold").is_some_and(|hold| !hold.is_null());
    let (changed, answer) = match shell {
        Shell::Posix => (r#"'{"changed":"argument"}'"#, r#"'{"any":"JSON"}'"#),
        // Its shells do not agree on how to quote a quote.
        Shell::Windows => (r#""@changed.json""#, r#""@answer.json""#),
    };
    let command = |action: &'static str, rest: &str| {
        (action, format!("graphmind resume {id} --run {run} --action {action}{rest}{port}"))
    };
    if guarded {
        // Only a person at a viewer may let a guarded call through.
        return vec![command("abort", "")];
    }
    let mut commands = vec![command("continue", "")];
    if !at_before {
        commands.push(command("retry", ""));
    }
    if editable {
        let again = if at_before { "continue" } else { "retry" };
        commands.push(("edit", command(again, &format!(" --input {changed}")).1));
    }
    commands.push(command("inject", &format!(" --output {answer}")));
    commands.push(command("abort", ""));
    commands
}

/// The hub's own object; each large value makes way for the name of its file.
fn program(pause: &Raw, values: &[Shown<'_>], commands: &[(&'static str, String)]) -> Vec<u8> {
    let mut whole = match pause.to_value() {
        Ok(Value::Object(whole)) => whole,
        _ => Object::new(),
    };
    if let Some(Value::Object(node)) = whole.get_mut("node") {
        for value in values {
            let Some(file) = &value.file else { continue };
            node.remove(value.name);
            node.insert(format!("{}File", value.name), file.as_str());
            node.insert(format!("{}Bytes", value.name), u64::try_from(value.view.raw().len()).unwrap_or(u64::MAX));
        }
    }
    let release: Object = commands.iter().map(|(name, command)| ((*name).into(), command.as_str().into())).collect();
    whole.insert("release", release);
    Raw::object(|out| {
        out.value("pause", &Value::Object(whole));
    })
    .as_bytes()
    .to_vec()
}

const LARGEST_SHOWN: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(text: &str) -> Raw {
        Raw::parse(text.to_owned()).expect("JSON")
    }

    fn check(text: &str, port: u16, expected: &[&str]) {
        let pause = pause(text);
        let lines: Vec<String> = commands(pause.view(), port, Shell::Posix).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn no_shell_of_windows_is_given_a_quote_within_quotes() {
        let pause = pause(r#"{"pauseId":"p q","runId":"r","point":"before","editable":true}"#);
        let lines: Vec<String> =
            commands(pause.view(), 4747, Shell::Windows).into_iter().map(|(_, line)| line).collect();
        let expected = [
            r#"graphmind resume "p q" --run r --action continue"#,
            r#"graphmind resume "p q" --run r --action continue --input "@changed.json""#,
            r#"graphmind resume "p q" --run r --action inject --output "@answer.json""#,
            r#"graphmind resume "p q" --run r --action abort"#,
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_to_paste() {
        check(
            r#"{"pauseId":"p","runId":"r","point":"before"}"#,
            4747,
            &[
                "graphmind resume p --run r --action continue",
                r#"graphmind resume p --run r --action inject --output '{"any":"JSON"}'"#,
                "graphmind resume p --run r --action abort",
            ],
        );
        check(
            r#"{"pauseId":"p q","runId":"r'","point":"error","editable":true}"#,
            5000,
            &[
                r"graphmind resume 'p q' --run 'r'\''' --action continue --port 5000",
                r"graphmind resume 'p q' --run 'r'\''' --action retry --port 5000",
                r#"graphmind resume 'p q' --run 'r'\''' --action retry --input '{"changed":"argument"}' --port 5000"#,
                r#"graphmind resume 'p q' --run 'r'\''' --action inject --output '{"any":"JSON"}' --port 5000"#,
                r"graphmind resume 'p q' --run 'r'\''' --action abort --port 5000",
            ],
        );
        check(
            r#"{"pauseId":"p","runId":"r","hold":{"policy":"drift","cause":"changed"}}"#,
            4747,
            &["graphmind resume p --run r --action abort"],
        );
        check(r#"{"pauseId":"p\n","runId":"r"}"#, 4747, &[]);
        check(r#"{"pauseId":"p","runId":"\u202er"}"#, 4747, &[]);
        check(r#"{"pauseId":"--json","runId":"r"}"#, 4747, &[]);
    }

    #[test]
    fn app_text_cannot_act() {
        let pause = pause(
            r#"{"pauseId":"p","runId":"r","nodeId":"tool:\u001b[2J","point":"before","app":"\u202ex","node":{"input":"\u009b"}}"#,
        );
        let values = values(pause.view()).expect("small values");
        let text = person(pause.view(), &values, &[]);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(text.contains(r"tool:\u001b[2J") && text.contains(r"\u202ex"), "{text:?}");
    }

    #[cfg(unix)]
    #[test]
    fn large_values_go_to_private_files() {
        use std::os::unix::fs::PermissionsExt;
        let long = "x".repeat(3_000);
        let pause =
            pause(&format!(r#"{{"pauseId":"p","runId":"r","node":{{"kind":"tool","input":"{long}","error":1}}}}"#));
        let values = values(pause.view()).expect("written");
        let raw = Raw::parse(program(&pause, &values, &[])).expect("JSON");
        let node = raw.view().get("pause").and_then(|pause| pause.get("node")).expect("a node");
        let file = text(node, "inputFile").expect("a file");
        assert_eq!(node.get("inputBytes").and_then(View::u64), Some(3_002));
        assert!(node.get("input").is_none() && node.get("error").is_some());
        assert_eq!(std::fs::read_to_string(&file).expect("readable"), format!("\"{long}\""));
        let mode = std::fs::metadata(&file).expect("there").permissions().mode();
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(mode & 0o777, 0o600);
    }
}

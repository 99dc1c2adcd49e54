//! Says what is wrong with a command line in our two lines: what happened, and what to type instead.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::code::Code;
use crate::fault::Fault;

pub(super) fn explain(err: &clap::Error, argv: &[OsString]) -> Fault {
    let fault = Fault::new(Code::Usage, message(err));
    match hint(err, argv) {
        Some(hint) => fault.hint(hint),
        None => fault.hint(format!("`{} --help` shows what it takes", command(argv))),
    }
}

/// The first paragraph of clap's text: it names the argument and what it takes.
fn message(err: &clap::Error) -> String {
    if err.kind() == ErrorKind::InvalidSubcommand {
        return format!("no command `{}`", context(err, ContextKind::InvalidSubcommand).unwrap_or_default());
    }
    let text = err.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").replace('\'', "`")
}

fn hint(err: &clap::Error, argv: &[OsString]) -> Option<String> {
    if let Some(value) = value_with_dash(err, argv) {
        return Some(value);
    }
    let near = context(err, ContextKind::SuggestedArg).or_else(|| context(err, ContextKind::SuggestedSubcommand));
    let near = near.or_else(|| context(err, ContextKind::SuggestedValue));
    near.map(|near| format!("did you mean `{near}`?"))
}

/// `--output -5`: a value that looks like a flag needs the `=` form.
fn value_with_dash(err: &clap::Error, argv: &[OsString]) -> Option<String> {
    let takes_json = |arg: &OsString| arg == "--output" || arg == "--input";
    let place = argv.windows(2).find(|pair| {
        pair.iter().take(1).all(takes_json) && pair.iter().skip(1).all(|value| value.to_string_lossy().starts_with('-'))
    })?;
    let about_values = matches!(err.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidValue);
    let [flag, value] = place else { return None };
    about_values.then(|| {
        format!("a value that starts with `-` needs the = form: {}={}", flag.to_string_lossy(), value.to_string_lossy())
    })
}

fn context(err: &clap::Error, kind: ContextKind) -> Option<String> {
    match err.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// The command whose help is worth reading.
fn command(argv: &[OsString]) -> String {
    let first = argv.first().map(|first| first.to_string_lossy());
    let known = |name: &str| super::whole().get_subcommands().any(|command| command.get_name() == name);
    match first {
        Some(name) if known(&name) => format!("graphmind {name}"),
        _ => "graphmind".to_owned(),
    }
}

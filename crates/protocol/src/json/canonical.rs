//! The canonical form behind fingerprints and matcher identity (wire §5.4): one spelling for values JavaScript holds equal.

use super::number::Number;
use super::text::Text;
use super::token::{Token, Tokens};
use super::view::{Kind, View};
use super::write::{write_str, write_text};

/// The canonical text of a value (wire §5.4): no white space, members sorted by UTF-16 units, `ignored` members left out at
/// every depth, numbers in ECMAScript's shortest spelling, containers beyond depth 64 replaced by `"[depth]"`.
pub fn canonical(view: View<'_>, ignored: &[&str]) -> String {
    let mut out = Vec::new();
    whole(view, Level { depth: 0, ignored }, &mut out);
    text(out)
}

/// The canonical text of the array `[name, value]`, an absent value being `null` (wire §5.4). Depth is counted from the value,
/// as the peers do.
pub fn canonical_pair(name: &str, second: Option<View<'_>>, ignored: &[&str]) -> String {
    let mut out = vec![b'['];
    write_str(name, &mut out);
    out.push(b',');
    match second {
        Some(view) => whole(view, Level { depth: 0, ignored }, &mut out),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b']');
    text(out)
}

#[derive(Clone, Copy)]
struct Level<'i> {
    depth: usize,
    ignored: &'i [&'i str],
}

fn whole(view: View<'_>, level: Level<'_>, out: &mut Vec<u8>) {
    let mut tokens = Tokens::of(view);
    if let Some(first) = tokens.next() {
        value(first, &mut tokens, level, out);
    }
}

/// Recurses at most `DEEPEST` levels, whatever the text.
fn value(first: Token<'_>, rest: &mut Tokens<'_>, level: Level<'_>, out: &mut Vec<u8>) {
    if level.depth > DEEPEST && matches!(first, Token::OpenArray | Token::OpenObject) {
        rest.leave();
        return out.extend_from_slice(b"\"[depth]\"");
    }
    let below = Level { depth: level.depth + 1, ..level };
    match first {
        Token::OpenArray => array(rest, below, out),
        Token::OpenObject => object(rest, below, out),
        Token::Scalar(view) => scalar(view, out),
        Token::CloseArray | Token::CloseObject | Token::Name(_) => {}
    }
}

fn array(tokens: &mut Tokens<'_>, below: Level<'_>, out: &mut Vec<u8>) {
    out.push(b'[');
    let mut empty = true;
    while let Some(first) = tokens.next().filter(|token| !matches!(token, Token::CloseArray)) {
        if !empty {
            out.push(b',');
        }
        empty = false;
        value(first, tokens, below, out);
    }
    out.push(b']');
}

fn object(tokens: &mut Tokens<'_>, below: Level<'_>, out: &mut Vec<u8>) {
    // Members are written one after the other, then put in order: each value is walked once.
    let start = out.len();
    let mut members: Vec<(Text, usize, usize)> = Vec::new();
    while let Some(Token::Name(view)) = tokens.next() {
        let from = out.len();
        if let Some(first) = tokens.next() {
            value(first, tokens, below, out);
        }
        let name = view.text().filter(|name| !below.ignored.iter().any(|ignored| *name == *ignored));
        match name {
            Some(name) => members.push((name, from, out.len())),
            None => out.truncate(from),
        }
    }
    // Stable, so that of repeated names the last one stands last and wins.
    members.sort_by(|left, right| left.0.cmp(&right.0));
    let values = out.split_off(start);
    out.push(b'{');
    let mut rest = members.iter().peekable();
    let mut first = true;
    while let Some((name, from, to)) = rest.next() {
        if rest.peek().is_some_and(|(next, ..)| next == name) {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        write_text(name, out);
        out.push(b':');
        out.extend_from_slice(values.get(from - start..to - start).unwrap_or_default());
    }
    out.push(b'}');
}

fn scalar(view: View<'_>, out: &mut Vec<u8>) {
    match (view.kind(), view.text()) {
        (Kind::String, Some(text)) => write_text(&text, out),
        (Kind::Number, _) => match view.f64().and_then(Number::from_f64) {
            Some(number) => out.extend_from_slice(number.as_str().as_bytes()),
            None => out.extend_from_slice(b"null"),
        },
        _ => out.extend_from_slice(view.raw()),
    }
}

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("only UTF-8 is written")
}

const DEEPEST: usize = 64;

//! Text from programs we watch, made safe and made to fit: nothing in it moves a cursor, turns a line round or hides.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// One line for a terminal: control, direction and hidden characters as `\uXXXX`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if !is_unsafe(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

/// Columns a safe text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A safe text of at most so many columns; what is cut off leaves an ellipsis.
pub(crate) fn fit(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let mut left = room.saturating_sub(1);
    let mut out = String::new();
    for c in text.chars() {
        let Some(rest) = left.checked_sub(columns(c)) else { break };
        left = rest;
        out.push(c);
    }
    if room > 0 {
        out.push('…');
    }
    Cow::Owned(out)
}

/// As [`fit`], then filled up with blanks.
pub(crate) fn pad(text: &str, room: usize) -> String {
    let mut out = fit(text, room).into_owned();
    out.extend(std::iter::repeat_n(' ', room.saturating_sub(width(&out))));
    out
}

/// A safe text as lines of at most so many columns, broken at a blank where there is one not too far back.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(2);
    let mut lines = Vec::new();
    let (mut line, mut taken) = (String::new(), 0);
    for c in text.chars() {
        if taken + columns(c) > room {
            let rest = match line.rfind(' ') {
                Some(blank) if blank > line.len() / 2 => line.split_off(blank + 1),
                Some(_) | None => String::new(),
            };
            taken = width(&rest);
            lines.push(std::mem::replace(&mut line, rest));
        }
        taken += columns(c);
        line.push(c);
    }
    lines.push(line);
    lines
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// How long ago, in the largest unit that fits.
pub(crate) fn age(now: u64, then: u64) -> String {
    let seconds = now.saturating_sub(then) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Controls, direction marks and overrides, line separators, and what takes no room but says something.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let check = |input: &str, expected: &str| assert_eq!(visible(input), expected);
        check("plain ünïcode 旅 👩‍👩‍👧", "plain ünïcode 旅 👩‍👩‍👧");
        check("\x1b[2J", "\\u001b[2J");
        check("a\r\nb\tc", "a\\u000d\\u000ab\\u0009c");
        check("\u{202e}gpj.exe", "\\u202egpj.exe");
        check("\u{9b}31m\u{7f}", "\\u009b31m\\u007f");
        check("a\u{e0041}b", "a\\udb40\\udc41b");
    }

    #[test]
    fn texts_fit_by_columns() {
        let check = |text: &str, room, expected: &str| assert_eq!(pad(text, room), expected);
        check("abc", 5, "abc  ");
        check("abcdef", 4, "abc…");
        check("旅行計画", 8, "旅行計画");
        check("旅行計画", 6, "旅行… ");
        check("旅", 1, "…");
        check("abc", 0, "");
    }

    #[test]
    fn lines_break_by_columns() {
        let check = |text: &str, room, expected: &[&str]| assert_eq!(wrap(text, room), expected);
        check("", 4, &[""]);
        check("abcdefgh", 4, &["abcd", "efgh"]);
        check("旅行計", 4, &["旅行", "計"]);
        check("旅行", 0, &["旅", "行"]);
        check("one two three", 9, &["one two ", "three"]);
        check("a bcdefghijk", 6, &["a bcde", "fghijk"]);
        check("ab cd  ", 5, &["ab cd", "  "]);
    }
}

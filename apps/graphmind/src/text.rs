//! Text from programs we watch, made safe to print: nothing in it can move a cursor, turn a line round or leave its quotes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` for a terminal: control and direction characters as `\uXXXX`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() || turns_lines(c))
}

/// JSON text for a terminal. Line breaks stay (they stand between tokens); what is escaped can only be inside strings,
/// so the value is the same.
pub(crate) fn visible_json(text: &str) -> Cow<'_, str> {
    escape(text, |c| (c.is_control() && c >= '\u{7f}') || turns_lines(c))
}

/// Whose rules what is pasted has to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Posix,
    /// `cmd`, PowerShell and a bash for Windows: only what all three read alike.
    Windows,
}

impl Shell {
    /// What people here paste into.
    pub(crate) const HERE: Shell = if cfg!(windows) { Shell::Windows } else { Shell::Posix };

    /// `text` as one word; `None` if no quoting makes it safe to paste.
    pub(crate) fn word(self, text: &str) -> Option<String> {
        let (also_plain, never) = match self {
            Shell::Posix => ("_./:@%+=,-", ""),
            // PowerShell takes a curly quote for a straight one.
            Shell::Windows => ("_./:+-", "\"%!$`\u{201c}\u{201d}\u{201e}"),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || also_plain.contains(c);
        if text.chars().any(|c| c.is_control() || turns_lines(c) || never.contains(c)) {
            return None;
        }
        if !text.is_empty() && text.chars().all(plain) {
            return Some(text.to_owned());
        }
        match self {
            Shell::Posix => Some(format!("'{}'", text.replace('\'', r"'\''"))),
            // Inside quotes only two backslashes, or one before the end, mean something else to one of them.
            Shell::Windows if text.contains(r"\\") || text.ends_with('\\') => None,
            Shell::Windows => Some(format!("\"{text}\"")),
        }
    }
}

/// `text` as one segment of a URL's path.
pub(crate) fn url_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The first `limit` characters, with an ellipsis if there were more.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.chars().count() <= limit {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// How long ago, in the largest unit that fits.
pub(crate) fn age(now_ms: u64, then_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(then_ms) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..172_800 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// A duration as the viewers print it (hub §15.4): rounded before the unit is chosen.
pub(crate) fn duration(ms: f64) -> String {
    if ms >= 999.5 {
        return format!("{:.1}s", ms / 1_000.0);
    }
    if ms < 1.0 {
        return "<1ms".to_owned();
    }
    format!("{ms:.0}ms")
}

/// Rows with their columns in line; the last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn escape(text: &str, unsafe_char: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&unsafe_char) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if unsafe_char(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Marks, overrides and isolates of bidirectional text, and the separators terminals take for a new line.
fn turns_lines(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let check = |input: &str, expected: &str| assert_eq!(visible(input), expected);
        check("plain ünïcode 旅", "plain ünïcode 旅");
        check("\x1b[2J", "\\u001b[2J");
        check("a\r\nb\tc", "a\\u000d\\u000ab\\u0009c");
        check("\u{202e}gpj.exe", "\\u202egpj.exe");
        check("\u{9b}31m\u{7f}", "\\u009b31m\\u007f");
    }

    #[test]
    fn json_stays_json() {
        assert_eq!(visible_json("{\n  \"a\": \"\u{202e}x\u{85}\"\n}"), "{\n  \"a\": \"\\u202ex\\u0085\"\n}");
    }

    #[test]
    fn shell_words() {
        let check = |input: &str, expected: Option<&str>| assert_eq!(Shell::Posix.word(input).as_deref(), expected);
        check("run_0a1b", Some("run_0a1b"));
        check("", Some("''"));
        check("--", Some("--"));
        check("a b", Some("'a b'"));
        check("it's $(rm)", Some(r"'it'\''s $(rm)'"));
        check("a\nb", None);
        check("a\u{202e}b", None);
    }

    #[test]
    fn words_for_the_shells_of_windows() {
        let check = |input: &str, expected: Option<&str>| assert_eq!(Shell::Windows.word(input).as_deref(), expected);
        check("run_0a1b", Some("run_0a1b"));
        check("", Some("\"\""));
        check(r"C:\srv\x.exe", Some(r#""C:\srv\x.exe""#));
        check(r"C:\my server\x.exe", Some(r#""C:\my server\x.exe""#));
        check("it's & more, @x", Some("\"it's & more, @x\""));
        for input in
            ["50%", "a\"b", "$x", "a`b", "a!b", "a\u{201d}b", r"\\host\share", "C:\\folder\\", "a\nb", "a\u{202e}b"]
        {
            check(input, None);
        }
    }

    #[test]
    fn url_segments() {
        assert_eq!(url_segment("run_0a-1.~"), "run_0a-1.~");
        assert_eq!(url_segment("a/b?c#d é"), "a%2Fb%3Fc%23d%20%C3%A9");
    }

    #[test]
    fn ages_and_durations() {
        let ages =
            [(0, "0s ago"), (59_999, "59s ago"), (60_000, "1m ago"), (7_200_000, "2h ago"), (172_800_000, "2d ago")];
        for (ms, expected) in ages {
            assert_eq!(age(ms, 0), expected);
        }
        assert_eq!(age(0, 5), "0s ago");
        for (ms, expected) in [(0.0, "<1ms"), (12.4, "12ms"), (999.4, "999ms"), (999.5, "1.0s"), (61_250.0, "61.2s")] {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "bb".into()], vec!["ccc".into(), "d".into()]];
        assert_eq!(table(&rows), "a    bb\nccc  d\n");
    }
}

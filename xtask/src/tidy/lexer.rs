//! Enough of Rust's spelling to measure it: blanks out comments and literals, finds functions and test modules.
//! Knows no grammar beyond brackets; compiles nothing.

/// The text with every comment and literal replaced by spaces; lines and columns stay.
pub(crate) fn blank(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = skip(bytes, at);
        if end > at {
            out.extend(source[at..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            let byte = bytes[at];
            out.push(if byte.is_ascii() { char::from(byte) } else { ' ' });
            at += 1;
        }
    }
    out
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// without `self`
    pub(crate) parameters: usize,
    /// lines of the body that hold code
    pub(crate) lines: usize,
    /// how deep `if`, `match` and loops stand in one another
    pub(crate) nesting: usize,
}

/// All functions of a blanked text, nested ones too.
pub(crate) fn functions(blanked: &str) -> Vec<Function> {
    words(blanked).filter(|(_, word)| *word == "fn").filter_map(|(at, _)| function(blanked, at + 2)).collect()
}

/// The blanked text without its inline test modules.
pub(crate) fn without_tests(blanked: &str) -> String {
    let mut out = blanked.to_owned();
    let mut from = 0;
    while let Some(found) = out.get(from..).and_then(|rest| TEST_MARKS.iter().filter_map(|mark| rest.find(mark)).min())
    {
        let start = from + found;
        let after = start + out[start..].find(']').unwrap_or(0) + 1;
        let item = &out[after..];
        let end = match item.find(['{', ';']) {
            Some(at) if item.as_bytes()[at] == b'{' => after + matching(item, at).unwrap_or(item.len()),
            Some(at) => after + at + 1,
            None => out.len(),
        };
        // its lines are gone too, so that only the product's are counted
        out.replace_range(start..end, "");
        from = start;
    }
    out
}

/// Words (identifiers and keywords) with their places.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(letter)?;
        let end = text[start..].find(|found| !letter(found)).map_or(text.len(), |length| start + length);
        at = end;
        Some((start, &text[start..end]))
    })
}

fn letter(found: char) -> bool {
    found.is_ascii_alphanumeric() || found == '_'
}

/// The end of the comment or literal that begins here, or `at` when none does.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && letter(char::from(bytes[at - 1]));
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment(rest),
        [b'"', ..] => at + quoted(rest, 1),
        [b'b' | b'c', b'"', ..] if !in_word => at + quoted(rest, 2),
        [b'b', b'\'', ..] if !in_word => at + quoted_char(rest, 2),
        [b'r', b'"' | b'#', ..] if !in_word => at + raw(rest, 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if !in_word => at + raw(rest, 2),
        [b'\'', ..] => at + quoted_char(rest, 1),
        _ => at,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(rest.len())
}

fn quoted(rest: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character literal, or nothing when the quote opens a lifetime.
fn quoted_char(rest: &[u8], from: usize) -> usize {
    if rest.get(from) == Some(&b'\\') {
        let end = rest.iter().skip(from + 2).position(|byte| *byte == b'\'');
        return end.map_or(0, |length| from + 2 + length + 1);
    }
    // one character of up to four bytes, then the closing quote; anything else is a lifetime
    (from + 1..=from + 4)
        .find(|end| rest.get(*end) == Some(&b'\''))
        .filter(|end| one_char(&rest[from..*end]))
        .map_or(0, |end| end + 1)
}

fn one_char(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1)
}

fn raw(rest: &[u8], from: usize) -> usize {
    let hashes = rest[from..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(from + hashes) != Some(&b'"') {
        return 0;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let start = from + hashes + 1;
    let end = rest[start..].windows(close.len()).position(|window| window == close);
    end.map_or(rest.len(), |length| start + length + close.len())
}

fn function(text: &str, after: usize) -> Option<Function> {
    let (start, name) = words(&text[after..]).next()?;
    // `fn(` is a type, not a function
    if !text[after..after + start].trim().is_empty() {
        return None;
    }
    let head = after + start + name.len();
    let open = head + parameters_open(&text[head..])?;
    let close = open + matching(&text[open..], 0)?;
    let body = close + body_open(&text[close..])?;
    let end = body + matching(&text[body..], 0)?;
    let inside = &text[body + 1..end - 1];
    Some(Function {
        name: name.to_owned(),
        parameters: parameters(&text[open + 1..close - 1]),
        lines: inside.lines().filter(|line| !line.trim().is_empty()).count(),
        nesting: nesting(inside),
    })
}

/// The bracket that opens the parameters, behind the generic ones.
fn parameters_open(text: &str) -> Option<usize> {
    let mut angles = 0_i32;
    let mut before = ' ';
    for (at, found) in text.char_indices() {
        match found {
            '<' => angles += 1,
            '>' if before != '-' && before != '=' => angles -= 1,
            '(' if angles == 0 => return Some(at),
            '{' | ';' => return None,
            _ => {}
        }
        before = found;
    }
    None
}

/// The bracket that opens the body, behind the return type; a declaration has none.
fn body_open(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, found) in text.char_indices() {
        match found {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn parameters(list: &str) -> usize {
    let mut depth = 0_i32;
    let mut before = ' ';
    let mut parts = vec![String::new()];
    for found in list.chars() {
        match found {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                before = found;
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(found);
        }
        before = found;
    }
    let own = |part: &str| part.split(':').next().is_some_and(|name| words(name).any(|(_, word)| word == "self"));
    parts.iter().filter(|part| !part.trim().is_empty() && !own(part)).count()
}

/// Behind the bracket that closes the one at `open`.
fn matching(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, found) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match found {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn nesting(body: &str) -> usize {
    let mut deepest = 0;
    let mut depth = 0;
    // per open bracket: is it a control block; and is a control word waiting for its block
    let mut open: Vec<bool> = Vec::new();
    let mut waiting: Vec<usize> = Vec::new();
    let mut before = ' ';
    let mut control = words(body).filter(|(_, word)| CONTROL.contains(word)).map(|(at, _)| at).peekable();
    for (at, found) in body.char_indices() {
        if control.next_if_eq(&at).is_some() {
            waiting.push(open.len());
        }
        match found {
            '(' | '[' => open.push(false),
            '{' => {
                let is_control = waiting.last() == Some(&open.len());
                if is_control {
                    waiting.pop();
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                open.push(is_control);
            }
            ')' | ']' | '}' if open.pop() == Some(true) => depth -= 1,
            // a guard of a match arm opens no block of its own
            '>' if before == '=' => waiting.retain(|level| *level < open.len()),
            ';' => waiting.retain(|level| *level < open.len()),
            _ => {}
        }
        before = found;
    }
    deepest
}

const CONTROL: [&str; 6] = ["if", "else", "match", "for", "while", "loop"];
const TEST_MARKS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

//! Finds the JSON Pointer (RFC 6901) of a spot in a text that is checked up to there, by walking it again: rare enough that
//! the checker need not keep names and indices at hand.

use super::scan;
use super::text::Text;

/// `starts` are the containers open around the spot, outermost first; `offset` is the start of a value or of a member name.
pub(super) fn to(text: &[u8], starts: impl IntoIterator<Item = usize>, offset: usize) -> String {
    let mut pointer = String::new();
    let mut starts = starts.into_iter().peekable();
    while let Some(start) = starts.next() {
        if pointer.len() > LONGEST {
            pointer.push('…');
            break;
        }
        pointer.push('/');
        let inner = starts.peek().copied().unwrap_or(offset);
        if text.get(start) == Some(&b'[') {
            pointer.push_str(&index(text, start, inner).to_string());
        } else {
            let name = Text::decode(name(text, start, inner));
            let shown: String = name.to_lossy().chars().take(LONGEST).collect();
            pointer.push_str(&shown.replace('~', "~0").replace('/', "~1"));
        }
    }
    pointer
}

/// How many items of the array at `start` come before the one at `inner`.
fn index(text: &[u8], start: usize, inner: usize) -> usize {
    let mut at = next(text, start + 1);
    let mut count = 0;
    while at < inner {
        at = next(text, scan::value_end(text, at));
        count += 1;
    }
    count
}

/// The name of the member of the object at `start` whose name or value is at `inner`.
fn name(text: &[u8], start: usize, inner: usize) -> &[u8] {
    let mut at = next(text, start + 1);
    loop {
        let end = scan::string_end(text, at);
        let value = next(text, end);
        if at >= inner || value >= inner {
            return text.get(at..end).unwrap_or_default();
        }
        at = next(text, scan::value_end(text, value));
    }
}

/// Position after separators and white space.
fn next(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') = text.get(at) {
        at += 1;
    }
    at
}

/// Where a pointer is cut, so that a hostile text cannot make its own report large.
const LONGEST: usize = 1_000;

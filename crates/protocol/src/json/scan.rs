//! Byte-level steps shared by the checker and by navigation of checked text. Positions past the end are harmless.

use memchr::memchr2;

/// Position of the first quote, backslash or control character at or after `from`, else the text's length.
#[inline]
pub(super) fn run_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    // Most strings are short: two words first, then blocks, then the odd bytes at the end of the text.
    for _ in 0..2 {
        let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { return bytes_end(text, at) };
        match end_in_word(*word) {
            Some(place) => return at + place,
            None => at += 8,
        }
    }
    blocks_end(text, at)
}

/// Place of the first byte of eight that ends a run. The lowest mark is exact; a borrow only reaches bytes above one.
#[inline]
fn end_in_word(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);
    let word = u64::from_le_bytes(word);
    let quotes = word ^ (ONES * 0x22);
    let slashes = word ^ (ONES * 0x5C);
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let marks = (below(quotes, 1) | below(slashes, 1) | below(word, 0x20)) & HIGHS;
    (marks != 0).then(|| usize::try_from(marks.trailing_zeros() / 8).unwrap_or(0))
}

fn blocks_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    let (blocks, _) = text.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    // A fold without early exit, so that the compiler compares a whole block at once.
    for block in blocks {
        if block.iter().fold(false, |hit, &byte| hit | ends_run(byte)) {
            break;
        }
        at += BLOCK;
    }
    bytes_end(text, at)
}

fn bytes_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().position(|&byte| ends_run(byte)).map_or(text.len(), |length| from + length)
}

/// Position of the first byte at or after `from` that is not JSON white space.
#[inline]
pub(super) fn space_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Position after the number that starts at `from`, or the position at which it leaves the grammar.
#[inline]
pub(super) fn number_end(text: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match text.get(at) {
        Some(b'0') => at + 1,
        _ => digits_end(text, at)?,
    };
    if text.get(at) == Some(&b'.') {
        at = digits_end(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = text.get(at) {
            at += 1;
        }
        at = digits_end(text, at)?;
    }
    match text.get(at) {
        // `01`, `1.2.3`, `1e5e5`: the grammar ended, the token did not.
        Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => Err(at),
        _ => Ok(at),
    }
}

/// Position after the string whose opening quote is at `from`; only for checked text, which has no control characters in
/// strings.
#[inline]
pub(super) fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let first = rest.first_chunk::<8>().map(|word| end_in_word(*word));
        let length = match first {
            Some(Some(place)) => Some(place),
            Some(None) | None => memchr2(b'"', b'\\', rest),
        };
        let Some(length) = length else { return text.len() };
        at += length;
        match text.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// Position after the value that starts at `from`; only for checked text. Walks, never recurses.
pub(super) fn value_end(text: &[u8], from: usize) -> usize {
    match text.get(from) {
        Some(b'"') => string_end(text, from),
        Some(b'{' | b'[') => container_end(text, from),
        Some(_) => scalar_end(text, from),
        None => text.len(),
    }
}

/// Position after the bare word or number that starts at `from`; only for checked text.
pub(super) fn scalar_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let length = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'));
    length.map_or(text.len(), |length| from + length)
}

fn container_end(text: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = from;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'"' => string_end(text, at),
            b'{' | b'[' => {
                depth += 1;
                at + 1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            _ => at + 1,
        };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[inline]
fn digits_end(text: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    while let Some(b'0'..=b'9') = text.get(at) {
        at += 1;
    }
    if at == from { Err(at) } else { Ok(at) }
}

#[inline]
const fn ends_run(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

const BLOCK: usize = 32;

//! Compact JSON in JavaScript's spelling, and its size in the two units shrinking counts in.

use super::body::Body;
use super::marker::SUFFIX;
use crate::json::{Kind, Number, Piece, Token, Tokens, View, write_char, write_run, write_unit};

/// Size of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// UTF-8 bytes.
    pub(super) bytes: usize,
    /// UTF-16 units.
    pub(super) units: usize,
}

/// Size of a value's compact JSON.
pub(super) fn measure<'a>(body: impl Into<Body<'a>>) -> Size {
    let mut size = Size::default();
    walk_body(body.into(), |part| {
        size.bytes += part.len();
        size.units += units(part);
        More::Yes
    });
    size
}

/// Appends a value's compact JSON.
pub(super) fn write(view: View<'_>, out: &mut Vec<u8>) {
    walk(view, &mut |part| {
        out.extend_from_slice(part);
        More::Yes
    });
}

/// Appends, as a string literal, the first `limit` UTF-16 units of a value's compact JSON.
pub(super) fn write_preview<'a>(body: impl Into<Body<'a>>, limit: usize, out: &mut Vec<u8>) {
    let mut left = limit;
    out.push(b'"');
    walk_body(body.into(), |part| {
        write_prefix(part, &mut left, out);
        if left > 0 { More::Yes } else { More::No }
    });
    out.push(b'"');
}

/// Appends a string as a literal; one of more than `limit` UTF-16 units is cut there and ends in the suffix. Tells whether
/// it was cut.
pub(super) fn write_cut(string: View<'_>, limit: usize, out: &mut Vec<u8>) -> bool {
    let mut left = limit;
    let mut cut = false;
    out.push(b'"');
    for piece in string.pieces().into_iter().flatten() {
        let mut encoded = [0; 4];
        cut = match piece {
            _ if left == 0 => true,
            Piece::Run(run) => write_prefix(run, &mut left, out) < run.len(),
            Piece::Char(one) => {
                let one = one.encode_utf8(&mut encoded).as_bytes();
                write_prefix(one, &mut left, out) < one.len()
            }
            Piece::Lone(unit) => {
                write_unit(unit, out);
                left -= 1;
                false
            }
        };
        if cut {
            write_run(SUFFIX.as_bytes(), out);
            break;
        }
    }
    out.push(b'"');
    cut
}

/// UTF-16 units of a string.
pub(super) fn string_units(string: View<'_>) -> usize {
    let pieces = string.pieces().into_iter().flatten();
    pieces
        .map(|piece| match piece {
            Piece::Run(run) => units(run),
            Piece::Char(one) => one.len_utf16(),
            Piece::Lone(_) => 1,
        })
        .sum()
}

/// UTF-16 units of UTF-8 text.
pub(super) fn units(text: &[u8]) -> usize {
    // Every byte but a continuation begins a character; characters of four bytes take two units.
    text.iter().map(|&byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}

#[derive(PartialEq, Eq)]
enum More {
    Yes,
    No,
}

/// Hands out compact JSON part by part, as long as more is wanted.
fn walk_body(body: Body<'_>, mut part: impl FnMut(&[u8]) -> More) {
    if let Some(view) = body.whole() {
        walk(view, &mut part);
        return;
    }
    let mut before: &[u8] = b"{";
    for (name, value) in body.pairs() {
        let more = part(before) == More::Yes
            && walk(name, &mut part) == More::Yes
            && part(b":") == More::Yes
            && walk(value, &mut part) == More::Yes;
        if !more {
            return;
        }
        before = b",";
    }
    part(b"}");
}

/// The same for one value; whether more is wanted.
fn walk(view: View<'_>, part: &mut impl FnMut(&[u8]) -> More) -> More {
    let mut scratch = Vec::new();
    let mut comma = false;
    for token in Tokens::of(view) {
        let closes = matches!(token, Token::CloseArray | Token::CloseObject);
        if comma && !closes && part(b",") == More::No {
            return More::No;
        }
        comma = closes || matches!(token, Token::Scalar(_));
        let more = match token {
            Token::OpenArray => part(b"["),
            Token::OpenObject => part(b"{"),
            Token::CloseArray => part(b"]"),
            Token::CloseObject => part(b"}"),
            Token::Scalar(scalar) => part(respelled(scalar, &mut scratch)),
            Token::Name(name) => match part(respelled(name, &mut scratch)) {
                More::Yes => part(b":"),
                More::No => More::No,
            },
        };
        if more == More::No {
            return More::No;
        }
    }
    More::Yes
}

/// A scalar as JavaScript spells it; borrowed from `scratch` only where that differs from how it came.
fn respelled<'a>(scalar: View<'a>, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    scratch.clear();
    match scalar.kind() {
        Kind::String => {
            let Some(pieces) = scalar.pieces().filter(|pieces| pieces.plain().is_none()) else { return scalar.raw() };
            scratch.push(b'"');
            for piece in pieces {
                match piece {
                    Piece::Run(run) => scratch.extend_from_slice(run),
                    Piece::Char(one) => write_char(one, scratch),
                    Piece::Lone(unit) => write_unit(unit, scratch),
                }
            }
            scratch.push(b'"');
            scratch
        }
        Kind::Number if is_plain(scalar.raw()) => scalar.raw(),
        Kind::Number => match scalar.f64().and_then(Number::from_f64) {
            Some(number) => {
                scratch.extend_from_slice(number.as_str().as_bytes());
                scratch
            }
            None => b"null",
        },
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => scalar.raw(),
    }
}

/// Whether JavaScript would spell a number as it stands there: up to 15 digits, as doubles tell those apart, without
/// exponent or useless zeros.
fn is_plain(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let Some(point) = digits.iter().position(|byte| !byte.is_ascii_digit()) else {
        return digits.len() <= 15 && number != b"-0";
    };
    let fraction = digits.get(point + 1..).unwrap_or_default();
    let decimal = digits.get(point) == Some(&b'.') && fraction.iter().all(u8::is_ascii_digit);
    let large = fraction.get(..6).unwrap_or(fraction).iter().any(|digit| *digit != b'0');
    decimal && digits.len() <= 16 && fraction.last() != Some(&b'0') && (large || !digits.starts_with(b"0"))
}

/// Appends the first `left` units of UTF-8 text as they stand inside a string literal, and takes them off `left`. Gives the
/// number of bytes that were written whole.
fn write_prefix(text: &[u8], left: &mut usize, out: &mut Vec<u8>) -> usize {
    let mut end = 0;
    for &byte in text {
        let begins = byte & 0xC0 != 0x80;
        if begins && *left == 0 || byte >= 0xF0 && *left == 1 {
            break;
        }
        *left -= usize::from(begins) + usize::from(byte >= 0xF0);
        end += 1;
    }
    write_run(text.get(..end).unwrap_or_default(), out);
    if end < text.len() && *left == 1 {
        // Half of a pair is left to take.
        *left = 0;
        let half = text.get(end..end + 4).and_then(|pair| str::from_utf8(pair).ok()?.encode_utf16().next());
        write_unit(half.unwrap_or(0xFFFD), out);
    }
    end
}

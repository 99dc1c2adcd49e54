//! A JSON string: Unicode text, or UTF-16 units when it holds a lone surrogate and no Unicode text can say it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use super::pieces::{Piece, Pieces};

/// Any string JSON can hold, lone surrogates included. Ordered by UTF-16 units, as JavaScript orders strings.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Inner);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Inner {
    Whole(Box<str>),
    /// Only when at least one unit is a lone surrogate, so that equal texts have one form.
    Broken(Box<[u16]>),
}

impl Text {
    /// Joins surrogate pairs; keeps halves that stand alone.
    pub fn from_utf16(units: &[u16]) -> Text {
        Text(match String::from_utf16(units) {
            Ok(whole) => Inner::Whole(whole.into()),
            Err(_) => Inner::Broken(units.into()),
        })
    }

    /// The text, or nothing when it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Inner::Whole(whole) => Some(whole),
            Inner::Broken(_) => None,
        }
    }

    /// The text with U+FFFD in place of each lone surrogate.
    pub fn to_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Inner::Whole(whole) => Cow::Borrowed(whole),
            Inner::Broken(units) => Cow::Owned(String::from_utf16_lossy(units)),
        }
    }

    /// Its UTF-16 units, the measure of lengths on the debug wire.
    pub fn utf16(&self) -> impl Iterator<Item = u16> + '_ {
        let (whole, broken): (&str, &[u16]) = match &self.0 {
            Inner::Whole(whole) => (whole, &[]),
            Inner::Broken(units) => ("", units),
        };
        whole.encode_utf16().chain(broken.iter().copied())
    }

    /// True for the empty string.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Inner::Whole(whole) => whole.is_empty(),
            Inner::Broken(units) => units.is_empty(),
        }
    }

    /// Decodes a checked string literal, quotes included.
    pub(super) fn decode(literal: &[u8]) -> Text {
        let pieces = Pieces::of(literal);
        if let Some(Ok(whole)) = pieces.plain().map(str::from_utf8) {
            return Text::from(whole);
        }
        let mut whole = String::with_capacity(literal.len());
        for piece in pieces.clone() {
            match piece {
                Piece::Run(run) => whole.push_str(&String::from_utf8_lossy(run)),
                Piece::Char(one) => whole.push(one),
                Piece::Lone(_) => return Text::from_utf16(&units(pieces)),
            }
        }
        Text::from(whole)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Inner::Whole(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Inner::Whole(text.into()))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        self.utf16().cmp(other.utf16())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_lossy(), f)
    }
}

fn units(pieces: Pieces<'_>) -> Vec<u16> {
    let mut units = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Run(run) => units.extend(String::from_utf8_lossy(run).encode_utf16()),
            Piece::Char(one) => units.extend(one.encode_utf16(&mut [0; 2]).iter()),
            Piece::Lone(unit) => units.push(unit),
        }
    }
    units
}

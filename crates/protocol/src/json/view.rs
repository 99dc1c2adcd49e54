//! Looks into checked text without building anything. Each look walks the text again; who looks often builds a `Value`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use super::build;
use super::error::JsonError;
use super::number::{self, Number};
use super::pieces::{Piece, Pieces};
use super::scan;
use super::text::Text;
use super::value::Value;

/// The kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true`, `false`
    Bool,
    /// A number of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// One value within checked text. Copying it is free.
#[derive(Clone, Copy)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// What kind of value this is.
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Its text, as it came.
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// A member of an object; of repeated ones the last, as `JSON.parse` takes it. Nothing for other kinds.
    pub fn get(self, key: &str) -> Option<View<'a>> {
        self.pairs().filter(|(name, _)| name.is(key)).last().map(|(_, value)| value)
    }

    /// The items of an array; none for other kinds.
    pub fn items(self) -> Items<'a> {
        Items(Inside::of(self, Kind::Array))
    }

    /// The members of an object as they stand there, repeated ones too; none for other kinds.
    pub fn members(self) -> Members<'a> {
        Members(self.pairs())
    }

    /// As [`View::members`], with names as views, which costs no allocation.
    pub fn pairs(self) -> Pairs<'a> {
        Pairs(Inside::of(self, Kind::Object))
    }

    /// The string, or nothing when this is no string or holds a lone surrogate.
    pub fn str(self) -> Option<Cow<'a, str>> {
        let pieces = self.pieces()?;
        if let Some(plain) = pieces.plain() {
            return str::from_utf8(plain).ok().map(Cow::Borrowed);
        }
        Text::decode(self.0).as_str().map(|whole| Cow::Owned(whole.to_owned()))
    }

    /// The string, lone surrogates included.
    pub fn text(self) -> Option<Text> {
        (self.kind() == Kind::String).then(|| Text::decode(self.0))
    }

    /// Whether this is the string `text`; decodes nothing that need not be.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        let Some(inside) = self.0.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else { return false };
        // An escape is longer than what it stands for: only a longer literal can need decoding.
        match inside.len().cmp(&text.len()) {
            Ordering::Less => false,
            Ordering::Equal => inside == text.as_bytes() && !inside.contains(&b'\\'),
            Ordering::Greater => inside.contains(&b'\\') && self.decodes_to(text),
        }
    }

    /// The number.
    pub fn number(self) -> Option<Number> {
        self.spelling().map(Number::spelled)
    }

    /// The number, when it is an integer from 0 to 2^64 - 1; see [`Number::as_i64`] for what counts as one.
    pub fn u64(self) -> Option<u64> {
        self.spelling().and_then(number::u64_of)
    }

    /// The number, when it is an integer in the range of `i64`; see [`Number::as_i64`].
    pub fn i64(self) -> Option<i64> {
        self.spelling().and_then(number::i64_of)
    }

    /// The nearest double; beyond the range of doubles an infinity.
    pub fn f64(self) -> Option<f64> {
        self.spelling().map(number::f64_of)
    }

    /// `true` or `false`.
    pub fn bool(self) -> Option<bool> {
        match self.0.first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The value as an owned tree.
    ///
    /// # Errors
    /// When it is nested more than 512 deep.
    pub fn to_value(self) -> Result<Value, JsonError> {
        build::value(self)
    }

    /// `text` must be one checked value without surrounding white space.
    pub(super) fn of_checked(text: &'a [u8]) -> View<'a> {
        View(text)
    }

    /// The pieces of a string.
    pub(crate) fn pieces(self) -> Option<Pieces<'a>> {
        (self.kind() == Kind::String).then(|| Pieces::of(self.0))
    }

    fn decodes_to(self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for piece in Pieces::of(self.0) {
            let mut encoded = [0; 4];
            let bytes = match piece {
                Piece::Run(run) => run,
                Piece::Char(one) => one.encode_utf8(&mut encoded).as_bytes(),
                Piece::Lone(_) => return false,
            };
            let Some(after) = rest.strip_prefix(bytes) else { return false };
            rest = after;
        }
        rest.is_empty()
    }

    fn spelling(self) -> Option<&'a str> {
        if self.kind() == Kind::Number { str::from_utf8(self.0).ok() } else { None }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

/// Iterator over the items of an array.
#[derive(Debug, Clone)]
pub struct Items<'a>(Inside<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = View<'a>;

    fn next(&mut self) -> Option<View<'a>> {
        self.0.next()
    }
}

/// Iterator over the members of an object, names decoded.
#[derive(Debug, Clone)]
pub struct Members<'a>(Pairs<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Text, View<'a>);

    fn next(&mut self) -> Option<(Text, View<'a>)> {
        self.0.next().map(|(name, value)| (Text::decode(name.0), value))
    }
}

/// Iterator over the members of an object, names as views.
#[derive(Debug, Clone)]
pub struct Pairs<'a>(Inside<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (View<'a>, View<'a>);

    fn next(&mut self) -> Option<(View<'a>, View<'a>)> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// The values between two brackets; in an object names and values take turns.
#[derive(Debug, Clone)]
struct Inside<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Inside<'a> {
    fn of(view: View<'a>, kind: Kind) -> Inside<'a> {
        let end = if view.kind() == kind { view.0.len().saturating_sub(1) } else { 0 };
        Inside { text: view.0.get(..end).unwrap_or_default(), at: 1 }
    }

    fn next(&mut self) -> Option<View<'a>> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') = self.text.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        let end = scan::value_end(self.text, start);
        let value = self.text.get(start..end).filter(|value| !value.is_empty())?;
        self.at = end;
        Some(View(value))
    }
}

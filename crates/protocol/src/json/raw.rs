//! The text of one checked JSON value, shared by reference count.

use std::fmt;

use bytes::Bytes;

use super::check;
use super::error::{JsonError, Place};
use super::value::Value;
use super::view::View;
use super::write::{ObjectWriter, write, write_str};

/// How deep and how long a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once; a bare scalar needs none.
    pub depth: usize,
    /// Bytes of text.
    pub bytes: usize,
}

impl Limits {
    /// A whole frame from a peer: a value 4,096 deep and what it stands in, 64 MiB.
    pub const FRAME: Limits = Limits { depth: 4_096 + 16, bytes: 64 << 20 };
    /// A value inside one: 4,096 deep, 16 MiB.
    pub const PAYLOAD: Limits = Limits { depth: 4_096, bytes: 16 << 20 };
}

/// The text of one checked JSON value, without surrounding white space. Cloning counts a reference; equality is equality
/// of bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

/// A checked text and what other readers may see differently in it.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The value.
    pub raw: Raw,
    /// Member names that an object repeats, compared after decoding escapes. At most 64 are listed.
    pub duplicates: Vec<Place>,
    /// Escaped surrogates without their other half, in names and values. At most 64 are listed.
    pub surrogates: Vec<Place>,
    /// How many places of either sort were not listed any more.
    pub unlisted: usize,
    /// Most containers open at once.
    pub depth: usize,
}

impl Raw {
    /// Checks untrusted bytes in one pass. Duplicate members and lone surrogates are reported, not refused.
    ///
    /// # Errors
    /// When the bytes are not exactly one JSON value in UTF-8 within `limits`.
    pub fn check(mut text: Bytes, limits: Limits) -> Result<Checked, JsonError> {
        let report = check::check(&text, limits)?;
        text.truncate(report.end);
        Ok(Checked {
            raw: Raw(text.split_off(report.start)),
            duplicates: report.duplicates,
            surrogates: report.surrogates,
            unlisted: report.unlisted,
            depth: report.depth,
        })
    }

    /// As [`Raw::check`] within [`Limits::PAYLOAD`], for callers to whom repeated members do not matter.
    ///
    /// # Errors
    /// As [`Raw::check`].
    pub fn parse(text: impl Into<Bytes>) -> Result<Raw, JsonError> {
        Raw::check(text.into(), Limits::PAYLOAD).map(|checked| checked.raw)
    }

    /// `null`.
    pub fn null() -> Raw {
        Raw(Bytes::from_static(b"null"))
    }

    /// A string literal.
    pub fn string(text: &str) -> Raw {
        let mut out = Vec::with_capacity(text.len() + 2);
        write_str(text, &mut out);
        Raw(out.into())
    }

    /// `true` or `false`.
    pub fn bool(value: bool) -> Raw {
        Raw(Bytes::from_static(if value { b"true" } else { b"false" }))
    }

    /// An object, member by member.
    pub fn object(fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Raw {
        let mut out = Vec::new();
        let mut writer = ObjectWriter::new(&mut out);
        fill(&mut writer);
        writer.end();
        Raw(out.into())
    }

    /// The compact text of a value.
    pub fn from_value(value: &Value) -> Raw {
        let mut out = Vec::new();
        write(value, &mut out);
        Raw(out.into())
    }

    /// The text.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Bytes of text; never 0.
    #[expect(clippy::len_without_is_empty, reason = "the text of a value is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value, for navigation.
    pub fn view(&self) -> View<'_> {
        View::of_checked(&self.0)
    }

    /// A part as a value of its own. Shares memory with the whole, and so keeps all of it alive; a view of another text is
    /// copied.
    pub fn part(&self, of: View<'_>) -> Raw {
        let (whole, part) = (self.0.as_ptr_range(), of.raw().as_ptr_range());
        if whole.start <= part.start && part.end <= whole.end {
            return Raw(self.0.slice_ref(of.raw()));
        }
        Raw(Bytes::copy_from_slice(of.raw()))
    }

    /// The value as an owned tree.
    ///
    /// # Errors
    /// When it is nested more than 512 deep.
    pub fn to_value(&self) -> Result<Value, JsonError> {
        self.view().to_value()
    }

    /// `text` must be one JSON value without surrounding white space, for instance because this crate wrote it.
    pub(crate) fn trusted(text: impl Into<Bytes>) -> Raw {
        Raw(text.into())
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl From<View<'_>> for Raw {
    /// Copies the text.
    fn from(view: View<'_>) -> Raw {
        Raw(Bytes::copy_from_slice(view.raw()))
    }
}

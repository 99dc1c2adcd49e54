//! The bytes a message came as, beside the text it was read from. Both have one length, so that a place found in the text
//! is a place in the bytes, and a change touches nothing but that place.

use std::ops::Range;

use bytes::Bytes;

use crate::json::{Kind, Raw, View};

/// A message's own bytes and the value read from them.
#[derive(Debug, Clone)]
pub struct Source {
    bytes: Bytes,
    raw: Raw,
    /// Where in the bytes the value begins.
    at: usize,
}

impl Source {
    /// `raw` must be the value that begins at `at` of `bytes`, or a copy of it of the same length.
    pub(super) fn new(bytes: Bytes, raw: Raw, at: usize) -> Source {
        Source { bytes, raw, at }
    }

    /// A value that came as nothing but itself.
    pub fn of(raw: Raw) -> Source {
        Source { bytes: raw.bytes().clone(), raw, at: 0 }
    }

    /// The bytes as they came: a whole line with what ends it, or one element of a batch.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The message.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// The bytes with one part of the message replaced. A view of something else changes nothing.
    pub fn replace(&self, part: View<'_>, with: &[u8]) -> Bytes {
        match self.place(part) {
            Some(place) => self.splice(place, &[with]),
            None => self.bytes.clone(),
        }
    }

    /// The bytes with a member added at the end of an object. A view of something else changes nothing.
    pub fn add(&self, object: View<'_>, name: &str, value: &[u8]) -> Bytes {
        let Some(place) = self.place(object).filter(|_| object.kind() == Kind::Object) else {
            return self.bytes.clone();
        };
        let comma: &[u8] = if object.pairs().next().is_some() { b"," } else { b"" };
        let before_brace = place.end - 1;
        self.splice(before_brace..before_brace, &[comma, Raw::string(name).as_bytes(), b":", value])
    }

    /// A part of the message as a source of its own, by its place in the message.
    pub(super) fn part(&self, place: Range<usize>) -> Option<Source> {
        let text = self.raw.view().raw().get(place.clone())?;
        let bytes = self.bytes.slice(self.at + place.start..self.at + place.end);
        Some(Source { bytes, raw: Raw::trusted(self.raw.bytes().slice_ref(text)), at: 0 })
    }

    /// Where in the bytes a part of the message stands.
    pub(super) fn place(&self, part: View<'_>) -> Option<Range<usize>> {
        let (whole, part) = (self.raw.as_bytes().as_ptr_range(), part.raw().as_ptr_range());
        if part.start < whole.start || whole.end < part.end {
            return None;
        }
        let start = self.at + (part.start as usize - whole.start as usize);
        Some(start..start + (part.end as usize - part.start as usize))
    }

    fn splice(&self, place: Range<usize>, with: &[&[u8]]) -> Bytes {
        let added: usize = with.iter().map(|part| part.len()).sum();
        let mut bytes = Vec::with_capacity(self.bytes.len() + added);
        bytes.extend_from_slice(self.bytes.get(..place.start).unwrap_or_default());
        with.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(self.bytes.get(place.end..).unwrap_or_default());
        bytes.into()
    }
}

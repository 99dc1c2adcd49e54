//! Reads loosely typed payloads: what is missing or of another kind is simply not there.

use std::sync::Arc;

use lockgate_protocol::json::{Raw, View};

/// A payload and its text, so that parts of it can be kept without copying.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    raw: &'a Raw,
    view: View<'a>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(raw: &'a Raw) -> Self {
        Self { raw, view: raw.view() }
    }

    /// An object below this one.
    pub(crate) fn below(self, key: &str) -> Option<Self> {
        Some(Self { raw: self.raw, view: self.view.get(key)? })
    }

    pub(crate) fn each(self, key: &str) -> impl Iterator<Item = Self> {
        self.view.get(key).into_iter().flat_map(View::items).map(move |view| Self { raw: self.raw, view })
    }

    /// A string; lone surrogates become U+FFFD.
    pub(crate) fn text(self, key: &str) -> Option<String> {
        Some(self.view.get(key)?.text()?.to_lossy().into_owned())
    }

    pub(crate) fn id(self, key: &str) -> Option<Arc<str>> {
        self.text(key).map(Arc::from)
    }

    /// A closed set of words.
    pub(crate) fn word<T>(self, key: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
        parse(&self.view.get(key)?.str()?)
    }

    pub(crate) fn count(self, key: &str) -> Option<u64> {
        self.view.get(key)?.u64()
    }

    /// A finite number that is not negative.
    pub(crate) fn size(self, key: &str) -> Option<f64> {
        self.view.get(key)?.f64().filter(|number| number.is_finite() && *number >= 0.0)
    }

    pub(crate) fn is_true(self, key: &str) -> bool {
        self.view.get(key).and_then(View::bool) == Some(true)
    }

    pub(crate) fn part(self, key: &str) -> Option<Raw> {
        self.view.get(key).map(|view| self.raw.part(view))
    }
}

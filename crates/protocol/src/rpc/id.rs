//! The id of a request: equal when type and text are. `1`, `1.0` and `"1"` are three ids, and integers of any size survive.

use std::fmt;
use std::sync::Arc;

use crate::json::{Kind, Raw, View, write_text};

/// A usable id, that is a string or a number, as JSON text (mcp R10).
///
/// Two spellings of one string (`"a"`, `"\u0061"`) are one id, since whoever answers may escape differently.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<[u8]>);

impl Id {
    /// The id in a member `id`, `requestId` or alike; nothing unless it is a string or a number.
    pub fn of(view: View<'_>) -> Option<Id> {
        match view.kind() {
            Kind::Number => Some(Id(view.raw().into())),
            Kind::String if memchr::memchr(b'\\', view.raw()).is_none() => Some(Id(view.raw().into())),
            Kind::String => {
                let mut text = Vec::with_capacity(view.raw().len());
                write_text(&view.text()?, &mut text);
                Some(Id(text.into()))
            }
            Kind::Null | Kind::Bool | Kind::Array | Kind::Object => None,
        }
    }

    /// Its JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a value, for events.
    pub fn raw(&self) -> Raw {
        Raw::trusted(self.0.to_vec())
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Id {
        Id(number.to_string().into_bytes().into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<Id> {
        Id::of(Raw::parse(text.to_owned()).expect("a JSON text").view())
    }

    #[test]
    fn n17_ids_are_equal_by_type_and_text() {
        let apart =
            ["1", "1.0", "\"1\"", "0", "-0", "1e0", "18446744073709551616", "\"\"", "\"ü\"", "0.5", "\"\\ud800\""];
        for (place, left) in apart.iter().enumerate() {
            for (other, right) in apart.iter().enumerate() {
                assert_eq!(id(left) == id(right), place == other, "{left} and {right}");
            }
        }
        assert_eq!(id("\"\\u0061\\/\""), id("\"a/\""));
        assert_eq!(id("\"\\u00fc\""), id("\"ü\""));
    }

    #[test]
    fn what_is_no_id() {
        for text in ["null", "true", "[]", "{}", "[1]"] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}

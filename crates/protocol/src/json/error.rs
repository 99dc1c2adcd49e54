//! What can be wrong with a text that should be JSON, and where.

use std::fmt;

/// Why a text is no acceptable JSON value, and the byte at which that was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Byte offset into the text that was checked; for `End` and `Length` its length.
    pub offset: usize,
}

/// The ways in which a text fails to be an acceptable JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text stops before its value is complete; also an empty text.
    End,
    /// A byte that cannot stand there: a byte order mark, a stray comma, a misspelt word.
    Byte,
    /// Something other than white space follows the value.
    Trailing,
    /// The bytes are not UTF-8.
    Utf8,
    /// A number outside the JSON grammar: a leading zero or plus, a bare point or exponent.
    Number,
    /// A raw control character or an unknown escape inside a string.
    String,
    /// More containers open at once than allowed.
    Depth,
    /// More bytes than allowed.
    Length,
}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonErrorKind::End => "json text ends too early",
            JsonErrorKind::Byte => "unexpected byte in json text",
            JsonErrorKind::Trailing => "more than one json value",
            JsonErrorKind::Utf8 => "invalid utf-8",
            JsonErrorKind::Number => "malformed number",
            JsonErrorKind::String => "control character or bad escape in a string",
            JsonErrorKind::Depth => "json nested too deeply",
            JsonErrorKind::Length => "json text too long",
        })
    }
}

/// A spot in a checked text that is legal JSON but that some readers disagree about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Byte offset: of the second spelling of a member name, or of the lone escape.
    pub offset: usize,
    /// JSON Pointer (RFC 6901) of the member or string. Cut after about 1,000 bytes, then ending in `…`; a lone
    /// surrogate within it is shown as U+FFFD.
    pub pointer: String,
}

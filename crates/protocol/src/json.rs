//! The JSON reader and writer every part shares: number text and string bytes stay as they came, duplicate members and
//! lone surrogates are reported, depth and size are capped. Nothing here recurses without bound or panics on any bytes.

mod build;
mod canonical;
mod check;
mod error;
mod keys;
mod number;
mod pieces;
mod pointer;
mod raw;
mod scan;
mod text;
mod token;
mod value;
mod view;
mod write;

pub use self::canonical::{canonical, canonical_pair};
pub use self::error::{JsonError, JsonErrorKind, Place};
pub use self::number::Number;
pub use self::raw::{Checked, Limits, Raw};
pub use self::text::Text;
pub use self::value::{Object, Value};
pub use self::view::{Items, Kind, Members, Pairs, View};
pub use self::write::{ObjectWriter, write, write_str, write_text};

pub(crate) use self::pieces::Piece;
pub(crate) use self::token::{Token, Tokens};
pub(crate) use self::write::{write_char, write_run, write_unit};

#[cfg(test)]
mod tests;

//! Turns a trace somebody else recorded into the events of one run (hub §14.4). Reads no file and knows no store.

mod content;
mod flat;
mod keep;
mod node;
mod otlp;
mod shape;
mod span;
mod when;

mod run;
pub use self::run::{Imported, Origin, Skipped};
pub use self::shape::{Format, ImportError};

use bytes::Bytes;

/// Reads `text` as OTLP/JSON or a flat list of spans and makes it the run `origin.run`.
///
/// # Errors
/// When the text is no JSON, is of another shape, or has no span of a kind we know.
pub fn import(text: &Bytes, origin: &Origin) -> Result<Imported, ImportError> {
    let (format, spans) = shape::spans(text)?;
    run::compose(format, spans, origin)
}

#[cfg(test)]
mod tests;

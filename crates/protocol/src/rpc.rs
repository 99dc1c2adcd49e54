//! JSON-RPC as it stands on the wire: which message a text is, ids by type and text, and the bytes of the few messages we
//! write ourselves. Known members are read from a copy; the bytes that came are kept beside it.

mod batch;
pub mod code;
mod id;
mod read;
mod source;
mod write;

pub use self::batch::{Fate, assemble};
pub use self::id::Id;
pub use self::read::{Content, Frame, Message, Notification, Reply, Request, Response, Spoken, Unread};
pub use self::source::Source;
pub use self::write::{ErrorObject, answer_error, answer_result, error_without_id, notification, with_id};

#[cfg(test)]
mod tests;

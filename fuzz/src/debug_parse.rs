//! The debug wire: any bytes are one of four things, and what is sound stays the same when written and read again.

use bytes::Bytes;
use lockgate_protocol::debug::{Parsed, parse};

/// Reading is total, pure and stable.
pub fn debug_parse(data: &[u8]) {
    let first = parse(Bytes::copy_from_slice(data));
    assert_eq!(first, parse(Bytes::copy_from_slice(data)), "reading twice is reading once");
    match &first {
        Parsed::Ok(envelope) | Parsed::UnknownType(envelope) => {
            let again = parse(Bytes::from(envelope.to_text()));
            assert_eq!(first, again, "what we write, we read");
        }
        Parsed::VersionMismatch { received } => assert_ne!(*received, 1),
        Parsed::Invalid { issues, .. } => assert!(!issues.is_empty(), "a refusal says why"),
    }
}

//! A payload kept for comparison: by its sketch, by its bytes, then member by member up to the first difference. A digest is
//! made only for what is too much to keep, and for fingerprints.

use std::cell::OnceCell;
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use lockgate_protocol::json::{Raw, canonical};
use sha2::Sha256;

use super::same::same;
use super::sketch::Sketch;

/// Half of an HMAC: enough to tell payloads apart within one process, useless outside of it.
pub(super) type Digest = [u8; 16];

/// What can be said about a payload later on.
#[derive(Clone, Debug)]
pub(super) struct Print {
    body: Option<Raw>,
    /// Of the body, unless a first look at it would be felt.
    sketch: Sketch,
    /// Of the bytes. Inner `None`: it equals nothing, not even itself.
    digest: OnceCell<Option<Digest>>,
}

impl Print {
    /// Of an input; an absent one is `null` (wire §5.4). Holds on to the payload until it is settled.
    pub(super) fn of(input: Option<&Raw>, ignored: &[&str]) -> Print {
        let body = input.cloned().unwrap_or_else(Raw::null);
        let sketch = if body.len() <= COPIED { Sketch::of(body.view(), ignored) } else { Sketch::Unknown };
        Print { body: Some(body), sketch, digest: OnceCell::new() }
    }

    /// Of a result; a very large one equals nothing.
    pub(super) fn result(output: Option<&Raw>, ignored: &[&str]) -> Print {
        match output {
            Some(output) if is_longer(output, ignored) => Print::never(),
            _ => Print::of(output, ignored),
        }
    }

    /// Of something that equals nothing.
    pub(super) fn never() -> Print {
        Print { body: None, sketch: Sketch::Unknown, digest: OnceCell::from(None) }
    }

    /// Of what was thrown.
    pub(super) fn thrown(name: &str, message: &str) -> Print {
        let digest = OnceCell::from(mac(&[b"thrown", name.as_bytes(), message.as_bytes()]));
        Print { body: None, sketch: Sketch::Unknown, digest }
    }

    /// For keeping: a small payload is copied, so that no whole frame stays alive for it; a larger one is kept if there is
    /// `room` for it, else only its digest.
    pub(super) fn settled(mut self, room: usize) -> Print {
        let Some(body) = self.body.take() else { return self };
        if body.len() > room {
            self.digest.get_or_init(|| digest(&body));
        } else if body.len() <= COPIED {
            self.body = Some(Raw::from(body.view()));
        } else {
            self.body = Some(body);
        }
        self
    }

    /// Bytes held on to.
    pub(super) fn weight(&self) -> usize {
        self.body.as_ref().map_or(0, Raw::len)
    }

    /// Whether both are the same value, `ignored` members apart (wire §5.4). Where one is not kept any more, and for very
    /// large ones, the bytes decide.
    pub(super) fn same(&self, other: &Print, ignored: &[&str]) -> bool {
        match (&self.body, &other.body) {
            (Some(_), Some(_)) if self.sketch.differs(other.sketch) => false,
            (Some(one), Some(two)) if one == two => true,
            (Some(one), Some(two)) if one.len().max(two.len()) <= COMPARED => same(one.view(), two.view(), ignored),
            (Some(one), Some(two)) if one.len() != two.len() => false,
            (Some(_), Some(_)) | (None, _) | (_, None) => self.digest().is_some() && self.digest() == other.digest(),
        }
    }

    /// For a fingerprint: says nothing to anybody who does not know this process.
    pub(super) fn trace(&self, ignored: &[&str]) -> Option<Digest> {
        match &self.body {
            Some(body) if body.len() <= COMPARED => mac(&[b"value", canonical(body.view(), ignored).as_bytes()]),
            Some(_) | None => self.digest(),
        }
    }

    fn digest(&self) -> Option<Digest> {
        *self.digest.get_or_init(|| self.body.as_ref().and_then(digest))
    }
}

/// A digest of several byte strings, each set apart from the next.
pub(super) fn mac(parts: &[&[u8]]) -> Option<Digest> {
    let mut mac = Hmac::<Sha256>::new_from_slice(salt()?).ok()?;
    for part in parts {
        mac.update(&part.len().to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().first_chunk::<16>().copied()
}

/// Lower-case hexadecimal, two digits a byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Whether the canonical text of a result has more than [`COUNTED`] characters (wire §5.5). Its UTF-16 units are counted, and
/// only where its bytes leave that open.
fn is_longer(output: &Raw, ignored: &[&str]) -> bool {
    let bytes = output.as_bytes();
    if bytes.len() <= COUNTED || bytes.len() > COUNTED * LONGEST {
        return bytes.len() > COUNTED;
    }
    // Every byte that begins a character is one of the canonical text, but for blanks, escapes and what is ignored.
    let begun = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80 && **byte > b' ').count();
    let escapes = bytes.iter().filter(|byte| **byte == b'\\').count();
    let text = str::from_utf8(bytes).unwrap_or_default();
    if !ignored.iter().any(|name| text.contains(name)) && begun.saturating_sub(escapes * (LONGEST - 1)) > COUNTED {
        return true;
    }
    canonical(output.view(), ignored).encode_utf16().count() > COUNTED
}

fn digest(body: &Raw) -> Option<Digest> {
    mac(&[b"bytes", body.as_bytes()])
}

/// Random for each process, so that a digest on the wire says nothing about low-entropy payloads.
fn salt() -> Option<&'static [u8; 32]> {
    static SALT: OnceLock<Option<[u8; 32]>> = OnceLock::new();
    SALT.get_or_init(|| {
        let mut salt = [0; 32];
        getrandom::fill(&mut salt).ok().map(|()| salt)
    })
    .as_ref()
}

const COPIED: usize = 16 << 10;

/// Characters of the longest result that is compared.
const COUNTED: usize = 262_144;

/// Bytes that one character may take, escaped.
const LONGEST: usize = 6;

/// Walking through the members of larger payloads would be felt by the call that waits for it.
const COMPARED: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use lockgate_protocol::json::Raw;

    use super::{COMPARED, Print};

    fn print(text: &str) -> Print {
        Print::of(Some(&Raw::parse(text.to_owned()).unwrap()), &[])
    }

    #[test]
    fn what_is_kept_compares_as_a_value_and_what_is_not_as_bytes() {
        let (one, two) = (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#);
        let ignored: [&str; 0] = [];
        let settled = |text: &str, room| print(text).settled(room);
        assert!(settled(one, 100).same(&print(two), &ignored));
        assert!(settled(one, 0).same(&print(one), &ignored));
        assert!(settled(one, 0).same(&settled(one, 0), &ignored));
        assert!(!settled(one, 0).same(&print(two), &ignored));
        assert_eq!((settled(one, 13).weight(), settled(one, 12).weight()), (13, 0));
        assert_eq!(print(one).trace(&ignored), print(two).trace(&ignored));
        assert_ne!(print(one).trace(&ignored), print("1").trace(&ignored));
    }

    #[test]
    fn absent_is_null_and_never_equals_nothing() {
        assert!(Print::of(None, &[]).same(&print("null"), &[]));
        assert!(!Print::never().same(&Print::never(), &[]));
        assert!(!Print::never().same(&print("null"), &[]));
        assert!(Print::thrown("E", "m").same(&Print::thrown("E", "m"), &[]));
        assert!(!Print::thrown("E", "m").same(&Print::thrown("Em", ""), &[]));
    }

    #[test]
    fn payloads_too_large_to_walk_through_are_compared_as_bytes() {
        let large = |first: &str| format!(r#"{{"{first}":1,"t":"{}"}}"#, "x".repeat(COMPARED));
        assert!(print(&large("a")).same(&print(&large("a")), &[]));
        assert!(!print(&large("a")).same(&print(&large("b")), &[]));
        assert!(!print(&large("a")).same(&print(&large("bb")), &["a", "bb"]));
        assert!(!Print::result(Some(&Raw::parse(large("a")).unwrap()), &[]).same(&print(&large("a")), &[]));
    }

    #[test]
    fn l12_a_result_is_too_long_by_its_characters_not_by_its_bytes() {
        let counts = |output: &str| {
            let result = Print::result(Some(&Raw::parse(output.to_owned()).unwrap()), &["_meta"]);
            result.same(&result, &["_meta"])
        };
        let check = |most: usize, output: fn(usize) -> String| {
            assert!(counts(&output(most)), "{}", &output(3));
            assert!(!counts(&output(most + 1)), "{}", &output(3));
        };
        check(262_142, |count| format!("\"{}\"", "x".repeat(count)));
        check(262_142, |count| format!("\"{}\"", "\u{e9}".repeat(count)));
        check(131_071, |count| format!("\"{}\"", "\u{1f600}".repeat(count)));
        check(262_142, |count| format!("\"{}\"", "\\u00e9".repeat(count)));
        check(43_690, |count| format!("\"{}\"", "\\u0001".repeat(count)));
        check(131_070, |count| format!("[{}1]", "1 , ".repeat(count)));
        check(262_136, |count| format!(r#"{{"_meta":"{}","a":"{}"}}"#, "y".repeat(100_000), "x".repeat(count)));
    }
}

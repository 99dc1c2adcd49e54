//! A payload kept for comparison. Bytes are compared first; a digest is made only when they differ, and then once.

use std::cell::OnceCell;
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use lockgate_protocol::json::{Raw, canonical};
use sha2::Sha256;

/// Half of an HMAC: enough to tell payloads apart within one process, useless outside of it.
pub(crate) type Digest = [u8; 16];

/// What can be said about a payload later on.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    body: Option<Raw>,
    /// Inner `None`: it equals nothing, not even itself.
    digest: OnceCell<Option<Digest>>,
}

impl Print {
    /// Of an input; an absent one is `null` (wire §5.4). Holds on to the payload until it is settled.
    pub(crate) fn of(input: Option<&Raw>) -> Print {
        Print { body: Some(input.cloned().unwrap_or_else(Raw::null)), digest: OnceCell::new() }
    }

    /// Of a result; a very large one equals nothing.
    pub(crate) fn result(output: Option<&Raw>) -> Print {
        match output {
            Some(output) if output.len() > ORDERED => Print::never(),
            _ => Print::of(output),
        }
    }

    /// Of something that equals nothing.
    pub(crate) fn never() -> Print {
        Print { body: None, digest: OnceCell::from(None) }
    }

    /// Of a finished digest.
    pub(crate) fn known(digest: Option<Digest>) -> Print {
        Print { body: None, digest: OnceCell::from(digest) }
    }

    /// For keeping: small payloads are copied, so that no whole frame stays alive for them, others become digests.
    pub(crate) fn settled(mut self, budget: usize, ignored: &[String]) -> Print {
        let Some(body) = self.body.take() else { return self };
        if body.len() <= budget.min(COPIED) {
            self.body = Some(Raw::from(body.view()));
        } else {
            self.digest.get_or_init(|| digest(&body, ignored));
        }
        self
    }

    /// Bytes held on to.
    pub(crate) fn weight(&self) -> usize {
        self.body.as_ref().map_or(0, Raw::len)
    }

    /// Whether both are the same value, `ignored` members apart (wire §5.4).
    pub(crate) fn same(&self, other: &Print, ignored: &[String]) -> bool {
        if let (Some(one), Some(two)) = (&self.body, &other.body)
            && one == two
        {
            return true;
        }
        let digest = self.digest(ignored);
        digest.is_some() && digest == other.digest(ignored)
    }

    /// `None`: equals nothing.
    pub(crate) fn digest(&self, ignored: &[String]) -> Option<Digest> {
        *self.digest.get_or_init(|| self.body.as_ref().and_then(|body| digest(body, ignored)))
    }
}

/// A digest of several byte strings, each set apart from the next.
pub(crate) fn mac(parts: &[&[u8]]) -> Option<Digest> {
    let mut mac = Hmac::<Sha256>::new_from_slice(salt()?).ok()?;
    for part in parts {
        mac.update(&part.len().to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().first_chunk::<16>().copied()
}

/// Lower-case hexadecimal, two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Members to leave out, in the form the canonical writer takes.
pub(crate) fn names(ignored: &[String]) -> Vec<&str> {
    ignored.iter().map(String::as_str).collect()
}

fn digest(body: &Raw, ignored: &[String]) -> Option<Digest> {
    // Putting the members of a payload this large in order would be felt by the call that waits for it.
    if body.len() > ORDERED {
        return mac(&[b"bytes", body.as_bytes()]);
    }
    mac(&[b"value", canonical(body.view(), &names(ignored)).as_bytes()])
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

/// Larger payloads are the same only if their bytes are.
const ORDERED: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use lockgate_protocol::json::Raw;

    use super::{ORDERED, Print};

    fn print(text: &str) -> Print {
        Print::of(Some(&Raw::parse(text.to_owned()).unwrap()))
    }

    fn check(one: &str, two: &str, same: bool) {
        let ignored = ["_meta".to_owned()];
        assert_eq!(print(one).same(&print(two), &ignored), same, "{one} and {two}");
        let settled = |text: &str, budget| print(text).settled(budget, &ignored);
        assert_eq!(settled(one, 0).same(&print(two), &ignored), same, "digest of {one} and {two}");
        assert_eq!(settled(one, 1000).same(&settled(two, 0), &ignored), same, "copy of {one} and digest of {two}");
    }

    #[test]
    fn l02_key_order_spacing_and_number_spelling_make_no_difference() {
        check(r#"{"a":1,"b":[1,2]}"#, r#"{ "b":[1.0,2], "a":1e0 }"#, true);
        check(r#"{"a":1}"#, r#"{"a":2}"#, false);
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false);
        check(r#""é""#, r#""\u00e9""#, true);
        check(r#"{"a":1}"#, r#"[1]"#, false);
    }

    #[test]
    fn l03_only_the_ignored_members_are_left_out() {
        check(r#"{"a":{"_meta":{"progressToken":1}}}"#, r#"{"a":{"_meta":2}}"#, true);
        check(r#"{"cursor":"1"}"#, r#"{"cursor":"2"}"#, false);
    }

    #[test]
    fn absent_is_null_and_never_equals_nothing() {
        assert!(Print::of(None).same(&print("null"), &[]));
        assert!(!Print::never().same(&Print::never(), &[]));
        assert!(!Print::never().same(&print("null"), &[]));
    }

    #[test]
    fn payloads_too_large_to_put_in_order_are_compared_as_bytes() {
        let large = |first: &str| format!(r#"{{"{first}":1,"t":"{}"}}"#, "x".repeat(ORDERED));
        check(&large("a"), &large("a"), true);
        check(&large("a"), &large("b"), false);
        assert_eq!(print(&large("a")).settled(usize::MAX, &[]).weight(), 0);
    }
}

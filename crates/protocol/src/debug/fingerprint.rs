//! What the loop guard compares calls by (wire §5.4).

use sha2::{Digest, Sha256};

use crate::json::{View, canonical_pair};

/// The first 32 hex digits of SHA-256 over the canonical JSON of `[node_id, input]`; an absent input counts as `null`.
/// Members named in `ignored` do not count, at any depth.
pub fn fingerprint(node_id: &str, input: Option<View<'_>>, ignored: &[&str]) -> String {
    let digest = Sha256::digest(canonical_pair(node_id, input, ignored).as_bytes());
    let mut hex = String::with_capacity(32);
    for byte in digest.iter().take(16) {
        for nibble in [byte >> 4, byte & 0xF] {
            hex.extend(char::from_digit(u32::from(nibble), 16));
        }
    }
    hex
}

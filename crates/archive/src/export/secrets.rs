//! Takes values out of an envelope whose names say that they are secret (hub §14.5). Works on the text, in one pass and
//! without recursion; what is not taken out stays byte for byte.

use std::collections::BTreeMap;

use bytes::Bytes;
use lockgate_protocol::json::Raw;

/// What was taken out: the names as written, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub keys: BTreeMap<String, u64>,
}

impl Removed {
    pub fn count(&self) -> u64 {
        self.keys.values().sum()
    }

    pub(super) fn add(&mut self, other: Removed) {
        for (key, count) in other.keys {
            *self.keys.entry(key).or_default() += count;
        }
    }
}

/// `text` without its secrets. The fingerprint of a looping input goes too: whoever can guess the input can test the guess.
pub(super) fn remove(text: &Raw) -> (Bytes, Removed) {
    let mut removed = Removed::default();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let bytes = text.as_bytes();
    let mut walk = Walk { text: bytes, at: 0, open: Vec::new() };
    while let Some(member) = walk.next_member() {
        if !member.secret() {
            continue;
        }
        let end = value_end(bytes, member.value);
        if bytes.get(member.value..end) == Some(PLACEHOLDER) {
            continue;
        }
        out.extend_from_slice(bytes.get(copied..member.value).unwrap_or_default());
        out.extend_from_slice(PLACEHOLDER);
        copied = end;
        walk.at = end;
        *removed.keys.entry(member.name).or_default() += 1;
    }
    if removed.keys.is_empty() {
        return (text.bytes().clone(), removed);
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    (out.into(), removed)
}

/// Does this name promise a secret? One of the words must be the whole name or stand in it as whole parts.
fn names_secret(name: &str) -> bool {
    let parts = parts(name);
    SECRETS.iter().any(|secret| parts.windows(secret.len()).any(|run| run.iter().eq(secret.iter())))
}

/// `xApiKey`, `x-api-key` and `X_API_KEY` alike are x, api, key.
fn parts(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at)).copied();
        let after_lower = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let starts_word =
            before.is_some_and(char::is_uppercase) && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let between = !letter.is_alphanumeric();
        if between || letter.is_uppercase() && (after_lower || starts_word) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| !between) {
            part.extend(letter.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A member of some object, with the place of its value.
struct Member {
    name: String,
    value: usize,
    in_loop: bool,
}

impl Member {
    fn secret(&self) -> bool {
        self.in_loop && self.name == "fingerprint" || names_secret(&self.name)
    }
}

/// Walks over checked text. The stack says for each open container whether it is the object under `loop`.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Inside>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Array,
    Object,
    Loop,
}

impl Walk<'_> {
    /// The next member at any depth, its value not yet entered.
    fn next_member(&mut self) -> Option<Member> {
        loop {
            match self.text.get(self.at)? {
                b'{' => self.enter(Inside::Object),
                b'[' => self.enter(Inside::Array),
                b'}' | b']' => {
                    self.open.pop();
                    self.at += 1;
                }
                b'"' => {
                    let start = self.at;
                    self.at = string_end(self.text, start);
                    if let Some(member) = self.member(start) {
                        return Some(member);
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// The string just passed as the name of a member, if a value follows it. Stands on that value afterwards.
    fn member(&mut self, start: usize) -> Option<Member> {
        let literal = self.text.get(start..self.at)?;
        let colon = self.skip_blanks(self.at);
        if self.text.get(colon) != Some(&b':') {
            return None;
        }
        let in_loop = self.open.last() == Some(&Inside::Loop);
        let value = self.skip_blanks(colon + 1);
        self.at = value;
        let name = name(literal);
        if name == "loop" && self.text.get(value) == Some(&b'{') {
            self.enter(Inside::Loop);
        }
        Some(Member { name, value, in_loop })
    }

    fn enter(&mut self, inside: Inside) {
        self.open.push(inside);
        self.at += 1;
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while self.text.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    }
}

fn name(literal: &[u8]) -> String {
    let plain = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !plain.contains(&b'\\') {
        return String::from_utf8_lossy(plain).into_owned();
    }
    let decoded = Raw::parse(literal.to_vec()).ok().and_then(|raw| raw.view().text());
    decoded.map(|text| text.to_lossy().into_owned()).unwrap_or_default()
}

/// Behind the string that starts at `at`.
fn string_end(text: &[u8], mut at: usize) -> usize {
    loop {
        at += 1;
        match text.get(at) {
            Some(b'\\') => at += 1,
            Some(b'"') | None => return (at + 1).min(text.len()),
            Some(_) => {}
        }
    }
}

/// Behind the value that starts at `at`.
fn value_end(text: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

const PLACEHOLDER: &[u8] = b"\"__REDACTED__\"";
const SECRETS: [&[&str]; 14] = [
    &["authorization"],
    &["cookie"],
    &["set", "cookie"],
    &["api", "key"],
    &["apikey"],
    &["password"],
    &["passwd"],
    &["secret"],
    &["client", "secret"],
    &["private", "key"],
    &["access", "token"],
    &["refresh", "token"],
    &["token"],
    &["bearer"],
];

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::Limits;

    #[test]
    fn names() {
        let secret = [
            "Authorization",
            "x-api-key",
            "accessToken",
            "token_count",
            "apiKey",
            "API_KEY",
            "APIKey",
            "apikey",
            "client_secret",
            "clientSecretId",
            "SET-COOKIE",
            "http.request.header.cookie",
            "x token",
            "passwd",
            "BEARER",
            "myPrivateKey",
            "userPASSWORD",
            "token",
        ];
        let plain = [
            "max_tokens",
            "tokenizer",
            "apiKeys",
            "api",
            "key",
            "keyApi",
            "secretary",
            "",
            "-",
            "author",
            "cookies",
            "inputTokens",
            "tokens",
            "privateer_key",
        ];
        for name in secret {
            assert!(names_secret(name), "{name}");
        }
        for name in plain {
            assert!(!names_secret(name), "{name}");
        }
    }

    fn check(text: &'static str, expected: &str, keys: &[(&str, u64)]) {
        let raw = Raw::check(Bytes::from_static(text.as_bytes()), Limits::FRAME).expect("JSON").raw;
        let (bytes, removed) = remove(&raw);
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        let found: Vec<(&str, u64)> = removed.keys.iter().map(|(key, count)| (key.as_str(), *count)).collect();
        assert_eq!(found, keys);
    }

    #[test]
    fn values_of_every_kind_go() {
        check(r#"{"a":1e400,"b":[ 1 ,2]}"#, r#"{"a":1e400,"b":[ 1 ,2]}"#, &[]);
        check(r#"{"token":"x","n":1}"#, r#"{"token":"__REDACTED__","n":1}"#, &[("token", 1)]);
        check(r#"{"token" : 12 , "n":1}"#, r#"{"token" : "__REDACTED__" , "n":1}"#, &[("token", 1)]);
        check(r#"{"n":1,"token":true}"#, r#"{"n":1,"token":"__REDACTED__"}"#, &[("token", 1)]);
        check(
            r#"[{"secret":{"deep":["}",{"token":1}]}},{"ok":{"password":[1,[2]]}}]"#,
            r#"[{"secret":"__REDACTED__"},{"ok":{"password":"__REDACTED__"}}]"#,
            &[("password", 1), ("secret", 1)],
        );
        check(r#"{"token":null,"token":"\"}"}"#, r#"{"token":"__REDACTED__","token":"__REDACTED__"}"#, &[("token", 2)]);
    }

    #[test]
    fn what_is_no_member_stays() {
        check(r#"["token","cookie"]"#, r#"["token","cookie"]"#, &[]);
        check(r#"{"a":"token\":1"}"#, r#"{"a":"token\":1"}"#, &[]);
        check(r#"{"token":"__REDACTED__"}"#, r#"{"token":"__REDACTED__"}"#, &[]);
        check(r#""token""#, r#""token""#, &[]);
    }

    #[test]
    fn escaped_names_are_read() {
        check(r#"{"\u0074oken":"x"}"#, r#"{"\u0074oken":"__REDACTED__"}"#, &[("token", 1)]);
        check(r#"{"\ud800":"x"}"#, r#"{"\ud800":"x"}"#, &[]);
    }

    #[test]
    fn fingerprints_of_loops_go() {
        check(
            r#"{"loop":{"repeats":3,"fingerprint":"ab"},"fingerprint":"cd"}"#,
            r#"{"loop":{"repeats":3,"fingerprint":"__REDACTED__"},"fingerprint":"cd"}"#,
            &[("fingerprint", 1)],
        );
        check(r#"{"loop":[{"fingerprint":1}]}"#, r#"{"loop":[{"fingerprint":1}]}"#, &[]);
        check(r#"{"loop":{},"a":{"fingerprint":1}}"#, r#"{"loop":{},"a":{"fingerprint":1}}"#, &[]);
    }

    #[test]
    fn depth_is_no_matter() {
        let text = format!("{}{{\"token\":1}}{}", "[".repeat(4_000), "]".repeat(4_000));
        let raw = Raw::check(text.clone().into(), Limits::FRAME).expect("JSON").raw;
        let (bytes, removed) = remove(&raw);
        assert_eq!(removed.count(), 1);
        assert_eq!(String::from_utf8_lossy(&bytes), text.replace(":1}", ":\"__REDACTED__\"}"));
    }
}

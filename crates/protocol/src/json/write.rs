//! Writes compact JSON the way `JSON.stringify` spells it.

use super::number::Number;
use super::raw::Raw;
use super::text::Text;
use super::value::Value;
use super::view::View;

/// Appends the compact text of `value`; lone surrogates as lower-case `\udXXX`. Recurses as deep as the value is.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut writer = ObjectWriter::new(out);
            for (name, value) in members {
                writer.name(name);
                write(value, writer.out);
            }
            writer.end();
        }
    }
}

/// Appends a string literal: short escapes where JSON has them, other controls as lower-case `\u00XX`, the rest raw.
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_run(text.as_bytes(), out);
    out.push(b'"');
}

/// As [`write_str`], for a string that may hold lone surrogates.
pub fn write_text(text: &Text, out: &mut Vec<u8>) {
    if let Some(whole) = text.as_str() {
        return write_str(whole, out);
    }
    out.push(b'"');
    for unit in char::decode_utf16(text.utf16()) {
        match unit {
            Ok(one) => write_char(one, out),
            Err(lone) => write_unit(lone.unpaired_surrogate(), out),
        }
    }
    out.push(b'"');
}

/// Appends one character as it stands inside a string literal.
pub(crate) fn write_char(one: char, out: &mut Vec<u8>) {
    write_run(one.encode_utf8(&mut [0; 4]).as_bytes(), out);
}

/// Appends one UTF-16 unit as a `\uXXXX` escape.
pub(crate) fn write_unit(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(hex(unit >> shift));
    }
}

/// Appends UTF-8 as it stands inside a string literal.
pub(crate) fn write_run(mut run: &[u8], out: &mut Vec<u8>) {
    loop {
        let end = super::scan::run_end(run, 0);
        out.extend_from_slice(run.get(..end).unwrap_or_default());
        let Some(&special) = run.get(end) else { return };
        let short = match special {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            control => {
                write_unit(u16::from(control), out);
                run = run.get(end + 1..).unwrap_or_default();
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
        run = run.get(end + 1..).unwrap_or_default();
    }
}

/// Writes an object member by member into a buffer, without allocating for each.
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Opens the object.
    pub fn new(out: &'o mut Vec<u8>) -> ObjectWriter<'o> {
        out.push(b'{');
        ObjectWriter { out, empty: true }
    }

    /// A string member.
    pub fn str(&mut self, key: &str, text: &str) -> &mut Self {
        write_str(text, self.key(key));
        self
    }

    /// A string member that may hold lone surrogates.
    pub fn text(&mut self, key: &str, text: &Text) -> &mut Self {
        write_text(text, self.key(key));
        self
    }

    /// A member whose text exists already.
    pub fn raw(&mut self, key: &str, raw: &Raw) -> &mut Self {
        self.key(key).extend_from_slice(raw.as_bytes());
        self
    }

    /// A member whose text stands elsewhere.
    pub fn view(&mut self, key: &str, view: View<'_>) -> &mut Self {
        self.key(key).extend_from_slice(view.raw());
        self
    }

    /// A member given as a tree.
    pub fn value(&mut self, key: &str, value: &Value) -> &mut Self {
        write(value, self.key(key));
        self
    }

    /// A member whose name may hold lone surrogates.
    pub fn member(&mut self, name: &Text, raw: &Raw) -> &mut Self {
        self.name(name);
        self.out.extend_from_slice(raw.as_bytes());
        self
    }

    /// An integer member.
    pub fn u64(&mut self, key: &str, value: u64) -> &mut Self {
        write_u64(value, self.key(key));
        self
    }

    /// An integer member.
    pub fn i64(&mut self, key: &str, value: i64) -> &mut Self {
        let out = self.key(key);
        if value < 0 {
            out.push(b'-');
        }
        write_u64(value.unsigned_abs(), out);
        self
    }

    /// A number member in ECMAScript's shortest spelling; infinities and NaN become `null`.
    pub fn f64(&mut self, key: &str, value: f64) -> &mut Self {
        let out = self.key(key);
        match Number::from_f64(value) {
            Some(number) => out.extend_from_slice(number.as_str().as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        self
    }

    /// A `true` or `false` member.
    pub fn bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key).extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// A `null` member.
    pub fn null(&mut self, key: &str) -> &mut Self {
        self.key(key).extend_from_slice(b"null");
        self
    }

    /// A member whose text `write` appends: exactly one value.
    pub fn with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        write(self.key(key));
        self
    }

    /// An object member.
    pub fn object(&mut self, key: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) -> &mut Self {
        let mut inner = ObjectWriter::new(self.key(key));
        fill(&mut inner);
        inner.end();
        self
    }

    /// An array member of objects, one for each item.
    pub fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(&mut ObjectWriter<'_>, T),
    ) -> &mut Self {
        self.array(key, items, |out, item| {
            let mut inner = ObjectWriter::new(out);
            fill(&mut inner, item);
            inner.end();
        })
    }

    /// An array member of strings.
    pub fn strs<T: AsRef<str>>(&mut self, key: &str, items: impl IntoIterator<Item = T>) -> &mut Self {
        self.array(key, items, |out, item| write_str(item.as_ref(), out))
    }

    /// An array member; `item` appends the text of each.
    pub fn array<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Vec<u8>, T),
    ) -> &mut Self {
        let out = self.key(key);
        out.push(b'[');
        for (place, each) in items.into_iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            item(out, each);
        }
        out.push(b']');
        self
    }

    /// Closes the object.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// Writes a name and hands out the buffer: exactly one value must be appended to it.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.comma();
        write_str(key, self.out);
        self.out.push(b':');
        self.out
    }

    fn name(&mut self, name: &Text) {
        self.comma();
        write_text(name, self.out);
        self.out.push(b':');
    }

    fn comma(&mut self) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
    }
}

/// Appends a decimal number.
pub(crate) fn write_u64(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut used = 0;
    for place in digits.iter_mut().rev() {
        *place = b'0' + u8::try_from(value % 10).unwrap_or(0);
        used += 1;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(digits.len() - used));
}

fn hex(nibble: u16) -> u8 {
    let digit = u8::try_from(nibble & 0xF).unwrap_or(0);
    if digit < 10 { b'0' + digit } else { b'a' + (digit - 10) }
}

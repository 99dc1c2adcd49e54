//! A JSON number as it was spelled. What it is worth is asked for, and only then rounded to a double.

use std::fmt;

use super::scan;

/// The text of one JSON number. Equality is equality of spelling: `1` and `1.0` differ.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Spelling);

/// Most numbers are short; keeping them in place saves an allocation each.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Spelling {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

impl Number {
    /// In ECMAScript's shortest spelling (`1e+21`, `-0` becomes `0`); nothing for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Number> {
        value.is_finite().then(|| Number::spelled(ryu_js::Buffer::new().format_finite(value)))
    }

    /// Reads a text that is a JSON number and nothing else.
    pub fn parse(text: &str) -> Option<Number> {
        let end = scan::number_end(text.as_bytes(), 0).ok()?;
        (end == text.len()).then(|| Number::spelled(text))
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Spelling::Long(text) => text,
            Spelling::Short { length, bytes } => {
                let used = bytes.get(..usize::from(*length)).unwrap_or_default();
                str::from_utf8(used).unwrap_or("0")
            }
        }
    }

    /// The nearest double; beyond the range of doubles an infinity, as `JSON.parse` has it.
    pub fn as_f64(&self) -> f64 {
        f64_of(self.as_str())
    }

    /// The value when it is an integer, however spelled (`1.0`, `1e3`); spellings with a point or an exponent only up to
    /// 2^53 in magnitude, where doubles stop being exact.
    pub fn as_i64(&self) -> Option<i64> {
        i64_of(self.as_str())
    }

    /// As [`Number::as_i64`], for integers from 0 to 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        u64_of(self.as_str())
    }

    /// `text` must be a JSON number.
    pub(super) fn spelled(text: &str) -> Number {
        let mut bytes = [0; SHORT];
        Number(match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(text.as_bytes());
                Spelling::Short { length, bytes }
            }
            _ => Spelling::Long(text.into()),
        })
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number::spelled(&value.to_string())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number::spelled(&value.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The nearest double to a JSON number's spelling.
pub(super) fn f64_of(spelling: &str) -> f64 {
    spelling.parse().unwrap_or(f64::NAN)
}

pub(super) fn i64_of(spelling: &str) -> Option<i64> {
    if let Ok(exact) = spelling.parse() {
        return Some(exact);
    }
    let value = safe_integer(spelling)?;
    // Exact: the magnitude is at most 2^53 and there is no fraction.
    Some(value as i64)
}

pub(super) fn u64_of(spelling: &str) -> Option<u64> {
    if let Ok(exact) = spelling.parse() {
        return Some(exact);
    }
    u64::try_from(i64_of(spelling)?).ok()
}

fn safe_integer(spelling: &str) -> Option<f64> {
    let fractional = spelling.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let value = f64_of(spelling);
    (fractional && value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value)
}

const SHORT: usize = 22;

//! JavaScript's grammar of numbers in texts, and its spelling of numbers.

use lockgate_protocol::json::Number;

/// The whole text as a number: white space around it is skipped, nothing is 0, everything else that is no number NaN.
pub(super) fn parse(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return 0.0;
    }
    if let Some(value) = parse_radix(text) {
        return value;
    }
    match decimal_end(text) {
        end if end == text.len() => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// The longest decimal number at the start of the text, NaN for none.
pub(super) fn parse_leading(text: &str) -> f64 {
    let text = text.trim_start_matches(is_space);
    let number = text.get(..decimal_end(text)).unwrap_or_default();
    number.parse().unwrap_or(f64::NAN)
}

/// As JavaScript prints it.
pub(super) fn print(number: f64) -> String {
    match Number::from_f64(number) {
        Some(number) => number.as_str().to_owned(),
        None if number.is_nan() => "NaN".to_owned(),
        None if number > 0.0 => "Infinity".to_owned(),
        None => "-Infinity".to_owned(),
    }
}

/// Unicode's white space without NEL, plus the byte order mark.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// `0x`, `0o` and `0b`, which take no sign. `None` for other texts.
fn parse_radix(text: &str) -> Option<f64> {
    let (digits, bits) = match text.get(..2)? {
        "0x" | "0X" => (text.get(2..)?, 4),
        "0o" | "0O" => (text.get(2..)?, 3),
        "0b" | "0B" => (text.get(2..)?, 1),
        _ => return None,
    };
    let digits: Option<Vec<u32>> = digits.chars().map(|c| c.to_digit(1 << bits)).collect();
    match digits {
        Some(digits) if !digits.is_empty() => Some(from_digits(&digits, bits)),
        Some(_) | None => Some(f64::NAN),
    }
}

/// Rounds once: the digits that do not fit any more only say whether something was left over.
fn from_digits(digits: &[u32], bits: u32) -> f64 {
    let mut mantissa = 0_u64;
    let mut left_over = 0_u64;
    let mut exponent = 0_i32;
    for digit in digits {
        if mantissa >> (ROOM - bits) == 0 {
            mantissa = (mantissa << bits) | u64::from(*digit);
        } else {
            left_over |= u64::from(*digit != 0);
            exponent = exponent.saturating_add(i32::try_from(bits).unwrap_or(i32::MAX));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "the one rounding of this number")]
    let value = (mantissa | left_over) as f64;
    value * 2_f64.powi(exponent)
}

/// Bits that are kept before digits are left over; well beyond the 53 of a double.
const ROOM: u32 = 62;

/// Where the decimal number at the start of the text ends; 0 for none.
fn decimal_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if text.get(sign..).is_some_and(|rest| rest.starts_with("Infinity")) {
        return sign + "Infinity".len();
    }
    let whole = digits_end(bytes, sign);
    let mut end = whole;
    if bytes.get(whole) == Some(&b'.') {
        let fraction = digits_end(bytes, whole + 1);
        // A point needs a digit on one side.
        if whole > sign || fraction > whole + 1 {
            end = fraction;
        }
    }
    if end == sign {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let start = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits_end(bytes, start);
        if exponent > start {
            end = exponent;
        }
    }
    end
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    let digits = bytes.iter().skip(start).take_while(|byte| byte.is_ascii_digit());
    start + digits.count()
}

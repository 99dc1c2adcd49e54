//! Points in time as exporters write them: ISO text, or numbers whose size tells their unit.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use lockgate_protocol::json::{Number, Value};

/// Milliseconds since 1970; `None` if the value is no time.
pub(super) fn read(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => magnitude(number),
        Value::String(text) => {
            let text = text.as_str()?.trim();
            Number::parse(text).map_or_else(|| iso(text), |number| magnitude(&number))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Nanoseconds, as OTLP writes them: a string, or a number that may have lost its last digits.
pub(super) fn nanos(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => Number::parse(text.as_str()?.trim())?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    sane(number.as_f64() / 1e6)
}

fn magnitude(number: &Number) -> Option<f64> {
    let value = number.as_f64();
    let per_ms = if value >= 1e17 {
        1e6
    } else if value >= 1e14 {
        1e3
    } else if value >= 1e11 {
        1.0
    } else {
        1e-3
    };
    sane(value / per_ms)
}

/// With an offset, or without one and then in UTC; a blank may stand for the T.
fn iso(text: &str) -> Option<f64> {
    let stamp = text.parse::<Timestamp>().ok();
    let stamp = stamp.or_else(|| text.parse::<DateTime>().ok().and_then(|at| TimeZone::UTC.to_timestamp(at).ok()));
    let nanos = stamp?.as_nanosecond();
    #[expect(clippy::cast_precision_loss, reason = "a quarter of a microsecond is exact enough for a trace")]
    sane(nanos as f64 / 1e6)
}

/// Within what the wire can carry; also keeps NaN and infinities out.
fn sane(ms: f64) -> Option<f64> {
    (0.0..=9_007_199_254_740_991.0).contains(&ms).then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::Raw;

    fn check(json: &str, expected: Option<f64>) {
        let value = Raw::parse(json.to_owned()).and_then(|raw| raw.to_value()).expect("JSON");
        assert_eq!(read(&value), expected, "{json}");
    }

    #[test]
    fn units_by_size() {
        check("1700000000", Some(1_700_000_000_000.0));
        check("1700000000.25", Some(1_700_000_000_250.0));
        check("1700000000123", Some(1_700_000_000_123.0));
        check("1700000000123456", Some(1_700_000_000_123.456));
        check("1700000000123000000", Some(1_700_000_000_123.0));
        check("\"1700000000123000000\"", Some(1_700_000_000_123.0));
        check("0", Some(0.0));
    }

    #[test]
    fn iso_times() {
        check("\"2023-11-14T22:13:20Z\"", Some(1_700_000_000_000.0));
        check("\"2023-11-14T23:13:20.5+01:00\"", Some(1_700_000_000_500.0));
        check("\"2023-11-14 22:13:20.123456+00:00\"", Some(1_700_000_000_123.456));
        check("\"2023-11-14T22:13:20\"", Some(1_700_000_000_000.0));
    }

    #[test]
    fn what_is_no_time() {
        for json in
            ["null", "true", "\"\"", "\"soon\"", "-1", "1e400", "[1]", "{}", "\"1969-01-01T00:00:00Z\"", "\"\\ud800\""]
        {
            check(json, None);
        }
    }
}

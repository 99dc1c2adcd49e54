//! How durations print (hub §15.4).

/// Milliseconds for people. Rounded before the unit is chosen, so nothing prints as `1000ms`.
pub fn print(ms: f64) -> String {
    let tenth = (ms * 10.0).round() / 10.0;
    let whole = ms.round();
    if ms <= 0.0 || ms.is_nan() {
        "<1ms".to_owned()
    } else if ms < 0.1 {
        "<0.1ms".to_owned()
    } else if tenth < 10.0 {
        format!("{tenth:.1}ms")
    } else if whole < 1_000.0 {
        format!("{whole:.0}ms")
    } else {
        format!("{:.1}s", (ms / 100.0).round() / 10.0)
    }
}

/// Milliseconds between two moments of a wall clock that may step back.
#[expect(clippy::cast_precision_loss, reason = "moments are below 2^53")]
pub fn elapsed(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64
}

//! A strip that says when a node ran, on the scale of its run.

use crate::model::{Node, Run, elapsed};

/// So many columns from the run's first event to now; a node that ran at all has at least one.
pub(super) fn strip(run: &Run, node: &Node, now: u64, columns: usize) -> String {
    let start = run.started.unwrap_or(now);
    let end = run.clock(now);
    let whole = elapsed(start, end).max(1.0);
    let mut strip = vec![' '; columns];
    for execution in &node.executions {
        let from = column(elapsed(start, execution.started) / whole, columns);
        let to = column(elapsed(start, execution.finished.unwrap_or(end)) / whole, columns);
        let ink = if execution.is_open() { '╌' } else { '━' };
        for place in strip.iter_mut().take(to + 1).skip(from) {
            *place = ink;
        }
    }
    strip.into_iter().collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "columns of a screen"
)]
fn column(share: f64, columns: usize) -> usize {
    let last = columns.saturating_sub(1);
    ((share.clamp(0.0, 1.0) * last as f64).round() as usize).min(last)
}

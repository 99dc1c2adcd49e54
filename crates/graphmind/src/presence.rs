//! Whether a hub is attached, for policies that are asked thousands of times a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One flag, set by the link and read by policies. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Line(Arc<AtomicBool>);

impl Line {
    pub(crate) fn attach(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn detach(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

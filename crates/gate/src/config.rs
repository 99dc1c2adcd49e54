//! What a gate is made of.

use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::NodeKind;
use lockgate_protocol::edit::Hidden;

use crate::breakpoint::HiddenSides;
use crate::call::Call;
use crate::hold::EditInput;
use crate::policy::Policy;
use crate::tap::Tap;
use crate::warning::Warning;

/// What a gate is made of. Start from [`GateConfig::new`] and change what differs.
pub struct GateConfig {
    /// Asked in this order; breakpoints come after all of them.
    pub policies: Vec<Arc<dyn Policy>>,
    /// Where holds and their ends are announced. A hold that cannot be announced is not made.
    pub tap: Tap,
    /// Longest time any hold lasts; `None`: no limit (wire §2.7).
    pub pause_timeout: Option<Duration>,
    /// Longest time a hold of the debugger lasts while nobody watches; `None`: no limit (wire §10.3).
    pub patience: Option<Duration>,
    /// Whether viewers may edit inputs (wire §3.1).
    pub edit_input: EditInput,
    /// What conditions of breakpoints must not see, by kind of node (wire §10.4).
    pub hidden: Arc<dyn Fn(NodeKind) -> HiddenSides + Send + Sync>,
    /// Somebody aborted this call: its run is to be aborted too (wire §2.6). Called before the call gets its outcome.
    pub on_abort: Arc<dyn Fn(&Call) + Send + Sync>,
    /// Where complaints go.
    pub warn: Arc<dyn Fn(&Warning) + Send + Sync>,
    /// The six hex digits in pause ids, as a number below 2^24; `None`: random (wire §2.10).
    pub pause_base: Option<u32>,
}

impl GateConfig {
    /// No policy, no time limit, nothing hidden, nobody told.
    #[must_use]
    pub fn new(tap: Tap) -> Self {
        Self {
            policies: Vec::new(),
            tap,
            pause_timeout: None,
            patience: None,
            edit_input: EditInput::On,
            hidden: Arc::new(|_| HiddenSides { input: Hidden::No, output: Hidden::No }),
            on_abort: Arc::new(|_| {}),
            warn: Arc::new(|_| {}),
            pause_base: None,
        }
    }
}

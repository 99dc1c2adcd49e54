//! How much work one evaluation may do. Every node visited, every element built and every stretch of text
//! read or written is paid for here, so a rule ends whatever its data is.

use crate::eval::EvalError;

/// What one evaluation may cost. Without a default: the host knows how long it can wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps; a node visited or a list element touched is one, long texts cost more.
    pub steps: u64,
    /// How many lists and operations may stand inside each other in the rule.
    pub depth: usize,
}

/// The steps that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { left: limits.steps }
    }

    pub(crate) fn step(&mut self) -> Result<(), EvalError> {
        self.spend(1)
    }

    /// Text that is walked over and forgotten.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.spend(steps_for(bytes, READ_SHIFT))
    }

    /// Text or elements that stay in memory.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.spend(steps_for(bytes, KEEP_SHIFT))
    }

    fn spend(&mut self, steps: u64) -> Result<(), EvalError> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(EvalError::Steps)
            }
        }
    }
}

fn steps_for(bytes: usize, shift: u32) -> u64 {
    u64::try_from(bytes >> shift).unwrap_or(u64::MAX)
}

/// Reading 64 KiB takes about as long as a few hundred ordinary steps at worst, and payloads of megabytes must stay askable.
const READ_SHIFT: u32 = 16;

/// A kept KiB a step: a rule that doubles its text each round runs dry before memory does.
const KEEP_SHIFT: u32 = 10;

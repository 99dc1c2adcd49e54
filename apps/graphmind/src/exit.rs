//! What the process says at its end: the closed set of statuses scripts may rely on (hub §14.2).

/// An exit status of our own. `mcp-proxy` passes its child's status on instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    TimedOut,
    NoHub,
    Nothing,
    NotAuthorised,
    Refused,
    Taken,
}

impl Exit {
    pub(crate) fn status(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::TimedOut => 2,
            Exit::NoHub => 3,
            Exit::Nothing => 4,
            Exit::NotAuthorised => 5,
            Exit::Refused => 6,
            Exit::Taken => 7,
        }
    }
}

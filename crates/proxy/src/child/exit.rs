//! How the server's process ended, in numbers and in words.

use std::process::ExitStatus;

/// The exit code a proxy passes on: its server's, 128 and the signal's number when that was killed, 127 when it could not be
/// started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exited {
    /// The code.
    pub code: i32,
}

impl Exited {
    pub(crate) const NOT_STARTED: Exited = Exited { code: 127 };
    /// A guard ended the session.
    pub(crate) const STOPPED: Exited = Exited { code: 1 };
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) code: Option<i32>,
    /// Number of the signal that killed it.
    pub(crate) signal: Option<i32>,
}

impl Status {
    pub(crate) fn of(status: ExitStatus) -> Status {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Status { code: status.code(), signal }
    }

    pub(crate) fn exited(self) -> Exited {
        let code = self.code.unwrap_or_else(|| self.signal.map_or(1, |signal| 128 + signal));
        Exited { code }
    }

    pub(crate) fn is_success(self) -> bool {
        self.code == Some(0)
    }

    /// The signal's name.
    pub(crate) fn signal_name(self) -> Option<String> {
        self.signal.map(|signal| {
            SIGNALS
                .iter()
                .find(|(number, _)| *number == signal)
                .map_or(format!("signal {signal}"), |(_, name)| (*name).to_owned())
        })
    }

    /// As in “the server …”.
    pub(crate) fn describe(self) -> String {
        if let Some(signal) = self.signal_name() {
            return format!("was killed by {signal}");
        }
        let code = self.code.unwrap_or_default();
        match NTSTATUS.iter().find(|(known, _)| *known == code.cast_unsigned()) {
            Some((known, name)) => format!("ended with 0x{known:08X} ({name})"),
            None => format!("ended with exit code {code}"),
        }
    }
}

const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
];

/// What Windows programs end with when they crash.
const NTSTATUS: &[(u32, &str)] = &[
    (0xC000_0005, "STATUS_ACCESS_VIOLATION"),
    (0xC000_001D, "STATUS_ILLEGAL_INSTRUCTION"),
    (0xC000_0025, "STATUS_NONCONTINUABLE_EXCEPTION"),
    (0xC000_0094, "STATUS_INTEGER_DIVIDE_BY_ZERO"),
    (0xC000_00FD, "STATUS_STACK_OVERFLOW"),
    (0xC000_0135, "STATUS_DLL_NOT_FOUND"),
    (0xC000_0139, "STATUS_ENTRYPOINT_NOT_FOUND"),
    (0xC000_013A, "STATUS_CONTROL_C_EXIT"),
    (0xC000_0142, "STATUS_DLL_INIT_FAILED"),
    (0xC000_0374, "STATUS_HEAP_CORRUPTION"),
    (0xC000_0409, "STATUS_STACK_BUFFER_OVERRUN"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: Option<i32>, signal: Option<i32>, exit: i32, words: &str) {
        let status = Status { code, signal };
        assert_eq!((status.exited().code, status.describe().as_str()), (exit, words));
    }

    #[test]
    fn ends_are_told_in_numbers_and_words() {
        check(Some(0), None, 0, "ended with exit code 0");
        check(Some(3), None, 3, "ended with exit code 3");
        check(None, Some(15), 143, "was killed by SIGTERM");
        check(None, Some(9), 137, "was killed by SIGKILL");
        check(None, Some(31), 159, "was killed by signal 31");
        let crash = 0xC000_0005_u32.cast_signed();
        check(Some(crash), None, crash, "ended with 0xC0000005 (STATUS_ACCESS_VIOLATION)");
    }
}

//! Signals that come to us are meant for the server.

use crate::child::Order;

/// The signals we pass on.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// From now on none of them ends us.
    pub(crate) fn new() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        Signals {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hang_up: signal(SignalKind::hangup()).ok(),
        }
    }

    /// What the next one asks for.
    pub(crate) async fn next(&mut self) -> Order {
        tokio::select! {
            () = next(self.interrupt.as_mut()) => Order::Interrupt,
            () = next(self.terminate.as_mut()) => Order::Terminate,
            () = next(self.hang_up.as_mut()) => Order::Terminate,
        }
    }
}

#[cfg(unix)]
async fn next(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => match signal.recv().await {
            Some(()) => {}
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// The signals we pass on.
#[cfg(windows)]
pub(crate) struct Signals {
    interrupt: Option<tokio::signal::windows::CtrlC>,
    terminate: Option<tokio::signal::windows::CtrlClose>,
}

#[cfg(windows)]
impl Signals {
    /// From now on none of them ends us at once.
    pub(crate) fn new() -> Signals {
        use tokio::signal::windows::{ctrl_c, ctrl_close};
        Signals { interrupt: ctrl_c().ok(), terminate: ctrl_close().ok() }
    }

    /// What the next one asks for.
    pub(crate) async fn next(&mut self) -> Order {
        let interrupt = async {
            match self.interrupt.as_mut() {
                Some(signal) => signal.recv().await,
                None => None,
            }
        };
        let terminate = async {
            match self.terminate.as_mut() {
                Some(signal) => signal.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(()) = interrupt => Order::Interrupt,
            Some(()) = terminate => Order::Terminate,
            else => std::future::pending().await,
        }
    }
}

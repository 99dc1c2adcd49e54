//! Our own stdin and stdout as an end. Pipes and sockets are read and written without blocking; files, terminals and other
//! systems get a thread of their own.

#[cfg(windows)]
mod other;
mod thread;
#[cfg(unix)]
mod unix;

#[cfg(windows)]
pub(crate) use other::own;
#[cfg(unix)]
pub(crate) use unix::own;

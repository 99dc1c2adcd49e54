//! Where bytes come from and go to. Only this differs between transports; the relay does not.

mod sink;
pub(crate) mod stdio;
#[cfg(unix)]
mod wide;

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use sink::Sink;
#[cfg(unix)]
pub(crate) use wide::widen;

/// One side's two streams.
pub(crate) struct End {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl End {
    pub(crate) fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> End {
        End { reader: Box::new(reader), writer: Box::new(writer) }
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("End")
    }
}

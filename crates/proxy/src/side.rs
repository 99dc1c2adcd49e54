//! The two sides of the proxy, and pairs of things of which each side has one.

use std::ops::{Index, IndexMut};

/// Who a frame comes from, or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The host, on our stdin and stdout.
    Client,
    /// The server, our child.
    Server,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Client, Side::Server];

    pub(crate) fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }

    /// The word for frames that come from here.
    pub(crate) fn direction(self) -> &'static str {
        match self {
            Side::Client => "client->server",
            Side::Server => "server->client",
        }
    }
}

/// One thing of each side.
#[derive(Debug, Default)]
pub(crate) struct Both<T> {
    pub(crate) client: T,
    pub(crate) server: T,
}

impl<T> Both<T> {
    pub(crate) fn of(make: impl Fn(Side) -> T) -> Both<T> {
        Both { client: make(Side::Client), server: make(Side::Server) }
    }
}

impl<T> Index<Side> for Both<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }
}

impl<T> IndexMut<Side> for Both<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

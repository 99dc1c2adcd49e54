//! The hub from outside: real sockets, real files, one room per test.

#[cfg(test)]
mod ingest;
#[cfg(test)]
mod room;

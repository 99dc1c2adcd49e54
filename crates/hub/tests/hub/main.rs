//! The hub from outside: real sockets, real files, one room per test.

#[cfg(test)]
mod control;
#[cfg(test)]
mod exposure;
#[cfg(test)]
mod ingest;
#[cfg(test)]
mod room;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod viewers;

//! Sessions against a fake hub on a real socket.

mod kit;

mod guards;
mod holds;
mod loss;
mod privacy;
mod ready;
mod runs;
mod spans;
mod transport;

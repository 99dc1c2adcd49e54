//! The proxy between a scripted host and a scripted server, in memory: what one says and the other hears, and what viewers
//! are told.

mod alike;
mod alive;
mod batches;
mod bytes;
mod cancels;
mod gates;
mod rounds;
mod stage;
mod stateless;
mod story;
mod trouble;

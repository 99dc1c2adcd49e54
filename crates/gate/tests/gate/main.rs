//! A gate as its neighbours see it: calls go in, a hub's answers come, outcomes and events come out.

mod breakpoints;
mod edits;
mod guards;
mod holds;
mod kit;
mod storm;
mod watching;

//! Viewers: what they are shown, in which order, and what a slow one costs (hub §5, §6).

mod following;
mod requests;
mod slow;
mod watching;

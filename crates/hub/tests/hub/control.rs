//! Control over HTTP: credentials, resumes, long-polls, pauses (hub §7–9).

mod attribution;
mod demo;
mod levels;
mod polls;
mod resumes;
mod session;

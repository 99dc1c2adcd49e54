//! The real program, from outside: what it prints, where, and with which exit code.

mod bench;
mod help;
mod hub;
mod offline;
mod proxy;

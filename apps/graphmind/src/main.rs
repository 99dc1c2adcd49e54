//! Parses, composes, runs, exits.

fn main() {}

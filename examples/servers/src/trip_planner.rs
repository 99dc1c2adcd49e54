//! A trip planner.

fn main() {}

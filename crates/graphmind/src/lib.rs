//! Debug adapter: the session that reports a program to a hub and holds its calls.

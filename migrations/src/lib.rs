//! Numbered SQL for the stores, embedded.

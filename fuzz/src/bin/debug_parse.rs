//! Fuzz target: `cargo fuzz run --sanitizer none --features fuzz debug_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockgate_fuzz::debug_parse(data));

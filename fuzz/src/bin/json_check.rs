//! Fuzz target: `cargo fuzz run --sanitizer none --features fuzz json_check`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockgate_fuzz::json_check(data));

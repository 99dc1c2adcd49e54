//! Fuzz target: `cargo fuzz run --sanitizer none --features fuzz logic`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockgate_fuzz::logic(data));

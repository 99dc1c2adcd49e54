//! Fuzz target: `cargo fuzz run --sanitizer none --features fuzz framing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockgate_fuzz::framing(data));

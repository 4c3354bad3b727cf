#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lockdb_fuzz::directory(data));

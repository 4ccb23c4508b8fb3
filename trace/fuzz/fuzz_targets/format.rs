//! Any text as the description of a switch: its fields may be anywhere, of any size.
#![no_main]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/perf_file/mod.rs"]
mod perf_file;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trace::{import, validate};

fuzz_target!(|text: &str| {
    let file = perf_file::file(&[text], &perf_file::turns());
    if let Ok((history, _)) = import::recording_history(Cursor::new(file)) {
        assert_eq!(validate(&history), []);
    }
});

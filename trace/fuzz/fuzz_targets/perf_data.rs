//! Any bytes as a file of perf, and as records within a whole file: what is accepted is a
//! history without contradictions, which our own file carries.
#![no_main]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/perf_file/mod.rs"]
mod perf_file;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trace::{History, import, validate};

fn check(file: &[u8]) {
    let Ok((history, _)) = import::recording_history(Cursor::new(file)) else { return };
    assert_eq!(validate(&history), []);
    let written = history.write(Vec::new()).expect("memory takes every byte");
    assert_eq!(History::read(&written[..]).expect("our own file is read"), history);
}

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, records)) => check(&perf_file::file(&perf_file::FORMATS, records)),
        Some((1, records)) => {
            check(&perf_file::file(&perf_file::FORMATS, &perf_file::packed(records)));
        }
        _ => check(data),
    }
});

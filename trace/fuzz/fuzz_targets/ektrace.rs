//! Any bytes as a file, and any lines within a whole zstd stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::History;

fuzz_target!(|data: &[u8]| {
    let _ = History::read(data);
    let packed = zstd::encode_all(data, 1).expect("memory takes every byte");
    let Ok(history) = History::read(&packed[..]) else { return };
    let file = history.write(Vec::new()).expect("memory takes every byte");
    assert_eq!(History::read(&file[..]).expect("our own file is read"), history);
    let _ = trace::info(&history);
    trace::export::ftrace(&history, std::io::sink()).expect("a sink takes every byte");
    trace::export::perfetto(&history, std::io::sink()).expect("a sink takes every byte");
});

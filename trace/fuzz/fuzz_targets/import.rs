//! Any bytes as a recording: what is accepted is a history without contradictions, which
//! our own file and text forms carry.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::{History, import, info, validate};

fuzz_target!(|data: &[u8]| {
    let Ok((history, _)) = import::stream_history(data) else { return };
    assert_eq!(validate(&history), []);
    let file = history.write(Vec::new()).expect("memory takes every byte");
    assert_eq!(History::read(&file[..]).expect("our own file is read"), history);
    let _ = info(&history);
    let mut text = Vec::new();
    trace::export::ftrace(&history, &mut text).expect("memory takes every byte");
    import::stream(&text[..], &mut trace::Counter::default()).ok();
    trace::export::perfetto(&history, std::io::sink()).expect("a sink takes every byte");
});

//! Any bytes as a file of trace-cmd, and as the pages of a whole file.
#![no_main]

use std::io::Cursor;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trace::{History, export, import, validate};

const RECORDING: &str = "\
    a-7 [000] d..2. 0.000000010: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
    prev_state=S ==> next_comm=b next_pid=8 next_prio=130\n\
    b-8 [000] d..2. 0.000000900: sched_switch: prev_comm=b prev_pid=8 prev_prio=130 \
    prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n";

/// A whole file with one page, which is its end.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (history, _) = import::stream_history(RECORDING.as_bytes()).expect("it is fine");
    let mut file = Vec::new();
    export::trace_dat(&history, &mut file).expect("memory takes every byte");
    file
});

fn check(file: &[u8]) {
    let Ok((history, _)) = import::recording_history(Cursor::new(file)) else { return };
    assert_eq!(validate(&history), []);
    let written = history.write(Vec::new()).expect("memory takes every byte");
    assert_eq!(History::read(&written[..]).expect("our own file is read"), history);
}

fuzz_target!(|data: &[u8]| {
    check(data);
    let mut file = FILE.clone();
    let page = file.len() - 4096;
    for (byte, other) in file[page..].iter_mut().zip(data) {
        *byte ^= other;
    }
    check(&file);
});

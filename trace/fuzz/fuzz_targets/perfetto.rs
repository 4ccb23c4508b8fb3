//! Any bytes as packets of Perfetto, as events in the middle of our own export, and as columns of
//! compact switches: what is accepted is a history without contradictions, which our own file
//! carries, and which comes back from Perfetto's form once more.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trace::{Counter, History, export, import, validate};

const RECORDING: &str = "\
    a-7 [000] d..2. 0.000000010: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
    prev_state=S ==> next_comm=b next_pid=8 next_prio=130\n\
    b-8 [000] d..2. 0.000000900: sched_switch: prev_comm=b prev_pid=8 prev_prio=130 \
    prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n";

/// A whole export.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (history, _) = import::stream_history(RECORDING.as_bytes()).expect("it is fine");
    let mut file = Vec::new();
    export::perfetto(&history, &mut file).expect("memory takes every byte");
    file
});

/// A field with bytes, the number of which is below 16.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}

fn check(file: &[u8]) {
    let Ok((history, _)) = import::stream_history(file) else { return };
    assert_eq!(validate(&history), []);
    let written = history.write(Vec::new()).expect("memory takes every byte");
    assert_eq!(History::read(&written[..]).expect("our own file is read"), history);
    let mut again = Vec::new();
    export::perfetto(&history, &mut again).expect("memory takes every byte");
    import::stream(&again[..], &mut Counter::default()).expect("our own export is read");
}

fuzz_target!(|data: &[u8]| {
    let packets = |inner: u8| {
        // Packets 1, bundles 1, events 2 or columns 4 of CPU 0.
        field(1, &field(1, &field(inner, data)))
    };
    match data.first() {
        Some(0) => check(&packets(2)),
        Some(1) => check(&packets(4)),
        Some(2) => check(&[&FILE[..], &field(1, &data[1..])].concat()),
        Some(3) => check(&[&FILE[..], &packets(2)].concat()),
        _ => check(data),
    }
});

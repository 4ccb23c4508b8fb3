//! Any text as a file of marks and as rules, put onto a small history.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::{annotate, classes::Rules, import, marks::Marks, scrub, validate};

const RECORDING: &str = "\
    a 7/7 [000] 0.000000010: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
    prev_state=S ==> next_comm=b next_pid=8 next_prio=130\n\
    b 8/8 [000] 0.000000900: sched:sched_switch: prev_comm=b prev_pid=8 prev_prio=130 \
    prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n";

fuzz_target!(|text: &str| {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let rules = Rules::parse(&lines).unwrap_or_default();
    let marks = Marks::parse(text).unwrap_or_default();
    let recording = import::stream_history(RECORDING.as_bytes());
    let (mut history, _) = recording.expect("the recording is fine");
    annotate(&mut history, &rules, &marks);
    assert_eq!(validate(&history), []);
    scrub(&mut history, &[trace::Glob::new(text)]);
});

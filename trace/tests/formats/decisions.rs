//! Decisions of the kernel scheduler become histories, whatever the file holds.

use proptest::prelude::*;
use trace::decisions::{self, Head, Reader, Record, SLICE_BYTES, Task};
use trace::import::{FORM_BYTES, Form, ImportError, recognise, stream_history};
use trace::{Event, History, SwitchState, validate};

fn head(cpus: u32) -> Vec<u8> {
    decisions::head(&Head {
        schema: decisions::SCHEMA,
        cpus,
        caches: 1,
        threads_per_core: Some(1),
        mode: "fair-isolation".to_owned(),
        cpu: Some("xeon-gold-6130".to_owned()),
        sensors: "rules".to_owned(),
        kernel: "7.0.13".to_owned(),
    })
}

const NO_TASK: u32 = u32::MAX;

/// A slice as the program writes it: task, CPU, end, length, and whether the task is still
/// runnable.
fn slice(task: u32, cpu: u32, time_ns: u64, slice_ns: u64, is_runnable: bool) -> Vec<u8> {
    let mut bytes = [0; SLICE_BYTES];
    bytes[..8].copy_from_slice(&time_ns.to_le_bytes());
    bytes[8..16].copy_from_slice(&slice_ns.to_le_bytes());
    for (at, value) in
        [(144, cpu), (148, task), (152, NO_TASK), (156, 1024), (164, u32::from(is_runnable))]
    {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    decisions::slice(&bytes).unwrap()
}

/// The same with 2 µs given back that task 9 is billed.
fn refunded(mut record: Vec<u8>) -> Vec<u8> {
    let bytes = &mut record[8..];
    for at in [16, 24, 32] {
        bytes[at..at + 8].copy_from_slice(&2000u64.to_le_bytes());
    }
    bytes[152..156].copy_from_slice(&9u32.to_le_bytes());
    record
}

fn named(tid: u32, name: &[u8], process: &[u8]) -> Vec<u8> {
    let padded = |text: &[u8]| std::array::from_fn(|at| text.get(at).copied().unwrap_or(0));
    let (name, process) = (padded(name), padded(process));
    decisions::task(&Task { tid, pid: 5, nice: -3, is_kernel: false, name, process })
}

fn import(parts: &[Vec<u8>]) -> Result<(History, trace::import::ImportReport), ImportError> {
    stream_history(&parts.concat()[..])
}

fn switches(history: &History) -> Vec<(u64, u32, u32, u32, SwitchState)> {
    let switch = |record: &trace::Record| match record.event {
        Event::Switch { cpu, prev, state, next } => Some((record.time_ns, cpu, prev, next, state)),
        _ => None,
    };
    history.records.iter().filter_map(switch).collect()
}

#[test]
fn switches_follow_from_slices() {
    use SwitchState::{Blocked, Runnable};
    let (history, report) = import(&[
        head(2),
        named(7, b"old", b"old"),
        slice(7, 0, 5_000_000, 4_000_000, true),
        // Three microseconds later: interrupts.
        slice(8, 0, 6_003_000, 1_000_000, false),
        slice(7, 1, 7_000_000, 1_000_000, false),
        slice(8, 0, 9_000_000, 1_000_000, false),
        named(7, b"a\xff", b"app"),
        decisions::end(4, 3),
    ])
    .unwrap();
    assert_eq!(
        switches(&history),
        [
            (1_000_000, 0, 0, 7, Blocked),
            (5_000_000, 0, 7, 8, Runnable),
            (6_000_000, 1, 0, 7, Blocked),
            (6_003_000, 0, 8, 0, Blocked),
            (7_000_000, 1, 7, 0, Blocked),
            (8_000_000, 0, 0, 8, Blocked),
            (9_000_000, 0, 8, 0, Blocked),
        ]
    );
    assert_eq!(validate(&history), []);
    let tasks: Vec<_> =
        history.header.tasks.iter().map(|it| (it.tid, &*it.comm, &*it.app, it.nice)).collect();
    assert_eq!(tasks, [(7, "a\u{fffd}", "app", -3), (8, "task 8", "task 8", 0)]);
    assert_eq!((report.lost_events, report.truncated), (3, false));
    assert_eq!(report.runtime_ns, 7_000_000);
    assert_eq!(history.header.facts["scheduler"], "scx_evenkeel, fair-isolation");
}

#[test]
fn a_refund_is_recorded_at_the_end_of_its_slice() {
    let parts = [head(1), refunded(slice(7, 0, 5_000_000, 4_000_000, true))];
    let (history, _) = import(&parts).unwrap();
    let events: Vec<_> = history.records.iter().map(|record| &record.event).collect();
    let decision = Event::Decision {
        cpu: 0,
        victim: 7,
        culprit: 9,
        slice_ns: 4_000_000,
        refund_ns: 2000,
        bill_ns: 2000,
    };
    assert_eq!(events[2], &decision);
    assert_eq!(history.records[2].time_ns, 5_000_000);
    assert!(matches!(events[3], Event::Switch { prev: 7, .. }));
    // A billed task is listed although no record names it.
    assert_eq!(history.header.tasks[1].tid, 9);
}

#[test]
fn slices_of_older_versions_are_shorter() {
    let new = slice(7, 0, 5000, 4000, true);
    for (version, bytes) in [(1, 160), (2, 176), (3, 184)] {
        // Without the row in the middle, and without the end record.
        let body = match version {
            3 => new[8..8 + bytes].to_vec(),
            _ => [&new[8..144], &new[152..16 + bytes]].concat(),
        };
        let old = [&[1, 0, 0, 0, bytes as u8, 0, 0, 0], &body[..]].concat();
        let of_version = format!("\"schema\":{version}");
        let line = String::from_utf8(head(1)).unwrap().replace("\"schema\":4", &of_version);
        let (history, _) = import(&[line.into_bytes(), old]).unwrap();
        assert_eq!(history.records, import(&[head(1), new.clone()]).unwrap().0.records);
    }
}

#[test]
fn a_file_that_was_cut_is_valid_up_to_its_last_whole_record() {
    let whole = [head(1), slice(7, 0, 5000, 4000, true), slice(7, 0, 9000, 4000, true)].concat();
    for cut in [0, 1, 100, 200] {
        let (history, report) = stream_history(&whole[..whole.len() - cut]).unwrap();
        assert!(report.truncated);
        assert_eq!(report.lines, if cut == 0 { 2 } else { 1 });
        assert_eq!(validate(&history), []);
    }
}

#[test]
fn the_form_is_recognised_and_mistakes_are_named() {
    assert_eq!(recognise(&head(1)[..FORM_BYTES]), Form::Decisions);
    let said = |parts: &[Vec<u8>]| import(parts).unwrap_err().to_string();
    let newer = String::from_utf8(head(1)).unwrap().replace("\"schema\":4", "\"schema\":5,\"x\":1");
    assert_eq!(
        said(&[newer.into_bytes()]),
        "start: line 1, field schema: 5 is no version that can be read, expected 1 to 4"
    );
    assert_eq!(said(&[head(0)]), "start: 0 CPUs; expected 1 to 8192");
    assert_eq!(
        said(&[head(1), vec![9, 0, 0, 0, 1, 0, 0, 0]]),
        "record 1: kind 9 with 1 bytes is no record of a slice, a task or the end"
    );
    assert_eq!(said(&[head(2), slice(7, 2, 9, 1, true)]), "record 1: CPU 2; expected one of 2");
    assert!(said(&[head(2), slice(7, 0, 9, 10, true)]).contains("a slice of 10 ns that ends at 9"));
    assert!(said(&[head(1), decisions::end(0, 0)]).starts_with("no sched_switch"));
    assert!(decisions::slice(&[0; SLICE_BYTES - 1]).is_none());
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let file = [head(4), refunded(slice(7, 3, 50, 40, true)), decisions::end(1, 2)].concat();
    let mut reader = Reader::new(&file[..]).unwrap();
    assert_eq!(reader.head().cpus, 4);
    let Some(Record::Slice(slice)) = reader.next_record().unwrap() else { panic!("no slice") };
    assert_eq!(
        (slice.time_ns, slice.slice_ns, slice.refund_ns, slice.weight),
        (50, 40, 2000, 1024)
    );
    assert_eq!((slice.cpu, slice.victim, slice.culprit), (3, 7, Some(9)));
    assert!(slice.is_runnable);
    assert_eq!(reader.next_record().unwrap(), Some(Record::End { slices: 1, lost: 2 }));
    assert_eq!(reader.next_record().unwrap(), None);
    assert!(reader.is_ended());
}

fn any_slice() -> impl Strategy<Value = Vec<u8>> {
    let numbers = (1..6u32, 0..3u32, 0..40_000u64, 0..40_000u64, any::<bool>());
    numbers.prop_map(|(task, cpu, time, slice_ns, is_runnable)| {
        slice(task, cpu, 100_000 + 10 * time, slice_ns, is_runnable)
    })
}

proptest! {
    /// Slices that overlap, in any order, on any CPU: the history holds all their time and none
    /// of its tasks in two places.
    #[test]
    fn any_slices_make_a_history_that_does_not_contradict_itself(
        slices in prop::collection::vec(any_slice(), 1..60),
    ) {
        let (history, report) = import(&[vec![head(3)], slices.clone()].concat()).unwrap();
        prop_assert_eq!(validate(&history), []);
        prop_assert_eq!(report.lines, slices.len() as u64);
        let is_runtime = |it: &&trace::Record| matches!(it.event, Event::Runtime { .. });
        prop_assert_eq!(history.records.iter().filter(is_runtime).count(), slices.len());
    }

    #[test]
    fn any_bytes_are_a_history_or_an_error(
        slices in prop::collection::vec(any_slice(), 0..8),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = [vec![head(3)], slices, vec![named(3, b"x", b"y")]].concat().concat();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(1 + cut.index(bytes.len()));
        if let Ok((history, _)) = stream_history(&bytes[..]) {
            prop_assert_eq!(validate(&history), []);
        }
    }
}

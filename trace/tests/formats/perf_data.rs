//! Files of perf: variants of other kernels and recorders, and refused files.

use std::io::Cursor;

use super::perf_file::{At, FORMATS, event, file, packed, round, sample, switch, turns};
use trace::import::{ImportError, ImportReport, recording_history};
use trace::{Event, History, Record, SwitchState, validate};
use zstd::stream::raw::{Encoder, Operation, OutBuffer};

fn import(file: Vec<u8>) -> (History, ImportReport) {
    let (history, report) = recording_history(Cursor::new(file)).expect("the file is read");
    assert_eq!(validate(&history), []);
    (history, report)
}

fn refused(file: Vec<u8>) -> String {
    recording_history(Cursor::new(file)).expect_err("the file is refused").to_string()
}

const fn at(cpu: u32, tid: u32, time_ns: u64) -> At {
    At { tid, cpu, time_ns }
}

const IDLE: (&str, u32) = ("swapper/0", 0);

fn record(time_ns: u64, event: Event) -> Record {
    Record { time_ns, event }
}

#[test]
fn every_recorded_event_is_in_the_history() {
    let (history, report) = import(file(&FORMATS, &turns()));
    let switch = |prev, state, next| Event::Switch { cpu: 0, prev, state, next };
    assert_eq!(
        history.records,
        [
            record(1_000, switch(0, SwitchState::Runnable, 7)),
            record(1_100, Event::Fork { task: 8, by: 7 }),
            record(1_200, Event::Wake { task: 8, by: 7, cpu: 0, on: None, sync: None }),
            record(2_000, Event::Runtime { task: 7, ns: 500 }),
            record(2_000, switch(7, SwitchState::Blocked, 8)),
            record(2_100, Event::Registers { task: 7, xfeatures: 0x2e7 }),
            record(3_000, switch(8, SwitchState::Dead, 0)),
        ]
    );
    assert_eq!((report.lost_events, report.unreadable, report.lines), (5, 0, 8));
    let names: Vec<&str> = history.header.tasks.iter().map(|task| &task.comm[..]).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn compressed_records_give_the_same_history() {
    let whole = import(file(&FORMATS, &turns()));
    assert_eq!(import(file(&FORMATS, &packed(&turns()))), whole);
    // One stream of zstd goes over several records, and over their borders.
    let turns = turns();
    let (first, second) = turns.split_at(301);
    let mut encoder = Encoder::new(1).unwrap();
    let mut parts = Vec::new();
    for part in [first, second] {
        let mut room = vec![0; 4096];
        let made = encoder.run_on_buffers(part, &mut room).unwrap().bytes_written;
        let mut rest = OutBuffer::around(&mut room[made..]);
        encoder.flush(&mut rest).unwrap();
        let made = made + rest.pos();
        parts.extend(super::perf_file::record(81, &room[..made]));
    }
    assert_eq!(import(file(&FORMATS, &parts)), whole);
}

#[test]
fn fields_are_where_the_recording_kernel_put_them() {
    let old = "name: sched_switch\nID: 51\nformat:\n\
        \tfield:char prev_comm[16];\toffset:12;\tsize:16;\n\
        \tfield:pid_t prev_pid;\toffset:28;\tsize:4;\n\
        \tfield:int prev_prio;\toffset:32;\tsize:4;\n\
        \tfield:long prev_state;\toffset:40;\tsize:8;\n\
        \tfield:char next_comm[16];\toffset:48;\tsize:16;\n\
        \tfield:pid_t next_pid;\toffset:64;\tsize:4;\n\
        \tfield:int next_prio;\toffset:68;\tsize:4;\n\n\
        print fmt: \"\", { 1, \"S\"} , { 2, \"D\" }, { 64, \"x\" }, { 128, \"K\" }\n";
    let states = [(0, SwitchState::Runnable), (1024, SwitchState::Runnable)];
    for (state, meant) in states.into_iter().chain([
        (2, SwitchState::Blocked),
        (64, SwitchState::Dead),
        (130, SwitchState::Blocked),
    ]) {
        let mut raw = switch(("a", 7), state, ("b", 8));
        raw.splice(8..8, [0; 4]);
        raw.splice(36..36, [0; 4]);
        raw[..2].copy_from_slice(&51_u16.to_le_bytes());
        let (history, _) = import(file(&[old], &sample(at(0, 7, 5_000), &raw)));
        let last = &history.records.last().unwrap().event;
        let expected = Event::Switch { cpu: 0, prev: 7, state: meant, next: 8 };
        assert_eq!(*last, expected, "{state}");
    }
}

#[test]
fn older_names_of_fields_are_known() {
    let old = FORMATS[3].replace("load_fpu", "initialized");
    let formats = [FORMATS[0], &old];
    let mark = event(180, &[&[0; 8], &1_u64.to_le_bytes(), &0x207_u64.to_le_bytes()]);
    let records =
        [sample(at(0, 7, 5_000), &switch(("a", 7), 1, IDLE)), sample(at(0, 7, 5_100), &mark)];
    let (history, _) = import(file(&formats, &records.concat()));
    let mark = Event::Registers { task: 7, xfeatures: 0x207 };
    assert_eq!(history.records.last().unwrap().event, mark);
}

#[test]
fn a_description_without_a_field_is_refused_by_its_name() {
    let without = FORMATS[0].replace("next_pid", "other");
    let said = refused(file(&[&without], &turns()));
    assert!(said.contains("event sched_switch lacks the field next_pid"), "{said}");
}

#[test]
fn events_that_nothing_describes_and_missing_events_do_no_harm() {
    let (history, report) = import(file(&FORMATS[..1], &turns()));
    assert_eq!(report.events["other"], 4);
    assert!(history.records.iter().all(|it| matches!(it.event, Event::Switch { .. })));
}

#[test]
fn records_of_two_cpus_are_put_in_order_over_rounds() {
    let cpu0 = |time_ns| sample(at(0, 7, time_ns), &switch(("a", 7), 1, IDLE));
    let cpu1 = |time_ns| sample(at(1, 8, time_ns), &switch(("b", 8), 1, ("swapper/1", 0)));
    let records = [cpu0(9_000), round(), cpu1(8_000), round(), cpu0(12_000), cpu1(11_000), round()];
    let (history, report) = import(file(&FORMATS, &records.concat()));
    assert!(history.records.is_sorted_by_key(|record| record.time_ns));
    assert_eq!((history.header.start_ns, history.header.end_ns), (8_000, 12_000));
    assert_eq!(report.reordered_lines, 0);
}

#[test]
fn a_clock_that_stepped_back_is_refused_with_its_record() {
    let mut records = Vec::new();
    for time_ns in 0..600 {
        records.extend(sample(at(0, 7, 2_000_000 + time_ns), &event(223, &[&[0; 4]])));
        records.extend(round());
    }
    records.extend(sample(at(0, 7, 1_000), &switch(("a", 7), 1, IDLE)));
    let said = refused(file(&FORMATS, &records));
    assert!(said.starts_with("record 1201, field time: "), "{said}");
    assert!(said.contains("a clock that does not step (-k CLOCK_MONOTONIC)"), "{said}");
}

#[test]
fn a_suspended_machine_is_noticed() {
    let records = [
        sample(at(0, 0, 5_000), &switch(IDLE, 0, ("a", 7))),
        sample(at(0, 7, 3_600_000_005_000), &switch(("a", 7), 1, IDLE)),
    ];
    let (history, report) = import(file(&FORMATS, &records.concat()));
    assert_eq!(report.silence_ns, 3_600_000_000_000);
    assert_eq!(history.header.facts["silence_ns"], "3600000000000");
}

#[test]
fn a_thousand_cpus_are_read() {
    let records: Vec<u8> = (0..1_000)
        .flat_map(|cpu| {
            sample(at(cpu, 0, 5_000 + u64::from(cpu)), &switch(IDLE, 0, ("a", 10 + cpu)))
        })
        .collect();
    let (history, report) = import(file(&FORMATS, &records));
    assert_eq!((history.header.cpus, report.switches, report.repaired_switches), (1_000, 1_000, 0));
}

#[test]
fn numbers_of_a_container_are_not_taken_for_the_kernels() {
    let records = [
        sample(at(0, 3, 5_000), &switch(("a", 1_003), 1, ("b", 1_004))),
        sample(at(0, 4, 6_000), &switch(("b", 1_004), 1, ("a", 1_003))),
        sample(at(0, 0, 6_500), &switch(("a", 1_003), 1, ("b", 1_004))),
    ];
    let (history, report) = import(file(&FORMATS, &records.concat()));
    assert!(report.namespaced);
    let tids: Vec<u32> = history.header.tasks.iter().map(|task| task.tid).collect();
    assert_eq!(tids, [1_003, 1_004]);
}

#[test]
fn a_file_that_was_cut_is_refused_with_the_remedy() {
    let whole = file(&FORMATS, &turns());
    for length in [8, 103, 104, 200, 300, whole.len() / 2, whole.len() - 1] {
        let said = refused(whole[..length].to_vec());
        let known = said.contains("its recorder was killed; end perf with Ctrl-C or SIGTERM");
        assert!(known, "{length}: {said}");
    }
    let mut killed = whole;
    killed[48..56].fill(0);
    assert!(refused(killed).starts_with("perf has not noted the length of its data: "));
}

#[test]
fn a_claimed_length_allocates_no_memory() {
    let whole = file(&FORMATS, &turns());
    for word in [2, 3, 4, 5, 6, 30, 31] {
        for value in [u64::MAX, 1 << 62, 4_000_000_000_000] {
            let mut bytes = whole.clone();
            bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
            recording_history(Cursor::new(bytes)).expect_err("the file is refused");
        }
    }
    let bomb = packed(&vec![0; 1 << 26]);
    assert!(bomb.len() < 1 << 14);
    let said = refused(file(&FORMATS, &bomb));
    assert!(said.starts_with("record 1: its length is less than that of its head"), "{said}");
}

#[test]
fn a_record_shorter_than_its_fields_is_counted() {
    let mut records = turns();
    records.extend(sample(at(0, 7, 3_200), &switch(("a", 7), 1, IDLE)[..40]));
    let (_, report) = import(file(&FORMATS, &records));
    assert_eq!((report.unreadable, report.unreadable_lines), (1, vec![14]));
}

#[test]
fn files_without_tracepoints_or_switches_are_refused() {
    let mut bare = file(&FORMATS, &turns());
    bare[72] = 0;
    assert!(refused(bare).contains("it describes no tracepoint; expected a recording of `perf"));
    let error = recording_history(Cursor::new(file(&FORMATS, &round()))).unwrap_err();
    assert!(matches!(error, ImportError::NoSwitch { read: 0, unit: "events", .. }), "{error}");
}

//! One recording in several forms is one history. `fixtures/forms` has two recordings of the same
//! second: by perf, as its file and as text, and by ftrace, as tracefs and trace-cmd print it.

use std::io::{Cursor, Read};
use std::path::Path;

use trace::import::{ImportReport, recording_history};
use trace::{Event, History, Record, SwitchState, info, validate};

fn import(form: &str) -> (History, ImportReport) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/forms");
    let packed = std::fs::read(folder.join(format!("{form}.zst"))).unwrap();
    let mut bytes = Vec::new();
    zstd::Decoder::new(&packed[..]).unwrap().read_to_end(&mut bytes).unwrap();
    let (history, report) = recording_history(Cursor::new(bytes)).unwrap();
    // After the events, `-w` prints three lines about latencies.
    let others = if form == "report-w" { 3 } else { 0 };
    assert_eq!((report.unreadable, validate(&history)), (others, Vec::new()), "{form}");
    (history, report)
}

fn history(form: &str) -> History {
    import(form).0
}

/// The history without wakers and processes, which only some forms have.
fn without(mut history: History, wakers: bool, processes: bool) -> History {
    for record in &mut history.records {
        if let Event::Wake { by, on, .. } = &mut record.event
            && wakers
        {
            (*by, *on) = (0, None);
        }
    }
    if wakers {
        history.header.facts.remove("interrupts");
    }
    for task in &mut history.header.tasks {
        if processes {
            task.pid = None;
            task.app = String::new();
        }
    }
    history
}

#[test]
fn the_file_of_perf_and_its_text_are_one_history() {
    let (file, file_report) = import("perf.data");
    let (text, text_report) = import("perf-script");
    assert_eq!(file, text);
    assert_eq!(file_report, text_report);
    assert!(file_report.switches > 150 && !file.header.facts.contains_key("times"));
}

#[test]
fn every_report_of_trace_cmd_is_one_history() {
    let with_flags = history("report-t-l");
    assert!(with_flags.header.interrupts_known());
    let plain = history("report-t");
    for form in ["report-t-R", "report-t-N", "report-ts-diff"] {
        assert_eq!(history(form), plain, "{form}");
    }
    assert_eq!(without(with_flags, true, false), without(plain, true, false));
    assert_eq!(history("report"), history("report-w"));
}

#[test]
fn tracefs_and_trace_cmd_are_one_history() {
    let report = history("report-l");
    assert_eq!(history("ftrace-no-tgid"), report);
    assert_eq!(history("ftrace-no-flags"), history("report"));
    let with_processes = history("ftrace");
    assert!(with_processes.header.tasks.iter().any(|task| task.pid.is_some()));
    assert_eq!(without(with_processes, false, true), without(report, false, true));
}

#[test]
fn perfetto_and_trace_cmd_are_one_history() {
    assert_eq!(history("pftrace"), history("report-t-l"));
}

#[test]
fn compact_switches_lack_only_the_first_running_task() {
    let (whole, compact) = (history("report-t-l"), history("pftrace-compact"));
    assert_eq!(compact.header.facts["kernel"], "6.18.44");
    assert_eq!(compact.header.interrupts_known(), whole.header.interrupts_known());
    for cpu in 0..whole.header.cpus {
        let switches = |history: &History| {
            let switch = |record: &Record| match record.event {
                Event::Switch { cpu: here, prev, state, next } if here == cpu => {
                    Some((record.time_ns, prev, state, next))
                }
                _ => None,
            };
            history.records.iter().filter_map(switch).collect::<Vec<_>>()
        };
        let (expected, found) = (switches(&whole), switches(&compact));
        let first = expected.len() - found.len();
        assert!(found.len() > 60 && first <= 1, "{} of {}", found.len(), expected.len());
        assert_eq!(found[1..], expected[first + 1..]);
        let ((time_ns, idle, ..), (same_ns, ..)) = (found[0], expected[first]);
        assert_eq!((time_ns, idle), (same_ns, 0));
    }
    let wakes = |history: &History| {
        let wake = |record: &Record| match record.event {
            Event::Wake { task, by, cpu, on, .. } => Some((record.time_ns, task, by, cpu, on)),
            _ => None,
        };
        history.records.iter().filter_map(wake).collect::<Vec<_>>()
    };
    assert_eq!(wakes(&compact), wakes(&whole));
    let processes = compact.header.tasks.iter().filter(|task| task.pid == Some(task.tid));
    assert!(processes.count() > 5);
}

/// Whether the same happened in both, each time within `most_ns` once `shift_ns` is added.
fn same_but_for_times(one: &History, other: &History, shift_ns: u64, most_ns: u64) -> bool {
    let near = |(a, b): (&Record, &Record)| {
        a.event == b.event && (b.time_ns + shift_ns).abs_diff(a.time_ns) <= most_ns
    };
    one.records.len() == other.records.len() && one.records.iter().zip(&other.records).all(near)
}

#[test]
fn times_without_nanoseconds_are_within_one_microsecond_and_reported_as_such() {
    for (fine, coarse) in
        [("report-t-l", "report-l"), ("report-t", "report"), ("perf-script", "perf-script-us")]
    {
        let (fine, coarse) = (history(fine), history(coarse));
        assert!(same_but_for_times(&fine, &coarse, 0, 999));
        assert_eq!(coarse.header.facts["times"], "microseconds");
        assert!(!fine.header.facts.contains_key("times"));
    }
}

#[test]
fn the_latency_format_counts_from_the_start_of_the_buffer() {
    let (absolute, latency) = (history("report-l"), history("ftrace-latency"));
    let shift_ns = absolute.header.start_ns - latency.header.start_ns;
    assert!(same_but_for_times(&absolute, &latency, shift_ns, 1_000));
    assert_eq!(latency.header.tasks, absolute.header.tasks);
}

/// A slice that one recorder saw begin or end and the other did not; the recording has 30 ms.
const EDGES_NS: u64 = 50_000;

#[test]
fn two_recorders_of_the_same_time_agree_on_every_task() {
    let (perf, ftrace) = (history("perf.data"), history("report-t-l"));
    // perf began earlier and ended later: only events that both recorded are compared.
    let from_ns = perf.header.start_ns.max(ftrace.header.start_ns);
    let until_ns = perf.header.end_ns.min(ftrace.header.end_ns);
    let within = |history: &History| {
        let mut cut = history.clone();
        let mut running = vec![0; history.header.cpus as usize];
        for record in history.records.iter().take_while(|it| it.time_ns < from_ns) {
            if let Event::Switch { cpu, next, .. } = record.event {
                running[cpu as usize] = next;
            }
        }
        cut.records.retain(|it| (from_ns..=until_ns).contains(&it.time_ns));
        let state = SwitchState::Blocked;
        let came =
            (0..).zip(running).map(|(cpu, next)| Event::Switch { cpu, prev: 0, state, next });
        let came = came.map(|event| Record { time_ns: from_ns, event });
        cut.records.splice(..0, came);
        (cut.header.start_ns, cut.header.end_ns) = (from_ns, until_ns);
        info(&cut).tasks
    };
    let (perf, ftrace) = (within(&perf), within(&ftrace));
    let mut compared = 0;
    for task in perf.iter().filter(|task| task.run_ns > 500_000) {
        let other = ftrace.iter().find(|other| other.tid == task.tid).expect("both saw it");
        let apart = task.run_ns.abs_diff(other.run_ns);
        let most_ns = task.run_ns / 100 + EDGES_NS;
        assert!(apart <= most_ns, "{}: {} {}", task.comm, task.run_ns, other.run_ns);
        compared += 1;
    }
    assert!(compared >= 5, "{compared}");
}

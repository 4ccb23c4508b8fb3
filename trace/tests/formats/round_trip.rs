//! Every exported history is imported unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use proptest::prelude::*;
use trace::{
    Event, History, Record, Source, SwitchState, TaskInfo, export, import, info, validate,
};

use super::random;

/// Per task: id, run time, slices, waits; and all switches of the history.
fn sums(history: &History) -> (Vec<(u32, u64, u64, u64)>, u64) {
    let info = info(history);
    let ran = info.tasks.iter().filter(|task| task.slices > 0);
    let sum = ran.map(|task| (task.tid, task.run_ns, task.slices, task.waits));
    (sum.collect(), info.switches)
}

/// Events that text carries, without the final states that only text has.
fn wakes(history: &History) -> Vec<&Record> {
    let kept =
        |record: &&Record| matches!(record.event, Event::Wake { .. } | Event::Migrate { .. });
    history.records.iter().filter(kept).collect()
}

/// Facts of tasks in text and `trace.dat`: number, name, nice level.
fn tasks(history: &History) -> BTreeMap<u32, (&str, i8)> {
    let ran: BTreeSet<u32> = history
        .records
        .iter()
        .filter_map(|record| match record.event {
            Event::Switch { next, .. } => Some(next),
            _ => None,
        })
        .collect();
    let tasks = history.header.tasks.iter().filter(|task| ran.contains(&task.tid));
    tasks.map(|task| (task.tid, (&task.comm[..], task.nice))).collect()
}

proptest! {
    #[test]
    fn perfetto_keeps_every_record_and_the_header(
        steps in random::steps(),
        names in random::names(),
        extras in random::extras(random::ALL),
        start_ns in 0..10_000_000_000u64,
        recorded: bool,
        known: bool,
    ) {
        let mut history = random::history(&steps, &names, start_ns);
        random::enrich(&mut history, &extras);
        let header = &mut history.header;
        if recorded {
            header.source = Source::Recorded;
            header.tasks[1].pid = Some(1);
            header.tasks[2].kernel = true;
            header.cores_per_package = Some(2);
        }
        if known {
            header.know_interrupts();
            header.threads_per_core = Some(1);
        }
        prop_assert_eq!(validate(&history), []);
        let mut file = Vec::new();
        export::perfetto(&history, &mut file).unwrap();
        let (read, report) = import::recording_history(Cursor::new(&file)).unwrap();
        prop_assert_eq!(
            (report.unreadable, report.repaired_switches, report.reordered_lines), (0, 0, 0)
        );
        prop_assert_eq!(&read, &history);
        prop_assert_eq!(import::stream_history(&file[..]).unwrap().0, history);
    }

    #[test]
    fn text_and_trace_dat_keep_every_record_in_its_order(
        steps in random::steps(),
        names in random::names(),
        extras in random::extras(random::SIMULATED),
        start_ns in 0..10_000_000_000u64,
    ) {
        let mut history = random::history(&steps, &names, start_ns);
        random::enrich(&mut history, &extras);
        prop_assume!(history.records.iter().any(|it| matches!(it.event, Event::Switch { .. })));
        let (mut text, mut file) = (Vec::new(), Vec::new());
        export::ftrace(&history, &mut text).unwrap();
        export::trace_dat(&history, &mut file).unwrap();
        for form in [text, file] {
            let (read, report) = import::recording_history(Cursor::new(form)).unwrap();
            prop_assert_eq!(validate(&read), []);
            prop_assert_eq!((report.unreadable, report.repaired_switches), (0, 0));
            prop_assert_eq!(&read.records, &history.records);
            prop_assert_eq!(
                (read.header.start_ns, read.header.end_ns, read.header.cpus),
                (history.header.start_ns, history.header.end_ns, history.header.cpus)
            );
            prop_assert_eq!(tasks(&read), tasks(&history));
        }
    }

    #[test]
    fn text_of_ftrace_keeps_every_nanosecond(
        steps in random::steps(),
        names in random::names(),
        start_ns in 0..10_000_000_000u64,
    ) {
        let history = random::history(&steps, &names, start_ns);
        prop_assert_eq!(validate(&history), []);
        prop_assume!(history.records.iter().any(|it| matches!(it.event, Event::Switch { .. })));
        let mut text = Vec::new();
        export::ftrace(&history, &mut text).unwrap();
        let (read, report) = import::stream_history(&text[..]).unwrap();
        prop_assert_eq!(validate(&read), []);
        prop_assert_eq!(report.unreadable, 0);
        prop_assert_eq!(report.repaired_switches, 0);
        prop_assert_eq!(sums(&read), sums(&history));
        prop_assert_eq!(wakes(&read), wakes(&history));
        prop_assert_eq!(
            (read.header.start_ns, read.header.end_ns, read.header.cpus),
            (history.header.start_ns, history.header.end_ns, history.header.cpus)
        );
        for task in &read.header.tasks {
            let own = &history.header.tasks[task.tid as usize - 1];
            prop_assert_eq!((&task.comm, task.nice), (&own.comm, own.nice));
        }
    }

    #[test]
    fn a_file_keeps_everything_and_its_bytes_are_the_same_each_time(
        steps in random::steps(),
        names in random::names(),
    ) {
        let history = random::history(&steps, &names, 5);
        let file = history.write(Vec::new()).unwrap();
        prop_assert_eq!(&file, &history.write(Vec::new()).unwrap());
        prop_assert_eq!(History::read(&file[..]).unwrap(), history);
    }

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_refused(
        steps in random::steps(),
        names in random::names(),
        at in any::<prop::sample::Index>(),
        flip in 1..=255u8,
    ) {
        let file = random::history(&steps, &names, 5).write(Vec::new()).unwrap();
        let at = at.index(file.len());
        prop_assert!(History::read(&file[..at]).is_err());
        let mut damaged = file.clone();
        damaged[at] ^= flip;
        if let Ok(read) = History::read(&damaged[..]) {
            prop_assert_eq!(read, History::read(&file[..]).unwrap());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_imported(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        if let Ok((history, _)) = import::stream_history(&text[..]) {
            prop_assert_eq!(validate(&history), []);
        }
        prop_assert!(History::read(&text[..]).is_err());
    }

    #[test]
    fn shuffled_pieces_of_a_recording_are_refused_or_imported(
        pieces in prop::collection::vec(
            (0..PIECES.len(), 0..3u32, 0..20u64, 0..4u32, 0..4u32),
            0..60,
        ),
    ) {
        let mut text = String::new();
        for (piece, cpu, time, a, b) in pieces {
            let piece = PIECES[piece].replace("CPU", &cpu.to_string());
            let piece = piece.replace("TIME", &format!("1.{time:09}"));
            text += &piece.replace("AA", &a.to_string()).replace("BB", &b.to_string());
        }
        if let Ok((history, report)) = import::stream_history(text.as_bytes()) {
            prop_assert_eq!(validate(&history), []);
            prop_assert_eq!(report.records, history.records.len() as u64);
            let switches = info(&history).switches;
            prop_assert_eq!(report.switches, switches);
            prop_assert!(History::read(&history.write(Vec::new()).unwrap()[..]).is_ok());
        }
    }
}

const PIECES: [&str; 9] = [
    "x AA/AA [CPU] TIME: sched:sched_switch: prev_comm=x prev_pid=AA prev_prio=120 \
     prev_state=S ==> next_comm=y next_pid=BB next_prio=120\n",
    "x AA/AA [CPU] TIME: sched:sched_switch: prev_comm=x prev_pid=AA prev_prio=120 \
     prev_state=X ==> next_comm=y next_pid=BB next_prio=120\n",
    "x AA/AA [CPU] TIME: sched:sched_switch: x:AA [120] R ==> y:BB [120]\n",
    "x AA/AA [CPU] TIME: sched:sched_waking: comm=y pid=BB prio=120 target_cpu=CPU\n",
    "x AA/AA [CPU] TIME: sched:sched_process_fork: comm=x pid=AA child_comm=y child_pid=BB\n",
    "x AA/AA [CPU] TIME: sched:sched_stat_runtime: comm=x pid=AA runtime=7 [ns]\n",
    "x AA/AA [CPU] TIME: x86_fpu:x86_fpu_regs_deactivated: x86/fpu: 0x0 load: 1 xfeatures: 2 \
     xcomp_bv: 0\n",
    "x AA/AA TIME: sched:sched_switch: prev_comm=x prev_pid=AA prev_prio=120 \
     prev_state=R ==> next_comm=y next_pid=BB next_prio=120\n",
    "garbage\n",
];

#[test]
fn state_of_the_last_switch_is_kept() {
    let steps = [(1, 0, 1, 5), (4, 0, 1, 7)];
    let names = vec!["a".to_owned(); 6];
    let history = random::history(&steps, &names, 0);
    let mut text = Vec::new();
    export::ftrace(&history, &mut text).unwrap();
    let (read, _) = import::stream_history(&text[..]).unwrap();
    let dead = Event::Switch { cpu: 0, prev: 1, state: SwitchState::Dead, next: 0 };
    assert_eq!(read.records.last().unwrap().event, dead);
}

#[test]
fn a_machine_of_a_thousand_cpus_is_imported_from_every_format() {
    const CPUS: u32 = 1000;
    let mut history = random::history(&[], &[], 0);
    history.header.cpus = CPUS;
    history.header.end_ns = 1_000_000;
    for cpu in 0..CPUS {
        let task = cpu + 1;
        let comes = Event::Switch { cpu, prev: 0, state: SwitchState::Runnable, next: task };
        let leaves = Event::Switch { cpu, prev: task, state: SwitchState::Blocked, next: 0 };
        history.records.push(Record { time_ns: 10 * u64::from(cpu), event: comes });
        history.records.push(Record { time_ns: 500_000 + u64::from(cpu % 7), event: leaves });
        let comm = format!("task{task}");
        let app = comm.clone();
        let info = TaskInfo {
            tid: task,
            pid: None,
            comm,
            app,
            nice: 0,
            kernel: false,
            control_group: None,
        };
        history.header.tasks.push(info);
    }
    history.records.sort_by_key(|record| record.time_ns);
    assert_eq!(validate(&history), []);
    let (mut text, mut file, mut trace) = (Vec::new(), Vec::new(), Vec::new());
    export::ftrace(&history, &mut text).unwrap();
    export::trace_dat(&history, &mut file).unwrap();
    export::perfetto(&history, &mut trace).unwrap();
    for form in [text, file, trace] {
        let (read, report) = import::recording_history(Cursor::new(form)).unwrap();
        assert_eq!((report.cpus, report.repaired_switches), (CPUS, 0));
        assert_eq!(read.records, history.records);
    }
}

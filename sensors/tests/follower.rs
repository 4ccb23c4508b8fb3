//! Records of the probe become a sound history, whatever is lost, late or odd.

use std::collections::BTreeMap;

use cpu_model::Class;
use proptest::prelude::*;
use sensors::recorder::{COOKIE_END, COOKIE_NESTS, Description, Follower, Kind, Met, Pause, Raw};
use trace::{
    Collector, ControlGroup, Event, Header, History, Record, SCHEMA, Source, SwitchState, TaskInfo,
};

/// Preempt counts of a task, and of an interrupt on top of it (include/linux/preempt.h).
const IN_TASK: u32 = 0x8000_0001;
const IN_INTERRUPT: u32 = 0x8001_0000;

fn raw(time_ns: u64, cpu: u32, kind: Kind, tid: u32) -> Raw {
    Raw {
        time_ns,
        cpu,
        kind,
        value: 0,
        tid,
        pid: tid,
        other: 0,
        kernel: false,
        blocked: false,
        dead: false,
        interrupt: false,
        sync: None,
        description: None,
        counts: None,
    }
}

fn named(name: &str, raw: Raw) -> Raw {
    let mut comm = [0; 16];
    comm[..name.len()].copy_from_slice(name.as_bytes());
    Raw { description: Some(Description { comm, prio: 120, control_group: 7 }), ..raw }
}

fn running(time_ns: u64, cpu: u32, tid: u32, accounted_ns: u64) -> Raw {
    let running = raw(time_ns, cpu, Kind::Running, tid);
    named("runs", Raw { value: accounted_ns, other: IN_TASK, ..running })
}

fn switch(time_ns: u64, cpu: u32, prev: u32, accounted_ns: u64, next: u32) -> Raw {
    let switch = raw(time_ns, cpu, Kind::Switch, prev);
    named("runs", Raw { value: accounted_ns, other: next, ..switch })
}

fn header() -> Header {
    Header {
        schema: SCHEMA,
        source: Source::Recorded,
        cpus: 1,
        start_ns: 0,
        end_ns: 0,
        threads_per_core: None,
        cores_per_package: None,
        cpu: None,
        facts: BTreeMap::new(),
        tasks: Vec::new(),
        stacks: Vec::new(),
    }
}

fn try_follow(raws: &[Raw]) -> std::io::Result<(History, Met)> {
    let mut collector = Collector::default();
    let mut follower = Follower::new(&mut collector, 1);
    for &raw in raws {
        follower.take(raw)?;
    }
    let group = |number| {
        let (path, name) = ("/a.slice/b.service".to_owned(), "b.service".to_owned());
        (number == 7).then_some(ControlGroup { path, name, pod: None })
    };
    let header = Header { stacks: vec![vec!["main".to_owned()]], ..header() };
    let met = follower.finish(header, &mut { group })?;
    Ok((collector.into_history().expect("it was finished"), met))
}

#[track_caller]
fn follow(raws: &[Raw]) -> (History, Met) {
    let (history, met) = try_follow(raws).unwrap();
    assert_eq!(trace::validate(&history), []);
    (history, met)
}

fn switches(history: &History) -> Vec<(u64, u32, u32, SwitchState)> {
    let of = |record: &Record| match record.event {
        Event::Switch { prev, state, next, .. } => Some((record.time_ns, prev, next, state)),
        _ => None,
    };
    history.records.iter().filter_map(of).collect()
}

fn task(history: &History, tid: u32) -> &TaskInfo {
    history.header.tasks.iter().find(|task| task.tid == tid).unwrap()
}

const RUNNABLE: SwitchState = SwitchState::Runnable;
const BLOCKED: SwitchState = SwitchState::Blocked;
const DEAD: SwitchState = SwitchState::Dead;

#[test]
fn a_stack_belongs_to_the_task_that_leaves_and_its_task_to_a_control_group() {
    let stack = raw(201, 0, Kind::Stack, 7);
    let registers = Raw { value: 0x40, ..raw(202, 0, Kind::Registers, 7) };
    let late = raw(210, 0, Kind::Stack, 7);
    let (history, _) =
        follow(&[running(100, 0, 7, 0), switch(200, 0, 7, 90, 0), stack, registers, late]);
    let events: Vec<_> = history.records.iter().map(|record| &record.event).collect();
    let at = events.iter().position(|event| **event == Event::Stack { task: 7, stack: 0 }).unwrap();
    assert_eq!(events[at + 1], &Event::Registers { task: 7, xfeatures: 0x40 });
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Stack { .. })).count(), 1);
    assert_eq!(task(&history, 7).control_group.as_ref().unwrap().name, "b.service");
}

#[test]
fn counts_are_of_the_slice_that_ends() {
    let counters = |time_ns, cpu| Raw {
        counts: Some(std::array::from_fn(|at| time_ns + at as u64)),
        ..raw(time_ns, cpu, Kind::Counters, 0)
    };
    let (history, _) = follow(&[
        running(100, 0, 7, 0),
        running(101, 1, 8, 0),
        counters(190, 1),
        counters(200, 0),
        // Between the two records of a CPU, which an interrupt may divide.
        raw(201, 0, Kind::Wake, 9),
        switch(202, 0, 7, 90, 0),
        // No record of counts: another program has a counter.
        switch(300, 0, 0, 0, 7),
        switch(310, 1, 8, 200, 0),
        counters(390, 0),
        running(400, 0, 7, 190),
    ]);
    let last = history.records.iter().rev().find(|it| matches!(it.event, Event::Counters { .. }));
    assert_eq!(last.unwrap().time_ns, 400, "of the slice that the end of the recording cuts off");

    let events: Vec<_> = history.records.iter().map(|record| &record.event).collect();
    let is_counts = |event: &&&Event| matches!(event, Event::Counters { .. });
    assert_eq!(events.iter().filter(is_counts).count(), 3);
    for (cpu, first) in [(0, 200), (1, 190)] {
        let its = |event: &&Event| matches!(event, Event::Counters { cpu: of, .. } if *of == cpu);
        let at = events.iter().position(its).unwrap();
        let Event::Counters { counts, .. } = events[at] else { unreachable!() };
        assert_eq!(
            (counts.license_1, counts.license_2, counts.cycles),
            (first, first + 1, first + 2)
        );
        assert_eq!((counts.fp_512, counts.fp_256), (first + 4, first + 7));
        let prev = 7 + cpu;
        let Event::Switch { cpu: on, prev: task, .. } = *events[at + 1] else {
            panic!("{:?} follows", events[at + 1]);
        };
        assert_eq!((on, task), (cpu, prev));
    }
}

#[test]
fn a_pause_is_in_its_place_and_names_the_thread_that_paused() {
    let mut collector = Collector::default();
    let mut follower = Follower::new(&mut collector, 1);
    let pause = |time_ns, cpu| Pause {
        time_ns,
        cpu,
        by: 90,
        first_ns: 210,
        alone_ns: 240,
        first_khz: 1_900_000,
        last_khz: 2_800_000,
        alone_khz: 2_800_000,
        paused_ns: 30,
    };
    // Before the first record, and of a CPU that cannot be: both are left out.
    follower.take_pause(pause(50, 0)).unwrap();
    follower.take_pause(pause(340, u32::MAX)).unwrap();
    let switches = [running(100, 0, 7, 0), switch(200, 0, 7, 90, 90), switch(300, 0, 90, 100, 7)];
    switches.into_iter().for_each(|raw| follower.take(raw).unwrap());
    follower.take(switch(400, 0, 7, 180, 8)).unwrap();
    follower.take_pause(pause(350, 0)).unwrap();
    follower.finish(header(), &mut |_| None).unwrap();
    let history = collector.into_history().unwrap();
    assert_eq!(trace::validate(&history), []);
    let of = |record: &Record| match record.event {
        Event::Pause { cpu, by, .. } => Some((record.time_ns, cpu, by)),
        _ => None,
    };
    assert_eq!(history.records.iter().filter_map(of).collect::<Vec<_>>(), [(350, 0, 90)]);
    let times: Vec<u64> = history.records.iter().map(|record| record.time_ns).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn a_slice_has_its_switches_its_accounted_time_and_its_registers() {
    let leave = Raw { blocked: true, ..switch(200, 0, 7, 90, 0) };
    let registers = Raw { value: 0x40, ..raw(201, 0, Kind::Registers, 7) };
    let raws = [running(100, 0, 7, 10), leave, registers, running(300, 0, 0, 0)];
    let (history, met) = follow(&raws);
    assert_eq!(switches(&history), [(100, 0, 7, BLOCKED), (200, 7, 0, BLOCKED)]);
    let events: Vec<&Event> = history.records.iter().map(|record| &record.event).collect();
    assert_eq!(events[1], &Event::Runtime { task: 7, ns: 80 });
    assert_eq!(events[3], &Event::Registers { task: 7, xfeatures: 0x40 });
    assert_eq!((history.header.start_ns, history.header.end_ns), (100, 300));
    assert_eq!((met.slices_ns, met.runtime_ns, met.repaired_switches), (100, 80, 0));
    assert_eq!(history.header.facts["runtime_per_wall_permille"], "800");
}

#[test]
fn what_runs_at_the_end_is_accounted_too() {
    let raws = [running(100, 0, 7, 10), running(200, 0, 7, 70)];
    let (history, _) = follow(&raws);
    let last = &history.records.last().unwrap().event;
    assert_eq!(last, &Event::Runtime { task: 7, ns: 60 });
}

#[test]
fn names_follow_the_task_and_threads_are_of_their_leader() {
    let leader = named("leader", raw(1, 0, Kind::Task, 10));
    let worker = named("worker", Raw { pid: 10, ..raw(2, 0, Kind::Task, 11) });
    let leave = named("renamed", Raw { pid: 10, ..switch(200, 0, 11, 0, 0) });
    let (history, _) = follow(&[leader, worker, running(100, 0, 0, 0), leave]);
    let [task] = &history.header.tasks[..] else { panic!("{:?}", history.header.tasks) };
    assert_eq!((task.tid, task.pid), (11, Some(10)));
    assert_eq!((task.comm.as_str(), task.app.as_str()), ("renamed", "leader"));
}

#[test]
fn a_lost_switch_is_put_where_the_accounted_time_says() {
    let raws = [
        running(100, 0, 7, 0),
        named("other", Raw { value: 1000, ..raw(101, 0, Kind::Task, 8) }),
        // That 7 left and 8 came at 260 was lost.
        switch(300, 0, 8, 1040, 9),
        running(400, 0, 9, 0),
    ];
    let (history, met) = follow(&raws);
    let expected = [(100, 0, 7, BLOCKED), (260, 7, 8, BLOCKED), (300, 8, 9, RUNNABLE)];
    assert_eq!(switches(&history), expected);
    assert_eq!(met.repaired_switches, 1);
    assert_eq!(history.header.facts["repaired_switches"], "1");
}

#[test]
fn a_task_that_appears_elsewhere_has_left() {
    let raws = [running(100, 0, 7, 0), running(101, 1, 0, 0), switch(200, 1, 0, 0, 7)];
    let (history, met) = follow(&raws);
    let expected = [(100, 0, 7, BLOCKED), (200, 7, 0, RUNNABLE), (200, 0, 7, RUNNABLE)];
    assert_eq!((switches(&history), met.repaired_switches), (expected.to_vec(), 1));
}

#[test]
fn a_number_that_comes_back_is_another_task() {
    let dies = Raw { dead: true, ..switch(200, 0, 7, 0, 8) };
    let forks = Raw { other: 8, ..raw(300, 0, Kind::Fork, 7) };
    let raws = [running(100, 0, 7, 0), dies, named("again", forks), switch(400, 0, 8, 0, 7)];
    let (history, _) = follow(&raws);
    let again = 1 << 22;
    assert_eq!(task(&history, 7).comm, "runs");
    assert_eq!(task(&history, again).comm, "again");
    let expected = [(100, 0, 7, BLOCKED), (200, 7, 8, DEAD), (400, 8, again, RUNNABLE)];
    assert_eq!(switches(&history), expected);
}

#[test]
fn a_thread_that_executes_a_program_goes_on_under_the_number_of_its_process() {
    let exec = named("program", Raw { other: 11, ..raw(200, 0, Kind::Exec, 10) });
    let leave = named("program", switch(300, 0, 10, 0, 0));
    let (history, met) = follow(&[running(100, 0, 11, 0), exec, leave]);
    assert_eq!(switches(&history), [(100, 0, 11, BLOCKED), (300, 11, 0, RUNNABLE)]);
    assert_eq!((task(&history, 11).comm.as_str(), met.repaired_switches), ("program", 0));
}

#[test]
fn a_wake_by_an_interrupt_is_by_no_task() {
    let wake = Raw { other: 7, value: 1, ..raw(200, 0, Kind::Wake, 9) };
    let by_timer = Raw { interrupt: true, time_ns: 201, ..wake };
    let (history, _) = follow(&[running(100, 0, 7, 0), wake, by_timer]);
    let wakes: Vec<&Event> = history.records[1..].iter().map(|record| &record.event).collect();
    let by = |by, on| Event::Wake { task: 9, by, cpu: 1, on, sync: None };
    assert_eq!(wakes, [&by(7, None), &by(0, Some(0))]);
}

#[test]
fn a_promise_to_wait_is_kept_where_the_kernel_was_seen_to_hear_it() {
    let wake = Raw { other: 7, value: 1, ..raw(200, 0, Kind::Wake, 9) };
    let raws = [
        running(100, 0, 7, 0),
        Raw { sync: Some(true), ..wake },
        Raw { time_ns: 201, sync: Some(false), ..wake },
    ];
    let promises = follow(&raws).0.records.into_iter().filter_map(|record| match record.event {
        Event::Wake { sync, .. } => Some(sync),
        _ => None,
    });
    assert_eq!(promises.collect::<Vec<_>>(), [Some(true), Some(false)]);
}

#[test]
fn a_program_begins_where_the_kernel_balances_if_that_is_seen() {
    let exec = |time_ns| named("sh", Raw { other: 7, ..raw(time_ns, 0, Kind::Exec, 7) });
    let balance = |time_ns| raw(time_ns, 0, Kind::Balance, 7);
    let begins = |raws: &[Raw]| {
        let records = follow(raws).0.records.into_iter();
        let begin = |record: Record| match record.event {
            Event::Exec { task: 7 } => Some(record.time_ns),
            _ => None,
        };
        records.filter_map(begin).collect::<Vec<_>>()
    };
    assert_eq!(begins(&[running(100, 0, 7, 0), exec(200)]), [200]);
    assert_eq!(begins(&[running(100, 0, 7, 0), balance(190), exec(200)]), [190]);
}

#[test]
fn messages_have_numbers_for_channels_and_no_addresses() {
    let address = 0xffff_8880_0000_1234;
    let message =
        |time_ns, kind, tid, other| Raw { value: address, other, ..raw(time_ns, 0, kind, tid) };
    let raws = [
        running(100, 0, 7, 0),
        message(200, Kind::Send, 7, 100),
        message(201, Kind::Unsent, 7, 40),
        message(300, Kind::Receive, 9, 60),
    ];
    let history = follow(&raws).0;
    let events: Vec<&Event> = history.records[1..].iter().map(|record| &record.event).collect();
    let expected = [
        &Event::Send { task: 7, channel: 0, bytes: 100 },
        &Event::Unsent { task: 7, channel: 0, bytes: 40 },
        &Event::Receive { task: 9, channel: 0, bytes: 60 },
    ];
    assert_eq!(events, expected);
}

#[test]
fn wakers_are_known_only_if_the_preempt_count_fits_known_contexts() {
    let known = |counts: &[u32]| {
        let running = |(cpu, &other): (u32, &u32)| Raw {
            other,
            ..running(100 + u64::from(cpu), cpu, 7 + cpu, 0)
        };
        let raws: Vec<Raw> = (0..).zip(counts).map(running).collect();
        follow(&raws).0.header.interrupts_known()
    };
    assert!(known(&[IN_TASK]));
    assert!(known(&[IN_INTERRUPT, IN_TASK]));
    assert!(!known(&[0]), "the kernel does not say where it is");
    assert!(!known(&[IN_TASK, 0x1234_5678]), "this is another variable");
    assert!(!known(&[IN_INTERRUPT]), "one CPU asks itself, without an interrupt");
}

#[test]
fn a_marked_function_is_a_phase_until_the_outermost_call_returns() {
    let heavy = Class::Avx512Heavy as u64 | COOKIE_NESTS;
    let mark = |time_ns, value| Raw { value, ..raw(time_ns, 0, Kind::Class, 7) };
    let calls = [(200, 0), (210, 0), (220, COOKIE_END), (230, COOKIE_END), (240, COOKIE_END)];
    let mut raws = vec![running(100, 0, 7, 0)];
    raws.extend(calls.map(|(time_ns, end)| mark(time_ns, heavy | end)));
    assert_eq!(phases(&follow(&raws).0), [(200, Class::Avx512Heavy), (230, Class::Scalar)]);
}

#[test]
fn two_functions_begin_and_end_a_phase_however_often_the_first_is_called() {
    let light = Class::Avx2Light as u64;
    let mark = |time_ns, value| Raw { value, ..raw(time_ns, 0, Kind::Class, 7) };
    let raws =
        [running(100, 0, 7, 0), mark(200, light), mark(210, light), mark(220, light | COOKIE_END)];
    assert_eq!(phases(&follow(&raws).0), [(200, Class::Avx2Light), (220, Class::Scalar)]);
}

fn phases(history: &History) -> Vec<(u64, Class)> {
    let of = |record: &Record| match record.event {
        Event::Phase { class, .. } => Some((record.time_ns, class)),
        _ => None,
    };
    history.records.iter().filter_map(of).collect()
}

#[test]
fn records_in_disorder_are_put_right() {
    let mut raws = [running(100, 0, 7, 0), switch(200, 0, 7, 0, 8), switch(300, 0, 8, 0, 7)];
    let expected = switches(&follow(&raws).0);
    raws.swap(1, 2);
    let (history, met) = follow(&raws);
    assert_eq!((switches(&history), met.repaired_switches), (expected, 0));
}

#[test]
fn registers_of_a_task_that_ends_are_not_those_of_a_switch() {
    let registers = Raw { value: 7, ..raw(150, 0, Kind::Registers, 7) };
    let (history, met) = follow(&[running(100, 0, 7, 0), registers, switch(200, 0, 7, 0, 0)]);
    assert_eq!(met.unmatched_registers, 1);
    assert!(!history.records.iter().any(|it| matches!(it.event, Event::Registers { .. })));
}

#[test]
fn a_thousand_cpus_are_all_there() {
    let raws: Vec<Raw> = (0..1000).map(|cpu| running(100, cpu, 1 + cpu, 0)).collect();
    let (history, met) = follow(&raws);
    assert_eq!((history.header.cpus, met.switches, met.repaired_switches), (1000, 1000, 0));
}

#[test]
fn probes_that_tell_nothing_are_an_error() {
    let told = try_follow(&[switch(100, 0, 7, 0, 8)]);
    assert!(told.is_err_and(|error| error.to_string() == "the probes told nothing"));
}

fn any_raw() -> impl Strategy<Value = Raw> {
    let kinds = prop::sample::select(vec![
        Kind::Task,
        Kind::Running,
        Kind::Switch,
        Kind::Switch,
        Kind::Switch,
        Kind::Wake,
        Kind::Migrate,
        Kind::Fork,
        Kind::Exec,
        Kind::Registers,
        Kind::Frequency,
        Kind::Class,
    ]);
    let numbers = (0..5u32, 0..6u32, 0..6u32, 0..6u32);
    let values = prop_oneof![0..6u64, any::<u64>()];
    (0..10_000u64, kinds, numbers, values, any::<[bool; 4]>(), any::<bool>()).prop_map(
        |(time_ns, kind, (cpu, tid, pid, other), value, flags, is_named)| {
            let [kernel, blocked, dead, interrupt] = flags;
            let any = Raw {
                pid,
                other,
                value,
                kernel,
                blocked,
                dead,
                interrupt,
                ..raw(time_ns, cpu, kind, tid)
            };
            if is_named { named("any", any) } else { any }
        },
    )
}

proptest! {
    #[test]
    fn whatever_comes_the_history_is_sound(mut raws in prop::collection::vec(any_raw(), 0..200)) {
        raws.insert(0, running(0, 0, 1, 0));
        let (history, met) = try_follow(&raws).unwrap();
        prop_assert_eq!(trace::validate(&history), []);
        prop_assert_eq!(met.records, history.records.len() as u64);
        prop_assert!(met.runtime_ns <= met.slices_ns);
    }
}

use proptest::prelude::*;
use trace::{Event, Header, Record, Source, SwitchState};

use super::*;
use crate::deadlock;
use crate::workload::{Draw, Spread};

const KHZ: u32 = 2_000_000;

const OPTIONS: ReplayOptions = ReplayOptions {
    recorded_khz: KHZ,
    cpus: None,
    threads_per_core: 1,
    turbo_cores: None,
    kernel_threads: true,
};

/// The history with the classes of a rule such as `x265*=avx512-heavy`.
fn ruled(mut history: History, rule: &str) -> History {
    let rules = trace::classes::Rules::parse(&[rule.to_owned()]).unwrap();
    trace::annotate(&mut history, &rules, &trace::marks::Marks::default());
    history
}

/// A history of tasks 1, 2, … on two CPUs; times in us, from 0 to the last record's.
fn history(tasks: u32, events: Vec<(u64, Event)>) -> History {
    let records: Vec<Record> =
        events.into_iter().map(|(us, event)| Record { time_ns: us * 1000, event }).collect();
    let task = |tid: u32| TaskInfo {
        tid,
        pid: Some(1),
        comm: format!("task{tid}"),
        app: format!("app{tid}"),
        nice: 0,
        kernel: false,
        control_group: None,
    };
    let header = Header {
        schema: 1,
        source: Source::Recorded,
        cpus: 2,
        start_ns: 0,
        end_ns: records.last().map_or(0, |record| record.time_ns),
        threads_per_core: None,
        cores_per_package: None,
        cpu: None,
        facts: BTreeMap::new(),
        tasks: (1..=tasks).map(task).collect(),
        stacks: Vec::new(),
    };
    History { header, records }
}

fn switch(cpu: u32, prev: u32, state: SwitchState, next: u32) -> Event {
    Event::Switch { cpu, prev, state, next }
}

fn wake(task: u32, by: u32) -> Event {
    Event::Wake { task, by, cpu: 0, on: None, sync: None }
}

fn work(us: u64, class: Class) -> Step {
    Step::Compute(crate::workload::Work {
        ref_cycles: Draw { mean: us * u64::from(KHZ) / 1000, spread: Spread::Fixed },
        class,
        rate_permille: 1000,
        stall_permille: 0,
        integer: false,
        working_set_kib: 0,
    })
}

fn sleep(us: u64) -> Step {
    Step::Sleep(Draw { mean: us * 1000, spread: Spread::Fixed })
}

fn replay(history: &History, rule: &str) -> (Vec<Vec<Step>>, ReplayReport) {
    let history = ruled(history.clone(), rule);
    let (workload, report) = from_recording(&history, &OPTIONS).unwrap();
    (workload.threads.into_iter().map(|thread| thread.program).collect(), report)
}

use Class::{Avx512Heavy, Scalar};
use SwitchState::{Blocked, Dead, Runnable};

#[test]
fn timer_wakeup_becomes_a_sleep_from_the_block() {
    let history = history(
        1,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (100, switch(0, 1, Blocked, 0)),
            (350, wake(1, 0)),
            (360, switch(0, 0, Runnable, 1)),
            (400, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, report) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs, [[work(100, Avx512Heavy), sleep(250), work(40, Avx512Heavy)]]);
    assert_eq!((report.sleeps, report.dependencies, report.ran_ns), (1, 0, 140_000));
}

#[test]
fn an_interrupt_on_another_cpu_stays_there() {
    let wake = |on| Event::Wake { task: 1, by: 0, cpu: 0, on: Some(on), sync: None };
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (100, switch(0, 1, Blocked, 0)),
        (350, wake(1)),
        (360, switch(0, 0, Runnable, 1)),
        (400, switch(0, 1, Blocked, 0)),
        (500, wake(0)),
        (500, switch(0, 0, Runnable, 1)),
        (600, switch(0, 1, Dead, 0)),
    ];
    let history = ruled(history(1, records), "task1=avx512-heavy");
    let sleeps = |cpus| {
        let options = ReplayOptions { cpus, ..OPTIONS };
        let (workload, _) = from_recording(&history, &options).unwrap();
        let is_sleep = |step: &Step| !matches!(step, Step::Compute(_));
        workload.threads[0].program.iter().copied().filter(is_sleep).collect::<Vec<_>>()
    };
    assert_eq!(sleeps(None), [Step::Interrupt { after_ns: 250_000, cpu: 1 }, sleep(100)]);
    assert_eq!(sleeps(Some(2)), [sleep(250), sleep(100)], "other CPUs");
}

#[test]
fn preemption_does_not_divide_a_piece() {
    let history = history(
        2,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (100, switch(0, 1, Runnable, 2)),
            (300, switch(0, 2, Runnable, 1)),
            (350, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, _) = replay(&history, "task2=avx512-heavy");
    assert_eq!(programs, [[work(150, Scalar)], [work(200, Avx512Heavy)]]);
}

#[test]
fn wakeup_by_a_running_task_stays_a_dependency() {
    let history = one_wakes_two();
    let (programs, _) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs[0], [work(200, Avx512Heavy), Step::Wake(0), work(100, Avx512Heavy)]);
    assert_eq!(programs[1], [work(50, Scalar), Step::Wait(0), work(100, Scalar)]);
}

#[test]
fn child_starts_when_its_parent_forks() {
    let history = history(
        2,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (70, Event::Fork { task: 2, by: 1 }),
            (71, wake(2, 1)),
            (80, switch(1, 0, Runnable, 2)),
            (90, switch(1, 2, Dead, 0)),
            (100, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, _) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs[0], [work(70, Avx512Heavy), Step::Fork(1), work(30, Avx512Heavy)]);
    assert_eq!(programs[1], [work(10, Scalar)]);
}

#[test]
fn a_child_that_never_ran_is_not_forked() {
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (70, Event::Fork { task: 2, by: 1 }),
        (100, switch(0, 1, Dead, 0)),
    ];
    let (programs, _) = replay(&history(2, records), "task1=avx512-heavy");
    assert_eq!(programs, [[work(70, Avx512Heavy), work(30, Avx512Heavy)]]);
}

/// Two processes of which the first asks, and the second preempts the first and answers before
/// the first sleeps; every other time the first sleeps.
fn questions(rounds: u64) -> History {
    let mut events = vec![(0, switch(0, 0, Runnable, 1)), (1, switch(1, 2, Blocked, 0))];
    for at in (10..).step_by(10).take(rounds as usize) {
        events.extend([
            (at, wake(2, 1)),
            (at + 1, switch(0, 1, Runnable, 2)),
            (at + 2, switch(0, 2, Blocked, 1)),
            (at + 4, wake(2, 1)),
            (at + 5, switch(0, 1, Blocked, 2)),
            (at + 6, wake(1, 2)),
            (at + 7, switch(0, 2, Blocked, 1)),
        ]);
    }
    let mut history = history(2, events);
    history.header.tasks[1].pid = Some(2);
    history.header.facts.insert("interrupts".into(), "recorded".into());
    history
}

#[test]
fn a_task_that_asks_again_has_waited_for_the_answer() {
    let count = |program: &[Step], step| program.iter().filter(|one| **one == step).count();
    let (programs, _) = replay(&questions(30), "task1=avx512-heavy");
    // Twice a round task 1 asks, and task 2 answers: of the answers every other was recorded.
    let [asks, answers] = [&programs[0], &programs[1]];
    assert_eq!(count(asks, Step::WakeSync(0)), 60);
    assert_eq!(count(asks, Step::Wait(1)), 60);
    assert_eq!(count(answers, Step::WakeSync(1)), 60);
    // Too few to tell.
    let (programs, _) = replay(&questions(10), "task1=avx512-heavy");
    assert_eq!(count(&programs[0], Step::Wait(1)), 10);
}

#[test]
fn a_child_wakes_its_vforking_parent_like_a_thread_and_then_like_a_stranger() {
    let mut records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (10, Event::Fork { task: 2, by: 1 }),
        (11, switch(0, 1, Blocked, 2)),
    ];
    for at in [20, 30] {
        records.extend([
            (at, wake(1, 2)),
            (at + 1, switch(1, 0, Runnable, 1)),
            (at + 2, switch(1, 1, Blocked, 0)),
        ]);
    }
    let mut history = history(2, records);
    history.header.tasks[1].pid = Some(2);
    let (programs, _) = replay(&history, "task1=avx512-heavy");
    let wakes = programs[1].iter().filter(|step| !matches!(step, Step::Compute(_)));
    assert_eq!(wakes.collect::<Vec<_>>(), [&Step::Wake(0), &Step::WakeSync(0)]);
}

#[test]
fn what_the_recording_says_of_a_promise_counts_and_the_kernel_believes_none_of_a_dying_task() {
    let wake = |sync| Event::Wake { task: 1, by: 2, cpu: 0, on: None, sync };
    let programs = |sync, last| {
        let records = vec![
            (0, switch(0, 0, Runnable, 1)),
            (1, switch(1, 0, Runnable, 2)),
            (10, switch(0, 1, Blocked, 0)),
            (20, wake(sync)),
            (21, switch(0, 0, Runnable, 1)),
            (30, switch(1, 2, last, 0)),
        ];
        let (programs, _) = replay(&history(2, records), "task1=avx512-heavy");
        programs[1][1]
    };
    // Threads of one process, which would promise nothing.
    assert_eq!(programs(None, Blocked), Step::Wake(0));
    assert_eq!(programs(Some(true), Blocked), Step::WakeSync(0));
    assert_eq!(programs(Some(true), Dead), Step::Wake(0));
}

#[test]
fn a_program_that_begins_is_a_step() {
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (40, Event::Exec { task: 1 }),
        (100, switch(0, 1, Dead, 0)),
    ];
    let (programs, _) = replay(&history(1, records), "task1=avx512-heavy");
    assert_eq!(programs, [[work(40, Avx512Heavy), Step::Exec, work(60, Avx512Heavy)]]);
}

#[test]
fn messages_of_which_both_ends_are_seen_are_steps() {
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (1, switch(1, 0, Runnable, 2)),
        (10, Event::Send { task: 1, channel: 5, bytes: 100 }),
        (12, Event::Unsent { task: 1, channel: 5, bytes: 40 }),
        // Nobody reads, or nobody writes here.
        (13, Event::Send { task: 1, channel: 4, bytes: 1 }),
        (14, Event::Receive { task: 2, channel: 3, bytes: 1 }),
        // Ten of these bytes were there before.
        (21, Event::Receive { task: 2, channel: 5, bytes: 70 }),
        (31, switch(0, 1, Dead, 0)),
        (31, switch(1, 2, Dead, 0)),
    ];
    let (programs, _) = replay(&history(2, records), "task1=avx512-heavy");
    let send = Step::Send { channel: 0, bytes: 60 };
    assert_eq!(programs[0], [work(10, Avx512Heavy), send, work(21, Avx512Heavy)]);
    let receive = Step::Receive { channel: 0, bytes: 60 };
    assert_eq!(programs[1], [work(20, Scalar), receive, work(10, Scalar)]);
}

#[test]
fn an_empty_channel_that_an_unknown_task_writes_is_another_one() {
    let send = |task| Event::Send { task, channel: 5, bytes: 1 };
    let receive = |task| Event::Receive { task, channel: 5, bytes: 1 };
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (1, switch(1, 0, Runnable, 2)),
        (10, send(1)),
        (11, send(1)),
        (12, receive(2)),
        (13, receive(2)),
        // Task 2 writes for the first time, but has read from this channel.
        (14, send(2)),
        (15, receive(1)),
        (16, switch(0, 1, Dead, 3)),
        (17, send(3)),
        (18, receive(2)),
        (30, switch(0, 3, Dead, 0)),
        (30, switch(1, 2, Dead, 0)),
    ];
    let (programs, _) = replay(&history(3, records), "task1=avx512-heavy");
    let channels = |program: &[Step]| {
        let channel = |step: &Step| match step {
            Step::Send { channel, .. } | Step::Receive { channel, .. } => Some(*channel),
            _ => None,
        };
        program.iter().filter_map(channel).collect::<Vec<_>>()
    };
    assert_eq!(
        programs.iter().map(|one| channels(one)).collect::<Vec<_>>(),
        [vec![0, 0, 0], vec![0, 0, 0, 1], vec![1]]
    );
}

#[test]
fn marks_divide_a_piece_by_class() {
    let mark = |class| Event::Phase { task: 1, class, rate_permille: 1000, stall_permille: 0 };
    let history = history(
        1,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (30, mark(Avx512Heavy)),
            (70, mark(Scalar)),
            (90, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, _) = replay(&history, "nobody=scalar");
    assert_eq!(programs, [[work(30, Scalar), work(40, Avx512Heavy), work(20, Scalar)]]);
}

#[test]
fn task_that_ran_before_the_recording_counts_from_its_start() {
    let history = history(1, vec![(40, switch(0, 1, Blocked, 0))]);
    let (programs, _) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs, [[work(40, Avx512Heavy)]]);
}

#[test]
fn stolen_time_is_no_work() {
    let history = history(
        1,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (100, Event::Runtime { task: 1, ns: 60_000 }),
            (100, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, report) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs, [[work(60, Avx512Heavy)]]);
    assert_eq!(report.stolen_ns, 40_000);
}

#[test]
fn recording_without_classes_is_refused() {
    let history = history(1, vec![(40, switch(0, 1, Blocked, 0))]);
    let result = from_recording(&ruled(history, "other=avx512-heavy"), &OPTIONS);
    assert_eq!(result.unwrap_err(), ReplayError::NoClasses);
}

#[test]
fn recording_without_tasks_is_refused() {
    let result = from_recording(&ruled(history(0, vec![]), "*=avx512-heavy"), &OPTIONS);
    assert_eq!(result.unwrap_err(), ReplayError::Empty);
}

#[test]
fn applications_with_wide_instructions_are_the_background() {
    let history = history(
        2,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (0, switch(1, 0, Runnable, 2)),
            (50, switch(1, 2, Dead, 0)),
            (60, switch(0, 1, Dead, 0)),
        ],
    );
    let (workload, _) = from_recording(&ruled(history, "app2=avx2-heavy"), &OPTIONS).unwrap();
    let roles: Vec<_> = workload.applications.iter().map(|one| (one.role, one.class)).collect();
    assert_eq!(roles, [(Role::Foreground, Scalar), (Role::Background, Class::Avx2Heavy)]);
    let control = workload.scalar();
    assert!(control.applications.iter().all(|one| one.class == Scalar));
    assert_eq!(control.threads[1].program, [work(50, Scalar)]);
}

#[test]
fn other_number_of_cpus_keeps_whole_cores() {
    let mut history = history(1, vec![(40, switch(0, 1, Blocked, 0))]);
    history.header.threads_per_core = Some(2);
    history.header.cores_per_package = Some(1);
    let history = ruled(history, "task1=avx512-heavy");
    let mut options = OPTIONS;
    options.cpus = Some(6);
    let (workload, _) = from_recording(&history, &options).unwrap();
    assert_eq!((workload.machine.packages, workload.machine.cpus()), (3, 6));
    options.cpus = Some(0);
    assert_eq!(from_recording(&history, &options), Err(ReplayError::Cpus(0)));
}

/// Task 2 blocks, and task 1, running, wakes task 2.
fn one_wakes_two() -> History {
    history(
        2,
        vec![
            (0, switch(0, 0, Runnable, 1)),
            (0, switch(1, 0, Runnable, 2)),
            (50, switch(1, 2, Blocked, 0)),
            (200, wake(2, 1)),
            (210, switch(1, 0, Runnable, 2)),
            (300, switch(0, 1, Dead, 0)),
            (310, switch(1, 2, Dead, 0)),
        ],
    )
}

#[test]
fn a_wake_by_a_stranger_is_an_unclear_sleep_unless_interrupts_are_recorded() {
    let mut history = one_wakes_two();
    history.header.tasks[1].pid = Some(2);
    let (programs, report) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs[1], [work(50, Scalar), sleep(150), work(100, Scalar)]);
    assert_eq!((report.dependencies, report.sleeps, report.unclear), (0, 1, 1));
    history.header.facts.insert("interrupts".into(), "recorded".into());
    let (programs, report) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs[1], [work(50, Scalar), Step::Wait(0), work(100, Scalar)]);
    assert_eq!((report.dependencies, report.sleeps, report.unclear), (1, 0, 0));
}

#[test]
fn a_wake_by_a_thread_of_the_kernel_is_a_sleep() {
    let mut history = one_wakes_two();
    history.header.tasks[0].kernel = true;
    let (_, report) = replay(&history, "task2=avx512-heavy");
    assert_eq!((report.dependencies, report.sleeps, report.unclear), (0, 1, 0));
}

#[test]
fn recorded_frequencies_decide_how_much_work_was_done() {
    let frequency = |core, khz| Event::Frequency { core, khz };
    let mut history = history(
        1,
        vec![
            (0, switch(1, 0, Runnable, 1)),
            (100, frequency(1, 3 * KHZ)),
            (150, frequency(0, KHZ / 2)),
            (200, switch(1, 1, Runnable, 0)),
            (200, switch(0, 0, Runnable, 1)),
            (300, switch(0, 1, Dead, 0)),
        ],
    );
    let (programs, report) = replay(&history, "task1=avx512-heavy");
    // 100 us as assumed, 100 us three times as fast, and 100 us half as fast.
    assert_eq!(programs, [[work(450, Avx512Heavy)]]);
    assert_eq!((report.ran_ns, report.known_khz_ns), (300_000, 200_000));
    // Both are one core: the last frequency holds for both.
    history.header.threads_per_core = Some(2);
    history.records[1].event = frequency(0, 3 * KHZ);
    let (programs, _) = replay(&history, "task1=avx512-heavy");
    assert_eq!(programs, [[work(100 + 150 + 25 + 50, Avx512Heavy)]]);
}

#[test]
fn unbelievable_frequencies_are_not_counted() {
    let records = vec![
        (0, switch(0, 0, Runnable, 1)),
        (0, Event::Frequency { core: 0, khz: 0 }),
        (0, Event::Frequency { core: 0, khz: u32::MAX }),
        (100, switch(0, 1, Dead, 0)),
    ];
    let (programs, report) = replay(&history(1, records), "task1=avx512-heavy");
    assert_eq!((programs, report.known_khz_ns), (vec![vec![work(100, Avx512Heavy)]], 0));
}

#[test]
fn threads_of_the_kernel_stay_on_the_cpu_of_their_name() {
    let pinned = |comm: &str, kernel, cpus| {
        let mut history = one_wakes_two();
        history.header.tasks[0].comm = comm.to_owned();
        history.header.tasks[0].kernel = kernel;
        let history = ruled(history, "task2=avx512-heavy");
        let options = ReplayOptions { cpus, ..OPTIONS };
        let (workload, report) = from_recording(&history, &options).unwrap();
        let affinity = workload.threads[0].affinity.cpus.clone();
        assert_eq!(report.pinned, affinity.len() as u64);
        affinity
    };
    for comm in ["kworker/1:0", "kworker/1:2H-kblockd", "ksoftirqd/1", "migration/1", "cpuhp/1"] {
        assert_eq!(pinned(comm, true, None), [1], "{comm}");
    }
    for comm in ["kworker/u8:1", "kworker/R-rcu_g", "rcuop/1", "irq/1-nvme", "kworker/2:0"] {
        assert_eq!(pinned(comm, true, None), [0; 0], "{comm}");
    }
    assert_eq!(pinned("ksoftirqd/1", false, None), [0; 0], "a program may have any name");
    assert_eq!(pinned("ksoftirqd/1", true, Some(4)), [0; 0], "other CPUs");
}

fn any_event(tasks: u32) -> impl Strategy<Value = Event> {
    let task = 0..=tasks;
    let state = prop_oneof![Just(Runnable), Just(Blocked), Just(Blocked), Just(Dead)];
    let switches = (0..4u32, task.clone(), state, task.clone())
        .prop_map(|(cpu, prev, state, next)| switch(cpu, prev, state, next));
    let wakes = (task.clone(), task.clone()).prop_map(|(task, by)| wake(task, by));
    let forks = (task.clone(), task).prop_map(|(task, by)| Event::Fork { task, by });
    prop_oneof![4 => switches, 3 => wakes, 1 => forks]
}

proptest! {
    /// Even where switches contradict each other and tasks wake each other at random.
    #[test]
    fn no_recording_deadlocks(
        events in prop::collection::vec((0..50u64, any_event(6)), 1..200),
    ) {
        let mut now_us = 0;
        let mut timed = Vec::new();
        for (later_us, event) in events {
            now_us += later_us;
            timed.push((now_us, event));
        }
        let history = ruled(history(6, timed), "*=avx512-heavy");
        if let Ok((workload, report)) = from_recording(&history, &OPTIONS) {
            prop_assert_eq!(deadlock::find(&workload), None);
            let cycles = |step: &Step| match step {
                Step::Compute(work) => work.ref_cycles.mean,
                _ => 0,
            };
            let steps = workload.threads.iter().flat_map(|thread| &thread.program);
            let done: u64 = steps.map(cycles).sum();
            prop_assert_eq!(done, report.ran_ns * u64::from(KHZ) / 1_000_000);
        }
    }
}

#[test]
fn tasks_are_where_they_were_when_they_were_first_seen() {
    let moved = Event::Migrate { task: 3, from: 0, to: 1 };
    let records = vec![
        (50, switch(1, 1, Runnable, 2)),
        (60, moved),
        (70, wake(3, 0)),
        (80, Event::Fork { task: 4, by: 2 }),
        (90, wake(4, 2)),
        (100, switch(1, 2, Blocked, 3)),
        (120, switch(1, 3, Blocked, 4)),
        (140, switch(1, 4, Dead, 0)),
    ];
    let history = ruled(history(4, records), "task1=avx512-heavy");
    let was_on = |cpus| {
        let (workload, _) = from_recording(&history, &ReplayOptions { cpus, ..OPTIONS }).unwrap();
        workload.threads.iter().map(|thread| thread.was_on).collect::<Vec<_>>()
    };
    assert_eq!(was_on(None), [Some(1), Some(1), Some(0), None]);
    assert_eq!(was_on(Some(2)), [None; 4], "other CPUs");
}

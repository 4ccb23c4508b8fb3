use super::balance::{Attempt, Idle};
use super::group::Amount;
use super::{Choice, Discipline, Enqueue, PerCpu};
use crate::config::{CfsKernel, Config, EevdfKernel, Scheduler};
use crate::outcome::Outcome;
use crate::sched::eevdf::{self, Eevdf};
use crate::sched::{By, Wake};
use crate::task::Stop;
use crate::testing::{machine, scalar_work, skylake, sleeper, spinner, thread, workload};
use crate::world::World;
use scenarios::{Machine, Step, Thread, Workload};
use trace::Event;

const S: u64 = 1_000_000_000;
const CFS: Scheduler = Scheduler::Cfs(CfsKernel::V5_9);
const ALL: [Scheduler; 4] = [
    CFS,
    Scheduler::Cfs(CfsKernel::V6_1),
    Scheduler::Eevdf(EevdfKernel::V6_12),
    Scheduler::Eevdf(EevdfKernel::V6_18),
];

fn run(scheduler: &Scheduler, machine: Machine, threads: Vec<Thread>, hz: u32) -> Outcome {
    let mut config = Config::plain(scheduler.clone(), 20 * S);
    config.hz = hz;
    crate::run(&skylake(), &workload(machine, threads), &config).unwrap()
}

fn seconds(outcome: &Outcome, task: usize) -> f64 {
    outcome.tasks[task].cpu_time_ns as f64 / S as f64
}

#[test]
fn two_equal_spinners_share_a_cpu_equally() {
    for scheduler in &ALL {
        let threads = vec![spinner(0, &[0]), spinner(0, &[0])];
        let outcome = run(scheduler, machine(1, 4, 2), threads, 250);
        assert!((seconds(&outcome, 0) - 10.0).abs() < 0.05, "{scheduler:?}");
        assert_eq!(outcome.busy_ns, 20 * S);
    }
}

#[test]
fn nice_0_and_nice_5_share_as_1024_to_335() {
    for scheduler in &ALL {
        let threads = vec![spinner(0, &[0]), spinner(5, &[0])];
        let outcome = run(scheduler, machine(1, 4, 2), threads, 1000);
        let share = seconds(&outcome, 0) / seconds(&outcome, 1) / (1024.0 / 335.0);
        assert!((share - 1.0).abs() < 0.02, "{scheduler:?}: {share}");
    }
}

/// Slices end at the first tick at which they are used up.
#[test]
fn slices_are_as_long_as_documented() {
    let eevdf = Scheduler::Eevdf(EevdfKernel::V6_12);
    let cases = [
        // 24 ms over the tasks, 3 ms at least; a tick at its very end is too early.
        (CFS, 2, 1000, 13.0),
        (CFS, 4, 1000, 7.0),
        (CFS, 16, 1000, 4.0),
        (CFS, 2, 250, 16.0),
        (CFS, 4, 250, 8.0),
        // 2.8 ms whatever the number.
        (eevdf.clone(), 2, 1000, 3.0),
        (eevdf.clone(), 16, 1000, 3.0),
        (eevdf, 4, 250, 4.0),
    ];
    for (scheduler, tasks, hz, expected_ms) in cases {
        let threads = (0..tasks).map(|_| spinner(0, &[0])).collect();
        let outcome = run(&scheduler, machine(1, 4, 2), threads, hz);
        let slices: u64 = outcome.tasks.iter().map(|task| task.slices).sum();
        let mean_ms = 20_000.0 / slices as f64;
        let off = (mean_ms / expected_ms - 1.0).abs();
        assert!(off < 0.05, "{scheduler:?}, {tasks} tasks, HZ {hz}: {mean_ms} ms");
    }
}

#[test]
fn a_waking_task_finds_the_idle_cpu() {
    for scheduler in &ALL {
        let mut threads: Vec<_> = (0..3).map(|_| spinner(0, &[])).collect();
        threads.push(sleeper(2_000_000, 1_000_000, &[]));
        let outcome = run(scheduler, machine(1, 4, 1), threads, 250);
        let waited_ns = outcome.tasks[3].waited_ns;
        assert!(waited_ns < S / 100, "{scheduler:?}: {waited_ns}");
    }
}

/// CPU 1 is less loaded, and is the previous CPU of the sleeper.
#[test]
fn a_waker_that_promises_to_wait_has_the_woken_task_beside_it() {
    for scheduler in &ALL {
        let placed_on = |wake: Step| {
            let waker = thread(0, &[0], vec![scalar_work(50_000_000), wake, Step::Wait(1)]);
            let woken = thread(0, &[], vec![Step::Wait(0), scalar_work(1_000_000), Step::Wake(1)]);
            let late = Thread { arrival_ns: 1_000_000, ..spinner(5, &[1]) };
            let threads = vec![late, waker, woken];
            let workload = Workload { semaphores: 2, ..workload(machine(1, 2, 1), threads) };
            let config = Config { history: true, ..Config::plain(scheduler.clone(), S) };
            let history = crate::run(&skylake(), &workload, &config).unwrap().history.unwrap();
            history.records.iter().find_map(|record| match record.event {
                Event::Wake { task: 3, by: 2, cpu, .. } => Some(cpu),
                _ => None,
            })
        };
        assert_eq!(placed_on(Step::WakeSync(0)), Some(0), "{scheduler:?}");
        assert_eq!(placed_on(Step::Wake(0)), Some(1), "{scheduler:?}");
    }
}

/// A task that slept beside a spinner wakes up on the idle CPU that the interrupt hit.
#[test]
fn an_interrupt_on_an_idle_cpu_draws_the_task_there() {
    for scheduler in &ALL {
        let second = Step::Interrupt { after_ns: 1_000_000, cpu: 1 };
        let program = vec![scalar_work(1_000_000), second, scalar_work(1_000_000)];
        let late = Thread { arrival_ns: 500_000, ..spinner(0, &[0]) };
        let outcome = run(scheduler, machine(1, 2, 1), vec![thread(0, &[], program), late], 250);
        assert_eq!(outcome.tasks[0].migrations, 1, "{scheduler:?}");
        assert_eq!(outcome.tasks[0].waited_ns, 0, "{scheduler:?}");
    }
}

#[test]
fn a_forked_thread_begins_when_it_is_forked_and_on_an_idle_cpu() {
    for scheduler in &ALL {
        let parent =
            thread(0, &[], vec![scalar_work(50_000_000), Step::Fork(1), scalar_work(50_000_000)]);
        let child = thread(0, &[], vec![scalar_work(10_000_000)]);
        let outcome = run(scheduler, machine(1, 2, 1), vec![parent, child], 250);
        let [parent_ns, child_ns] = [0, 1].map(|task| outcome.tasks[task].completion_ns.unwrap());
        let share = child_ns as f64 / parent_ns as f64;
        assert!((share - 0.6).abs() < 0.01, "{scheduler:?}: {share}");
        assert!(outcome.tasks[1].waited_ns < 1000, "{scheduler:?}");
    }
}

/// A task beside a spinner begins another program, while CPU 1 idles or is as loaded.
#[test]
fn a_program_begins_on_the_cpu_that_would_be_idler() {
    for scheduler in &ALL {
        let migrations = |others: &[u32]| {
            let program = vec![scalar_work(10_000), Step::Exec, scalar_work(100_000_000)];
            let mut threads = vec![Thread { was_on: Some(0), ..thread(0, &[], program) }];
            threads.extend(others.iter().map(|&cpu| spinner(0, &[cpu])));
            // Before the first tick, with which balancing begins.
            let config = Config::plain(scheduler.clone(), 3_000_000);
            let outcome = crate::run(&skylake(), &workload(machine(1, 2, 1), threads), &config);
            outcome.unwrap().tasks[0].migrations
        };
        assert_eq!(migrations(&[]), 0, "{scheduler:?}: alone, the CPU of its own would be idle");
        assert_eq!(migrations(&[0]), 1, "{scheduler:?}");
        assert_eq!(migrations(&[1]), 0, "{scheduler:?}");
    }
}

#[test]
fn a_reader_that_comes_early_waits_for_the_message() {
    for scheduler in &ALL {
        let send = Step::Send { channel: 0, bytes: 100 };
        let writer = vec![scalar_work(50_000_000), send, scalar_work(50_000_000)];
        let receive = Step::Receive { channel: 0, bytes: 100 };
        let early = vec![scalar_work(1_000_000), receive, scalar_work(1_000_000)];
        let late = vec![scalar_work(70_000_000), receive, scalar_work(1_000_000)];
        for (reader, slices) in [(early, 2), (late, 1)] {
            let threads = vec![thread(0, &[0], writer.clone()), thread(0, &[1], reader)];
            let workload = Workload { channels: 1, ..workload(machine(1, 2, 1), threads) };
            let config = Config::plain(scheduler.clone(), S);
            let outcome = crate::run(&skylake(), &workload, &config).unwrap();
            assert_eq!(outcome.tasks[1].slices, slices, "{scheduler:?}");
        }
    }
}

#[test]
fn an_imbalance_is_evened_out() {
    for scheduler in &ALL {
        // Three that end hold CPU 1 while four arrive, most of them on CPU 0.
        let mut threads: Vec<_> =
            (0..3).map(|_| thread(0, &[1], vec![scalar_work(400_000_000)])).collect();
        for arrival in 1..=4 {
            threads.push(Thread { arrival_ns: arrival * 1_000_000, ..spinner(0, &[]) });
        }
        let outcome = run(scheduler, machine(1, 2, 1), threads, 250);
        assert!(outcome.idle_ns < S / 20, "{scheduler:?}: {} ns idle", outcome.idle_ns);
        for task in 3..7 {
            let got = seconds(&outcome, task);
            assert!((got - 9.8).abs() < 0.7, "{scheduler:?}, task {task}: {got} s");
        }
    }
}

/// The task that waits ran until 40 ms, too lately to be taken when CPU 1 goes idle at 40.2 ms.
#[test]
fn a_cpu_that_went_idle_is_balanced_at_one_of_the_next_ticks() {
    for scheduler in &ALL {
        let on_0 = || Thread { was_on: Some(0), ..spinner(0, &[]) };
        let model = skylake();
        let khz = u64::from(model.turbo.khz(model.turbo.row(2), 0));
        let short = thread(0, &[1], vec![scalar_work(402 * khz / 10)]);
        let threads = vec![on_0(), on_0(), short];
        let config = Config::plain(scheduler.clone(), S / 10);
        let workload = workload(machine(1, 2, 1), threads);
        let outcome = crate::run(&model, &workload, &config).unwrap();
        assert!(outcome.idle_ns < 9_000_000, "{scheduler:?}: {} ns", outcome.idle_ns);
    }
}

#[test]
fn a_task_from_before_the_run_continues_on_its_cpu() {
    for scheduler in &ALL {
        let runs = Thread { was_on: Some(1), ..spinner(0, &[]) };
        let sleeps = Thread { arrival_ns: 10_000_000, ..runs.clone() };
        let threads = vec![runs, Thread { was_on: Some(0), ..spinner(0, &[]) }, sleeps];
        let workload = workload(machine(1, 2, 1), threads);
        let config = Config { history: true, ..Config::plain(scheduler.clone(), 12_000_000) };
        let history = crate::run(&skylake(), &workload, &config).unwrap().history.unwrap();
        let placed = history.records.iter().filter_map(|record| match record.event {
            Event::Wake { task, cpu, .. } => Some((task, cpu)),
            _ => None,
        });
        assert_eq!(placed.collect::<Vec<_>>(), [(1, 1), (2, 0), (3, 1)], "{scheduler:?}");
    }
}

#[test]
fn pinned_tasks_stay_and_the_others_make_room() {
    for scheduler in &ALL {
        let mut threads: Vec<_> = (0..2).map(|_| spinner(0, &[0])).collect();
        threads.extend((0..2).map(|_| spinner(0, &[])));
        let outcome = run(scheduler, machine(1, 2, 1), threads, 250);
        assert_eq!(outcome.tasks[0].migrations + outcome.tasks[1].migrations, 0);
        for task in 0..4 {
            let got = seconds(&outcome, task);
            assert!((got - 10.0).abs() < 0.5, "{scheduler:?}, task {task}: {got} s");
        }
    }
}

#[test]
fn cores_fill_before_threads_and_no_cpu_idles_beside_a_crowded_one() {
    for scheduler in &ALL {
        let half = run(scheduler, machine(2, 4, 2), (0..8).map(|_| spinner(0, &[])).collect(), 250);
        let spread = half.tasks.iter().map(|task| task.ref_cycles).min().unwrap() as f64
            / half.tasks.iter().map(|task| task.ref_cycles).max().unwrap() as f64;
        assert!(spread > 0.95, "{scheduler:?}: two share a core, {spread}");
        let all: Vec<_> = (0..24).map(|_| spinner(0, &[])).collect();
        let outcome = run(scheduler, machine(2, 4, 2), all, 250);
        assert!(outcome.idle_ns < outcome.busy_ns / 1000, "{scheduler:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    for scheduler in &ALL {
        let threads = || {
            (0..12)
                .map(|i| sleeper(1_000_000 + 77_777 * i, 500_000 + 55_555 * i, &[]))
                .collect::<Vec<_>>()
        };
        let once = run(scheduler, machine(2, 2, 2), threads(), 250);
        let again = run(scheduler, machine(2, 2, 2), threads(), 250);
        assert_eq!(once.tasks, again.tasks);
        assert_eq!((once.events, once.migrations), (again.events, again.migrations));
    }
}

/// EEVDF of 6.18 on two CPUs, with spinners that are not queued yet.
fn with_eevdf(spinners: usize, test: impl FnOnce(&World, &mut PerCpu<Eevdf>)) {
    let threads = (0..spinners).map(|_| spinner(0, &[])).collect();
    let (model, workload) = (skylake(), workload(machine(1, 2, 1), threads));
    let config = Config::plain(Scheduler::Eevdf(EevdfKernel::V6_18), S);
    let world = World::new(&model, &workload, &config).unwrap();
    let order = Eevdf::new(&world, EevdfKernel::V6_18);
    let mut kernel = PerCpu::new(&world, eevdf::era(EevdfKernel::V6_18), order);
    test(&world, &mut kernel);
}

fn queue(kernel: &mut PerCpu<Eevdf>, world: &World, cpu: usize, task: usize) {
    kernel.add(world, cpu, task);
    kernel.discipline.enqueue(cpu, task, Enqueue::New);
}

#[test]
fn a_forked_task_may_wake_up_on_the_cpu_of_its_parent() {
    with_eevdf(2, |world, kernel| {
        // No other CPU is searched.
        kernel.scan[0] = 0;
        kernel.select(world, 0, Wake::New { by_cpu: Some(1) });
        queue(kernel, world, 0, 1);
        kernel.entities[0].cpu = 0;
        assert_eq!(kernel.select(world, 0, Wake::Woken(By::Timer)), 1);
    });
}

#[test]
fn a_waker_forgets_no_cpu() {
    with_eevdf(2, |world, kernel| {
        queue(kernel, world, 1, 1);
        kernel.queues[1].running = Some(1);
        kernel.select(world, 0, Wake::Woken(By::Task { cpu: 1, sync: false }));
        assert_eq!(kernel.entities[1].recent_cpu, 0);
    });
}

#[test]
fn an_ineligible_task_moves_to_a_busy_cpu_only_after_a_failure() {
    with_eevdf(3, |world, kernel| {
        queue(kernel, world, 0, 0);
        queue(kernel, world, 0, 1);
        let Choice::Run(first) = kernel.discipline.pick(0, 0) else { panic!("a task") };
        kernel.discipline.update(0, 2_000_000);
        let attempt = Attempt { cpu: 1, level: 0, idle: Idle::Busy };
        let stays =
            |kernel: &PerCpu<Eevdf>, task| kernel.stays_put(task, 0, attempt, Amount::Tasks(1));
        assert!(!stays(kernel, first), "no task is there");
        queue(kernel, world, 1, 2);
        assert!(stays(kernel, first) && !stays(kernel, 1 - first));
        kernel.paces[0][1].failed = 1;
        assert!(!stays(kernel, first));
    });
}

#[test]
fn a_task_that_sleeps_in_its_queue_is_no_work_to_be_taken() {
    with_eevdf(2, |world, kernel| {
        queue(kernel, world, 0, 0);
        queue(kernel, world, 0, 1);
        assert_eq!(kernel.takeable(0), 2);
        let Choice::Run(first) = kernel.discipline.pick(0, 0) else { panic!("a task") };
        kernel.queues[0].running = Some(first);
        kernel.entities[first].running = true;
        kernel.discipline.update(0, 2_000_000);
        kernel.note_stop(world, 0, first, Stop::Blocked);
        assert_eq!((kernel.queues[0].nr, kernel.takeable(0)), (2, 1));
        let attempt = Attempt { cpu: 1, level: 0, idle: Idle::Idles };
        assert!(kernel.stays_put(first, 0, attempt, Amount::Tasks(1)));
        assert!(!kernel.stays_put(first, 0, attempt, Amount::Load(1024)));
    });
}

//! Our own scheduler.

use scx_host::{Config, Faults, Host, TaskSpec, Topology, Waker, evenkeel, load_evenkeel};

use crate::machine::{Habit, Machine, Order, SPINS};

pub fn fair(topology: &Topology, config: &Config, faults: Faults) -> Host {
    load_evenkeel(&evenkeel(config, topology), config, topology.clone(), faults).unwrap()
}

fn machine(topology: &Topology) -> Machine {
    let host = fair(topology, &Config::default(), Faults::default());
    Machine::new(host, topology.cpus())
}

fn spec(name: &str, nice: i8, cpus: &[usize]) -> TaskSpec {
    TaskSpec {
        name: name.into(),
        nice,
        cpus: cpus.to_vec(),
        cpu: cpus.first().copied().unwrap_or(0),
        ..TaskSpec::default()
    }
}

#[test]
fn two_tasks_of_one_cpu_take_turns_of_a_slice() {
    let topology = Topology::regular(1, 1, 1);
    let mut machine = machine(&topology);
    for name in ["a", "b"] {
        assert!(machine.start(&spec(name, 0, &[]), SPINS));
    }
    machine.run(1_000_000_000);
    assert_eq!(machine.host.exit(), None);
    let [a, b] = [&machine.tasks[0], &machine.tasks[1]].map(|task| task.runtime_ns);
    assert_eq!(a + b, 1_000_000_000, "the CPU never idles");
    assert!(a.abs_diff(b) <= 16_000_000, "{a} {b}");
    // Slices are some milliseconds, and end at ticks of 1 ms.
    assert!((60..=170).contains(&machine.switches), "{}", machine.switches);
}

#[test]
fn cpu_time_follows_weights() {
    let topology = Topology::regular(1, 1, 1);
    let mut machine = machine(&topology);
    for nice in [0, 3, 6] {
        machine.start(&spec("spinner", nice, &[]), SPINS);
    }
    machine.run(20_000_000_000);
    let times: Vec<u64> = machine.tasks.iter().map(|task| task.runtime_ns).collect();
    let total = (1024 + 526 + 272) as f64;
    for (time, weight) in times.iter().zip([1024.0, 526.0, 272.0]) {
        let share = *time as f64 / 20e9;
        assert!((share - weight / total).abs() < 0.01, "{times:?}");
    }
}

#[test]
fn a_task_of_sched_idle_gets_what_its_weight_of_3_is_worth() {
    let topology = Topology::regular(1, 1, 1);
    let mut machine = machine(&topology);
    machine.start(&spec("spinner", 0, &[]), SPINS);
    machine.start(&TaskSpec { is_idle_policy: true, ..spec("idle", -20, &[]) }, SPINS);
    machine.run(20_000_000_000);
    let share = machine.tasks[1].runtime_ns as f64 / 20e9;
    // By weight 3 of 1027; and a slice of a tick whenever the task starves, after 7.5 s.
    assert!((0.001..0.006).contains(&share), "{share}");
}

#[test]
fn a_sleeper_interrupts_the_task_that_is_ahead() {
    let topology = Topology::regular(1, 1, 1);
    let mut machine = machine(&topology);
    machine.start(&spec("spinner", 0, &[]), SPINS);
    machine.start(&spec("sleeper", 0, &[]), Habit { computes_ns: 1_000_000, sleeps_ns: 9_000_000 });
    machine.run(5_000_000_000);
    let share = machine.tasks[1].runtime_ns as f64 / 5e9;
    assert!((0.09..0.105).contains(&share), "{share}");
    let waits_ns = &machine.tasks[1].waits_ns;
    let at_once = waits_ns.iter().filter(|&&wait_ns| wait_ns == 0).count();
    assert!(at_once * 10 > waits_ns.len() * 9, "{at_once} of {}", waits_ns.len());
}

/// A thread of the kernel preempts tasks when it wakes, unless its weight is less than theirs.
#[test]
fn a_kernel_thread_of_nice_19_interrupts_no_task_of_nice_0() {
    let topology = Topology::regular(1, 1, 1);
    let habit = Habit { computes_ns: 1_000_000, sleeps_ns: 99_000_000 };
    let waits_at_once = [0, 19].map(|nice| {
        let mut machine = machine(&topology);
        machine.start(&spec("spinner", 0, &[]), SPINS);
        let thread = TaskSpec { is_kernel: true, ..spec("khugepaged", nice, &[]) };
        machine.start(&thread, habit);
        machine.run(5_000_000_000);
        let waits_ns = &machine.tasks[1].waits_ns;
        let at_once = waits_ns.iter().filter(|&&wait_ns| wait_ns == 0).count();
        at_once as f64 / waits_ns.len() as f64
    });
    assert!(waits_at_once[0] > 0.9 && waits_at_once[1] < 0.1, "{waits_at_once:?}");
}

/// When a real-time task takes a CPU, tasks that may run on another CPU do not wait for that CPU.
#[test]
fn a_task_whose_cpu_a_real_time_task_takes_goes_on_elsewhere() {
    let topology = Topology::regular(1, 2, 1);
    let mut machine = machine(&topology);
    for name in ["a", "b"] {
        machine.start(&spec(name, 0, &[]), SPINS);
    }
    machine.run(100_000_000);
    machine.take_cpu(0);
    let before: Vec<u64> = machine.tasks.iter().map(|task| task.runtime_ns).collect();
    machine.run(1_000_000_000);
    let after = machine.tasks.iter().zip(before).map(|(task, ns)| task.runtime_ns - ns);
    let shares: Vec<f64> = after.map(|ns| ns as f64 / 1e9).collect();
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.02), "{shares:?}");
    machine.give_back_cpu();
    machine.run(100_000_000);
    assert!((0..2).all(|cpu| machine.host.current(cpu).is_some()));
}

#[test]
fn instances_on_many_threads_share_nothing() {
    let topology = Topology::regular(1, 2, 1);
    let histories: Vec<_> = std::thread::scope(|scope| {
        let run = || {
            let mut machine = machine(&topology);
            for name in ["a", "b", "c"] {
                machine.start(&spec(name, 0, &[]), SPINS);
            }
            machine.run(200_000_000);
            machine.history
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(histories[0].len() > 30);
    assert!(histories.iter().all(|history| *history == histories[0]));
}

#[test]
fn the_scheduler_is_told_why_it_ends() {
    let topology = Topology::regular(1, 1, 1);
    let mut machine = machine(&topology);
    machine.start(&spec("a", 0, &[]), SPINS);
    let exit = machine.host.unload();
    assert_eq!(exit.kind.reason(), "unregistered from user space");
    assert_eq!(machine.host.places_of(0), 1, "what ran goes on, under another class");
}

#[test]
fn a_dump_tells_of_caches_cpus_and_tasks() {
    let mut machine = machine(&Topology::regular(1, 2, 1));
    machine.start(&spec("a", 0, &[]), SPINS);
    machine.start(&spec("b", 0, &[]), SPINS);
    machine.start(&spec("c", 5, &[1]), SPINS);
    machine.run(50_000_000);
    assert_eq!(machine.host.dump(), "");
    // No task runs for twice the time of the watchdog.
    let late_ns = machine.now_ns + 2 * machine.host.watchdog_ns();
    machine.host.set_now(late_ns);
    machine.host.check_watchdog();
    let exit = machine.host.unload();
    assert_eq!(exit.kind.reason(), "runnable task stall", "{exit}");
    let dump = machine.host.dump();
    let has = |words: &str| assert!(dump.contains(words), "no `{words}` in\n{dump}");
    has("cache 0: 2 CPUs, 0 starved tasks queued, classes 1\n");
    has("cache 0, group 0: ");
    has(" queued for this CPU alone, ");
    has("virtual time ");
    has(", nice 5\n");
    assert_eq!(dump.matches("owes 0 us").count(), 3, "{dump}");
}

#[test]
fn a_seed_repeats_the_order_in_which_cpus_choose() {
    let topology = Topology::regular(1, 4, 1);
    let run = |seed| {
        let mut machine = machine(&topology);
        machine.order = Order::Seeded(seed);
        for number in 0..6 {
            let computes_ns = 500_000 * (1 + number % 3);
            let habit = Habit { computes_ns, sleeps_ns: 300_000 };
            machine.start(&spec("sleeper", 0, &[]), habit);
        }
        machine.run(300_000_000);
        machine.history
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// While a CPU goes offline, the starvation timer fires every 5 ms. Here `cpu_offline` is called
/// while the timer's callback, which does not know of that CPU yet, is about to start the timer
/// with the regular interval.
#[test]
fn a_cpu_that_goes_beside_the_timer_is_looked_after_soon() {
    let mut machine = machine(&Topology::regular(1, 2, 1));
    machine.start(&spec("a", 0, &[]), SPINS);
    let due_ns = machine.host.next_timer_ns().unwrap();
    machine.host.set_now(due_ns);
    machine.host.announce_offline_beside_timer(1);
    machine.host.fire_timers();
    let next_ns = machine.host.next_timer_ns().unwrap();
    assert!(next_ns <= due_ns + 5_000_000, "{next_ns} after {due_ns}");
}

/// A task wakes after a CPU has found none, and before that CPU is known to idle: the wake-up finds
/// no idle CPU, so the CPU has to look again.
#[test]
fn a_task_that_wakes_while_a_cpu_becomes_idle_runs_there() {
    let mut machine = machine(&Topology::regular(1, 2, 1));
    let habit = Habit { computes_ns: 1_000_000, sleeps_ns: 5_000_000 };
    machine.start(&spec("spins", 0, &[0]), SPINS);
    machine.start(&spec("sleeps", 0, &[]), habit);
    machine.start(&spec("leaves", 0, &[1]), SPINS);
    while machine.tasks[1].wakes_ns.is_none() || machine.host.current(1) != Some(2) {
        machine.step();
    }
    let runtime_ns = machine.runtime_ns(1);
    machine.host.block(1, runtime_ns);
    let waker = Waker { cpu: 0, is_fork: false, is_sync: false };
    let choice = machine.host.schedule_beside(1, runtime_ns, |host| _ = host.wake(1, waker));
    assert_eq!(choice.task, None);
    assert_eq!(machine.host.take_reschedules(), [1]);
    assert_eq!(machine.host.schedule(1, 0).task, Some(1));
}

/// Interrupt threads and audio are done within microseconds. A task that left its CPU at each of
/// their wake-ups would migrate thousands of times a second.
#[test]
fn a_task_stays_on_a_cpu_that_a_real_time_task_has_for_a_moment() {
    let mut machine = machine(&Topology::regular(1, 3, 1));
    machine.start(&spec("a", 0, &[]), SPINS);
    machine.run(100_000_000);
    let cpu = (0..3).find(|&cpu| machine.host.current(cpu).is_some()).unwrap();
    machine.take_cpu(cpu);
    machine.run(500_000);
    assert!((0..3).all(|cpu| machine.host.current(cpu).is_none()));
    machine.give_back_cpu();
    assert_eq!(machine.host.current(cpu), Some(0));
}

/// A thread of the kernel that was about to interrupt a task waits in the local DSQ of the CPU.
#[test]
fn every_task_of_the_local_queue_leaves_a_cpu_that_a_real_time_task_has_for_long() {
    let mut machine = machine(&Topology::regular(1, 2, 1));
    machine.start(&spec("a", 0, &[0]), SPINS);
    machine.start(&spec("b", 0, &[]), SPINS);
    machine.run(100_000_000);
    machine.released = Some(0);
    let habit = Habit { computes_ns: 200_000, sleeps_ns: 50_000_000 };
    let thread = TaskSpec { is_kernel: true, cpu: 0, ..spec("kworker", 0, &[]) };
    assert!(machine.start(&thread, habit));
    machine.take_cpu(0);
    machine.run(20_000_000);
    assert!(machine.tasks[2].runtime_ns > 0, "it waits for the real-time task");
}

/// Each CPU orders the tasks that are bound to that CPU by a virtual runtime of their own.
#[test]
fn a_task_that_is_bound_to_another_cpu_is_ordered_as_those_there() {
    let mut machine = machine(&Topology::regular(1, 2, 1));
    for name in ["x", "y"] {
        machine.start(&spec(name, 0, &[0]), SPINS);
    }
    machine.run(20_000_000_000);
    machine.start(&spec("z", 0, &[1]), SPINS);
    machine.run(1_000_000_000);
    machine.host.set_cpus(0, &[1], 0);
    machine.choose();
    let before: Vec<u64> = machine.tasks.iter().map(|task| task.runtime_ns).collect();
    machine.run(4_000_000_000);
    for task in [0, 2] {
        let share = (machine.tasks[task].runtime_ns - before[task]) as f64 / 4e9;
        assert!((share - 0.5).abs() < 0.02, "task {task} has {share}");
    }
}

/// The kernel changes the mask immediately, and the task stays on its CPU until migration is
/// enabled. Then the task waits in the queue of its set of CPUs, from which no other CPU takes
/// tasks.
#[test]
fn an_affinity_that_changes_while_a_task_may_not_migrate_is_obeyed_afterwards() {
    let mut machine = machine(&Topology::regular(1, 4, 1));
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        machine.start(&spec(name, 0, &[]), SPINS);
    }
    machine.run(50_000_000);
    let task = machine.host.current(2).unwrap();
    machine.host.set_migration_disabled(task, true);
    machine.host.set_cpus(task, &[2, 3], 0);
    machine.host.set_migration_disabled(task, false);
    machine.choose();
    for _ in 0..2_000 {
        machine.run(1_000_000);
        assert_eq!(machine.host.exit(), None);
        assert!((0..2).all(|cpu| machine.host.current(cpu) != Some(task)));
    }
}

/// Tasks of an affinity group wait in its queue, but the kernel calls no `dispatch` on a CPU that
/// is going offline: the scheduler has to move the tasks when the last CPU of the group goes.
#[test]
fn the_last_cpu_of_a_set_hands_its_tasks_on_when_it_goes_offline() {
    let mut machine = machine(&Topology::regular(1, 4, 1));
    for name in ["a", "b", "c", "d", "e"] {
        machine.start(&spec(name, 0, &[2, 3]), SPINS);
    }
    machine.start(&spec("f", 0, &[]), SPINS);
    machine.run(100_000_000);
    for cpu in [2, 3] {
        machine.host.take_offline(cpu);
        machine.choose();
        machine.run(50_000_000);
        assert!(machine.host.is_drained(cpu), "CPU {cpu} keeps tasks");
        machine.host.finish_offline(cpu);
    }
    let before: Vec<u64> = machine.tasks.iter().map(|task| task.runtime_ns).collect();
    machine.run(1_000_000_000);
    assert_eq!(machine.host.exit(), None);
    assert!(machine.tasks.iter().zip(before).all(|(task, before)| task.runtime_ns > before));
}

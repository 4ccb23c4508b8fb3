//! Upstream's `scx_simple` runs unchanged: this is a sched_ext host and not ours alone.
//!
//! Its source comes from Debian's packages, by the lab. Where they cannot be had the tests say so
//! and pass, except in CI.

use lab::Upstream;
use scx_host::{Faults, Host, Object, TaskSpec, Topology};

use crate::machine::{Habit, Machine, SPINS};

/// `SCX_SLICE_DFL`.
const SLICE_NS: u64 = 20_000_000;

fn scx_simple() -> Option<Object> {
    let upstream = match Upstream::get(&lab::cache()) {
        Ok(upstream) => upstream,
        Err(error) if std::env::var_os("CI").is_some() => panic!("no scx_simple: {error}"),
        Err(error) => {
            eprintln!("SKIPPED: upstream's scx_simple cannot be had: {error}");
            return None;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let source = upstream.source("scx_simple");
    Some(scx_host::compile(&source, &upstream.headers(), folder.path()).unwrap())
}

fn machine(object: &Object, topology: Topology) -> Machine {
    let cpus = topology.cpus();
    let mut host = Host::load(object, topology, Faults::default()).unwrap();
    host.attach().unwrap();
    Machine::new(host, cpus)
}

fn start(machine: &mut Machine, nice: i8, habit: Habit) {
    let spec = TaskSpec { name: "task".into(), nice, ..TaskSpec::default() };
    assert!(machine.start(&spec, habit));
}

#[test]
fn spinning_tasks_take_turns_of_its_slice() {
    let Some(object) = scx_simple() else { return };
    let mut machine = machine(&object, Topology::regular(1, 1, 1));
    for _ in 0..3 {
        start(&mut machine, 0, SPINS);
    }
    machine.run(3_000_000_000);
    assert_eq!(machine.host.exit(), None);
    assert!(machine.tasks.iter().all(|task| task.runtime_ns.abs_diff(1_000_000_000) <= SLICE_NS));
    assert!((148..=152).contains(&machine.switches), "{}", machine.switches);
}

#[test]
fn its_shares_follow_weights() {
    let Some(object) = scx_simple() else { return };
    let mut machine = machine(&object, Topology::regular(1, 1, 1));
    for task in 0..10 {
        start(&mut machine, if task < 5 { 0 } else { 3 }, SPINS);
    }
    machine.run(60_000_000_000);
    let sum_ns = |tasks: &[crate::machine::Task]| {
        tasks.iter().map(|task| task.runtime_ns).sum::<u64>() as f64
    };
    let share = sum_ns(&machine.tasks[..5]) / sum_ns(&machine.tasks[5..]);
    // 1024 and 526 of the kernel's table, as hundredths: 100 and 51.
    assert!((share - 100.0 / 51.0).abs() < 0.05, "{share}");
}

#[test]
fn two_tasks_of_one_cpu_take_turns_whatever_they_weigh() {
    let Some(object) = scx_simple() else { return };
    let mut machine = machine(&object, Topology::regular(1, 1, 1));
    for nice in [0, 10] {
        start(&mut machine, nice, SPINS);
    }
    machine.run(2_000_000_000);
    // `dispatch` takes the head of its queue, where the running task is not.
    let [a, b] = [0, 1].map(|task| machine.tasks[task].runtime_ns);
    assert!(a.abs_diff(b) <= SLICE_NS, "{a} {b}");
}

#[test]
fn its_count_of_local_queueing_is_that_of_wake_ups_on_idle_cpus() {
    let Some(object) = scx_simple() else { return };
    let mut machine = machine(&object, Topology::regular(1, 4, 1));
    start(&mut machine, 0, Habit { computes_ns: 1_000_000, sleeps_ns: 1_000_000 });
    machine.run(1_000_000_000);
    let of_all = |key| {
        let of_cpu = |cpu| machine.host.read("stats", key, cpu).unwrap();
        let counts = (0..4).map(|cpu| u64::from_ne_bytes(*of_cpu(cpu).first_chunk().unwrap()));
        counts.sum::<u64>()
    };
    let (local, global) = (of_all(0), of_all(1));
    assert!((499..=501).contains(&local), "{local}");
    assert_eq!(global, 0);
}

#[test]
fn in_order_of_arrival_it_gives_everyone_the_same() {
    let Some(mut object) = scx_simple() else { return };
    object.set_constant("fifo_sched", &[1]).unwrap();
    let mut machine = machine(&object, Topology::regular(1, 1, 1));
    for nice in [0, 10] {
        start(&mut machine, nice, SPINS);
    }
    machine.run(2_000_000_000);
    let [a, b] = [0, 1].map(|task| machine.tasks[task].runtime_ns);
    assert!(a.abs_diff(b) <= SLICE_NS, "{a} {b}");
    let exit = machine.host.unload();
    assert_eq!(exit.kind.reason(), "unregistered from user space");
}

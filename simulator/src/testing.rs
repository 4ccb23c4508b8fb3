//! CPUs and small workloads for tests.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{Application, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload};

/// The Xeon Gold 6130.
pub(crate) fn skylake() -> CpuModel {
    CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap()
}

/// A machine without a fixed turbo row.
pub(crate) fn machine(packages: u32, cores_per_package: u32, threads_per_core: u32) -> Machine {
    Machine { packages, cores_per_package, threads_per_core, turbo_cores: None, turbo: true }
}

/// Scalar work of a fixed amount.
pub(crate) fn scalar_work(ref_cycles: u64) -> Step {
    Step::Compute(Work {
        ref_cycles: Draw { mean: ref_cycles, spread: Spread::Fixed },
        class: Class::Scalar,
        rate_permille: 0,
        stall_permille: 0,
        integer: false,
        working_set_kib: 0,
    })
}

/// A thread with a program; on all CPUs if none is named.
pub(crate) fn thread(nice: i8, cpus: &[u32], program: Vec<Step>) -> Thread {
    Thread {
        application: 0,
        name: "thread".to_owned(),
        nice,
        affinity: CpuSet { cpus: cpus.to_vec() },
        arrival_ns: 0,
        was_on: None,
        stream: 0,
        enrolled: true,
        ruled_class: None,
        program,
    }
}

/// A thread that computes for ever.
pub(crate) fn spinner(nice: i8, cpus: &[u32]) -> Thread {
    thread(nice, cpus, vec![scalar_work(1_000_000_000), Step::Loop { to: 0, times: None }])
}

/// A thread that computes and sleeps in turn.
pub(crate) fn sleeper(ref_cycles: u64, sleep_ns: u64, cpus: &[u32]) -> Thread {
    let sleep = Step::Sleep(Draw { mean: sleep_ns, spread: Spread::Fixed });
    let again = Step::Loop { to: 0, times: None };
    thread(0, cpus, vec![scalar_work(ref_cycles), sleep, again])
}

/// The threads as one foreground application.
pub(crate) fn workload(machine: Machine, mut threads: Vec<Thread>) -> Workload {
    // Threads with one stream would have equal slices, and run in step.
    (0..).zip(&mut threads).for_each(|(stream, thread)| thread.stream = stream);
    let application = Application {
        name: "application".to_owned(),
        role: Role::Foreground,
        class: Class::Scalar,
    };
    Workload {
        machine,
        applications: vec![application],
        threads,
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    }
}

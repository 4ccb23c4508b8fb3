//! Small workloads on the Xeon Gold 6130, put together in code.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{Application, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload};
use simulator::{Compensation, Config, Newcomers, Operated, Operator, Outcome, Queues, Scheduler};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

pub fn skylake() -> CpuModel {
    CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap()
}

/// One package whose turbo row is that of all 16 cores.
pub fn machine(cores: u32, threads_per_core: u32) -> Machine {
    Machine {
        packages: 1,
        cores_per_package: cores,
        threads_per_core,
        turbo_cores: Some(16),
        turbo: true,
    }
}

pub fn empty(machine: Machine) -> Workload {
    Workload {
        machine,
        applications: Vec::new(),
        threads: Vec::new(),
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    }
}

/// Compute-bound work of so many reference ns.
pub fn work(class: Class, ns: u64) -> Work {
    let ref_khz = u64::from(skylake().turbo.ref_khz);
    Work {
        ref_cycles: Draw { mean: ns / 1000 * ref_khz / 1000, spread: Spread::Fixed },
        class,
        rate_permille: 1000,
        stall_permille: 0,
        integer: false,
        working_set_kib: 0,
    }
}

/// Steps of 1 ms of compute-bound work; `None`: without end.
pub fn saturating(class: Class, ms: Option<u64>) -> Vec<Step> {
    vec![Step::Compute(work(class, MS)), Step::Loop { to: 0, times: ms }]
}

/// Adds an application of `threads` equal threads.
pub fn add(workload: &mut Workload, role: Role, threads: u64, program: &[Step]) {
    let application = workload.applications.len() as u32;
    let class = Class::Scalar;
    workload.applications.push(Application { name: format!("app{application}"), role, class });
    for part in 0..threads {
        workload.threads.push(Thread {
            application,
            name: format!("app{application}/{part}"),
            nice: 0,
            affinity: CpuSet::default(),
            arrival_ns: 0,
            was_on: None,
            // Far apart by role, so that backgrounds can be swapped.
            stream: u64::from(application) << 32 | part,
            enrolled: true,
            ruled_class: None,
            program: program.to_vec(),
        });
    }
}

/// 16 + 16 threads on 32 CPUs: no task waits, so shares of time cannot move.
pub fn half_load(culprit: Class) -> Workload {
    let mut workload = empty(machine(16, 2));
    add(&mut workload, Role::Foreground, 16, &saturating(Class::Scalar, Some(1000)));
    add(&mut workload, Role::Background, 16, &saturating(culprit, None));
    workload
}

/// The same where none may leave its CPU: a victim and a culprit on each core, as when they arrive
/// in turn.
pub fn pinned_half_load(culprit: Class) -> Workload {
    let mut workload = half_load(culprit);
    for (index, thread) in workload.threads.iter_mut().enumerate() {
        thread.affinity.cpus = vec![(index as u32 % 16) * 2 + index as u32 / 16];
    }
    workload
}

/// Threads that sleep, threads that wait and threads that never do, on four cores.
pub fn busy(culprit: Class) -> Workload {
    let mut workload = empty(machine(4, 2));
    let sleep = Step::Sleep(Draw { mean: 700_000, spread: Spread::Uniform(500) });
    let sleeper =
        [Step::Compute(work(Class::Scalar, 2 * MS)), sleep, Step::Loop { to: 0, times: Some(100) }];
    add(&mut workload, Role::Foreground, 6, &sleeper);
    add(&mut workload, Role::Foreground, 3, &saturating(Class::Scalar, Some(300)));
    add(&mut workload, Role::Background, 6, &saturating(culprit, None));
    workload
}

pub fn fair(compensation: Compensation) -> Config {
    let scheduler = Scheduler::Fair {
        compensation,
        queues: Queues::Global,
        newcomers: compensation.newcomers(),
    };
    Config::plain(scheduler, 1000 * SECOND)
}

/// The same where every task is placed by one reading.
pub fn placed(compensation: Compensation, newcomers: Newcomers) -> Config {
    let scheduler = Scheduler::Fair { compensation, queues: Queues::Global, newcomers };
    Config { scheduler, ..fair(compensation) }
}

pub fn run(workload: &Workload, config: &Config) -> Outcome {
    let outcome = simulator::run(&skylake(), workload, config).unwrap();
    assert!(outcome.completed, "the foreground must end");
    outcome
}

/// Switches specialization at these times.
pub struct Switches(pub Vec<(u64, bool)>);

impl Operator for Switches {
    fn acts_ns(&self) -> Option<u64> {
        self.0.first().map(|&(at_ns, _)| at_ns)
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        machine.specialize(self.0.remove(0).1);
    }
}

/// A run in which specialization is switched at these times.
pub fn run_switched(workload: &Workload, config: &Config, switches: &[(u64, bool)]) -> Outcome {
    let mut operator = Switches(switches.to_vec());
    let outcome = simulator::run_operated(&skylake(), workload, config, &mut operator).unwrap();
    assert!(operator.0.is_empty());
    outcome
}

/// When the last thread of an application ended.
pub fn completion_ns(workload: &Workload, outcome: &Outcome, application: u32) -> u64 {
    let ends = workload.threads.iter().zip(&outcome.tasks);
    ends.filter(|(thread, _)| thread.application == application)
        .map(|(_, task)| task.completion_ns.unwrap())
        .max()
        .unwrap()
}

/// How much longer the first application takes beside `culprit` than beside the same
/// background without wide instructions, in percent.
pub fn slowdown_pct(build: impl Fn(Class) -> Workload, culprit: Class, config: &Config) -> f64 {
    let completion = |class| {
        let workload = build(class);
        completion_ns(&workload, &run(&workload, config), 0) as f64
    };
    100.0 * (completion(culprit) / completion(Class::Scalar) - 1.0)
}

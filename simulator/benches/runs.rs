//! The runs that the benchmarks time: scenario and synthetic loads, by scheduler.

use std::collections::BTreeMap;
use std::fmt;

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{
    Application, CpuSet, Draw, Machine, MachineDefaults, Role, Scenario, Spread, Step, Thread,
    Work, Workload,
};
use simulator::{
    CfsKernel, Compensation, Config, EevdfKernel, Outcome, Queues, RqSharing, Scheduler, SensorSet,
};

/// A load to run.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `ferret` of `parsec-x265` beside x265 with AVX-512.
    Ferret,
    /// Threads that never sleep; every fourth changes between scalar and AVX-512.
    Busy,
    /// The same with a sleep after each 2 ms.
    Sleepy,
}

/// A kind of load at a size.
#[derive(Clone, Copy)]
pub struct Load {
    pub kind: Kind,
    pub packages: u32,
    pub threads: u32,
    pub simulated_ns: u64,
}

const CORES: u32 = 16;
const SECOND: u64 = 1_000_000_000;

const fn load(kind: Kind, packages: u32, per_cpu: u32, simulated_ns: u64) -> Load {
    Load { kind, packages, threads: 2 * CORES * packages * per_cpu, simulated_ns }
}

pub const LOADS: [Load; 10] = [
    load(Kind::Busy, 1, 2, 20 * SECOND),
    load(Kind::Ferret, 1, 2, 2 * SECOND),
    load(Kind::Busy, 4, 2, 2 * SECOND),
    load(Kind::Busy, 16, 2, SECOND / 2),
    load(Kind::Busy, 32, 2, SECOND / 4),
    load(Kind::Busy, 32, 4, SECOND / 4),
    load(Kind::Sleepy, 1, 2, 2 * SECOND),
    load(Kind::Sleepy, 4, 2, SECOND),
    load(Kind::Sleepy, 16, 2, SECOND / 4),
    load(Kind::Sleepy, 32, 4, SECOND / 8),
];

impl Load {
    pub fn cpus(&self) -> u32 {
        2 * CORES * self.packages
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Ferret => "ferret",
            Kind::Busy => "busy",
            Kind::Sleepy => "sleepy",
        })
    }
}

pub fn schedulers() -> Vec<(String, Scheduler)> {
    let fair = |compensation: Compensation| Scheduler::Fair {
        compensation,
        queues: Queues::Global,
        newcomers: compensation.newcomers(),
    };
    [
        fair(Compensation::None),
        fair(Compensation::Isolation),
        Scheduler::Cfs(CfsKernel::V5_9),
        Scheduler::Eevdf(EevdfKernel::V6_12),
        Scheduler::Muqss { rq_sharing: RqSharing::Mc, interactive: true },
    ]
    .into_iter()
    .map(|scheduler| (scheduler.name().to_owned(), scheduler))
    .collect()
}

/// A run that only has to be started.
pub struct Prepared {
    cpu: CpuModel,
    workload: Workload,
    config: Config,
}

impl Prepared {
    pub fn run(&self) -> Outcome {
        simulator::run(&self.cpu, &self.workload, &self.config).unwrap()
    }
}

/// A load for a time, without history.
pub fn prepare(load: &Load, scheduler: Scheduler, simulated_ns: u64) -> Prepared {
    let cpu = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let workload = match load.kind {
        Kind::Ferret => ferret(&cpu),
        Kind::Busy => synthetic(load, &cpu, None),
        Kind::Sleepy => synthetic(load, &cpu, Some(500_000)),
    };
    assert_eq!(workload.machine.cpus(), load.cpus());
    let config = Config { sensors: SensorSet::D7, ..Config::plain(scheduler, simulated_ns) };
    Prepared { cpu, workload, config }
}

fn ferret(cpu: &CpuModel) -> Workload {
    let (name, text) = scenarios::by_name("parsec-x265").unwrap();
    let scenario = Scenario::parse(text, name).unwrap();
    let foreground = scenario.foreground_names().position(|name| name == "ferret");
    let background = scenario.background_names().position(|name| name == "avx512").unwrap();
    let case = scenario
        .cases()
        .into_iter()
        .find(|case| case.foreground == foreground && case.background == background)
        .unwrap();
    scenario.workload(case, None, &BTreeMap::new(), &MachineDefaults::from(cpu)).unwrap()
}

fn synthetic(load: &Load, cpu: &CpuModel, sleep_ns: Option<u64>) -> Workload {
    let piece = |class, us| {
        let mean = us * u64::from(cpu.turbo.ref_khz) / 1000;
        Step::Compute(Work {
            ref_cycles: Draw { mean, spread: Spread::Uniform(300) },
            class,
            rate_permille: 1000,
            stall_permille: 100,
            integer: false,
            working_set_kib: 256,
        })
    };
    let program = |index: u32| {
        let second = if index.is_multiple_of(4) { Class::Avx512Heavy } else { Class::Scalar };
        let mut program = vec![piece(Class::Scalar, 1000), piece(second, 1000)];
        program
            .extend(sleep_ns.map(|mean| Step::Sleep(Draw { mean, spread: Spread::Exponential })));
        program.push(Step::Loop { to: 0, times: None });
        program
    };
    let class = Class::Avx512Heavy;
    let threads = (0..load.threads).map(|index| Thread {
        application: 0,
        name: format!("thread/{index}"),
        nice: 0,
        affinity: CpuSet::default(),
        arrival_ns: 0,
        was_on: None,
        stream: index.into(),
        enrolled: true,
        ruled_class: None,
        program: program(index),
    });
    Workload {
        machine: Machine {
            packages: load.packages,
            cores_per_package: CORES,
            threads_per_core: 2,
            turbo_cores: None,
            turbo: true,
        },
        applications: vec![Application { name: "load".into(), role: Role::Foreground, class }],
        threads: threads.collect(),
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    }
}

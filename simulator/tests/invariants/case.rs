//! A random machine, configuration and seed, all decided by one number.

use cpu_model::{CpuModel, CpuTable, LicenseDomain, LicenseTable, TurboMode};
use scenarios::{Machine, Start, Workload};
use simulator::{
    CfsKernel, Compensation, Config, Costs, EevdfKernel, EvenParts, Newcomers, Outcome, PhaseEnd,
    Queues, RqSharing, Scheduler, SensorFaults, SensorSet, SimError, Specialization,
};

use crate::rng::Rng;
use crate::workload;

/// One run, ready to start.
#[derive(Clone)]
pub struct Case {
    pub cpu: CpuModel,
    pub workload: Workload,
    pub config: Config,
}

pub const SENSORS: [SensorSet; 5] =
    [SensorSet::D7, SensorSet::Xinuse, SensorSet::FpRetired, SensorSet::Rules, SensorSet::Truth];

const WITHOUT_REPAYMENT: EvenParts = EvenParts {
    without_matching: false,
    without_placing: false,
    without_swaps: false,
    without_repayment: true,
    without_forced_switch_out: false,
};

pub const COMPENSATIONS: [Compensation; 7] = [
    Compensation::None,
    Compensation::Relative,
    Compensation::Isolation,
    Compensation::Even(EvenParts::ALL),
    Compensation::Even(WITHOUT_REPAYMENT),
    Compensation::Cycles,
    Compensation::Energy,
];

impl Case {
    /// Case number `seed`.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let cpu = cpu(&mut rng);
        let machine = machine(&mut rng, &cpu);
        let workload = workload::random(&mut rng, machine, &cpu);
        let config = Config {
            scheduler: scheduler(seed, &mut rng),
            slice_factor: 1,
            sensors: rng.pick(&SENSORS),
            seed: rng.next(),
            costs: costs(&mut rng),
            smt_share_permille: rng.pick(&[500, 625, 625, 800, 1000]) as u32,
            believed_smt_share_permille: rng.pick(&[500, 625, 800, 1000]) as u32,
            private_licenses: false,
            adaptive_holds: false,
            steady_cores_permille: 0,
            hz: rng.pick(&[100, 250, 1000]),
            start: start(seed),
            limit_ns: rng.within(1, 4) * 25_000_000,
            events_max: u64::MAX,
            history: true,
            sensor_faults: SensorFaults {
                counter_noise_permille: rng.pick(&[0, 0, 20, 200, 1000]) as u32,
                evex_strings: rng.pick(&[false, false, false, true]),
                lazy_binding: seed.is_multiple_of(4),
                ..SensorFaults::default()
            },
        };
        Self { cpu, workload, config }
    }

    pub fn run(&self) -> Result<Outcome, SimError> {
        simulator::run(&self.cpu, &self.workload, &self.config)
    }

    pub fn with_compensation(&self, compensation: Compensation) -> Self {
        let (queues, newcomers) = match self.config.scheduler {
            Scheduler::Fair { queues, newcomers, .. } => (queues, newcomers),
            _ => (Queues::Global, Newcomers::Floor),
        };
        let scheduler = Scheduler::Fair { compensation, queues, newcomers };
        let mut case = self.clone();
        case.config.scheduler = scheduler;
        case
    }
}

/// One case in 8 has a warm-up.
fn start(seed: u64) -> Start {
    if seed % 8 == 5 {
        Start { arrival_window_ns: 5_000_000, warm_up_ns: 10_000_000 }
    } else {
        Start::default()
    }
}

/// Two to five levels, both domains, and a license that costs nothing.
fn cpu(rng: &mut Rng) -> CpuModel {
    let name = rng.pick(&[
        "xeon-gold-6130",
        "xeon-gold-6130",
        "xeon-silver-4108",
        "cascade-lake",
        "granite-rapids",
    ]);
    let turbo = if rng.once_in(5) { TurboMode::Off } else { TurboMode::On };
    let table = CpuTable::by_name(name).unwrap();
    let mut cpu = table.model(turbo).or_else(|_| table.model(TurboMode::On)).unwrap();
    if rng.once_in(4) {
        cpu.license_domain = LicenseDomain::Package;
    }
    if rng.once_in(8) {
        cpu.license = LicenseTable::free(cpu.license.levels);
    }
    cpu
}

fn machine(rng: &mut Rng, cpu: &CpuModel) -> Machine {
    Machine {
        packages: rng.pick(&[1, 1, 2, 3]),
        cores_per_package: rng.within(1, 8) as u32,
        threads_per_core: rng.within(1, 2) as u32,
        turbo_cores: rng.once_in(4).then(|| rng.within(1, cpu.cores_per_package.into()) as u32),
        turbo: true,
    }
}

/// Every second case is `fair`, which has most variants.
/// One case in 16 is first come, first served, one has core specialization of either kind, and one
/// in 32 has core scheduling.
fn scheduler(seed: u64, rng: &mut Rng) -> Scheduler {
    let compensation = rng.pick(&COMPENSATIONS);
    let fair = Scheduler::Fair {
        compensation,
        queues: rng.pick(&[Queues::Global, Queues::PerLlc]),
        newcomers: compensation.newcomers(),
    };
    let sharing = [RqSharing::None, RqSharing::Smt, RqSharing::Mc, RqSharing::All];
    let muqss = Scheduler::Muqss { rq_sharing: rng.pick(&sharing), interactive: !rng.once_in(3) };
    match rng.within(0, 7) {
        _ if seed % 16 == 15 => Scheduler::Fifo,
        _ if seed % 32 == 22 => Scheduler::CoreScheduling(CfsKernel::V5_9),
        _ if seed % 32 == 14 => Scheduler::Specialize(specialization(rng)),
        _ if seed % 32 == 30 => Scheduler::FairSpecialize(specialization(rng)),
        0 => Scheduler::Cfs(rng.pick(&[CfsKernel::V5_9, CfsKernel::V6_1])),
        1 => Scheduler::Eevdf(EevdfKernel::V6_12),
        2 => Scheduler::Eevdf(EevdfKernel::V6_18),
        3 => muqss,
        _ => fair,
    }
}

fn specialization(rng: &mut Rng) -> Specialization {
    let phase_ends = [PhaseEnd::SystemCall, PhaseEnd::Timeout, PhaseEnd::RenewedTimeout];
    Specialization {
        wide_cores: None,
        phase_end: rng.pick(&phase_ends),
        keeps_short_phases: !rng.once_in(3),
    }
}

fn costs(rng: &mut Rng) -> Costs {
    if rng.once_in(2) {
        return Costs::default();
    }
    Costs {
        switch_ns: rng.within(0, 3000),
        trap_ns: rng.within(0, 2000),
        migration_ns: rng.within(0, 10_000),
        migration_ns_per_kib: rng.within(0, 60),
        remote_package_factor: rng.within(1, 3),
        // An idle CPU that takes its time is no breach of work conservation.
        idle_exit_ns: 0,
    }
}

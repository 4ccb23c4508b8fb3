//! The variables of the search: a machine and kinds of threads in a few numbers, and the run that
//! they define.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{
    Application, CpuSet, Draw, Machine, Role, Spread, Start, Step, Thread, Work, Workload,
};
use simulator::{
    Compensation, Config, Costs, EvenParts, Outcome, Queues, Scheduler, SensorFaults, SensorSet,
};

use crate::rng::Rng;

pub const MS: u64 = 1_000_000;
pub const EVEN: Compensation = Compensation::Even(EvenParts::ALL);
const TABLES: [&str; 4] = ["xeon-gold-6130", "xeon-silver-4108", "cascade-lake", "granite-rapids"];
const SENSORS: [SensorSet; 5] =
    [SensorSet::D7, SensorSet::Truth, SensorSet::Rules, SensorSet::FpRetired, SensorSet::Xinuse];
const NICES: [i8; 6] = [0, 0, -5, 5, 2, -10];
const STALLS: [u32; 5] = [0, 0, 300, 900, 1000];
const KINDS_MAX: usize = 6;
const THREADS_MAX: u64 = 8;

/// One step of computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub class: Class,
    pub stall_permille: u32,
    /// Reference time.
    pub ns: u64,
}

/// Threads that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub threads: u32,
    pub nice: i8,
    /// First and last CPU, modulo the CPUs of the machine; `None`: all.
    pub on: Option<(u32, u32)>,
    pub arrival_ns: u64,
    /// Done in turn, again and again.
    pub pieces: [Piece; 2],
    /// Sleep after each piece; 0: none.
    pub sleep_ns: u64,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genome {
    pub table: usize,
    pub cores: u32,
    pub threads_per_core: u32,
    pub queues: Queues,
    pub hz: u32,
    pub sensors: SensorSet,
    pub smt_share_permille: u32,
    pub seed: u64,
    pub limit_ns: u64,
    pub kinds: Vec<Kind>,
}

impl Piece {
    fn random(rng: &mut Rng) -> Self {
        let class = rng.pick(&[Class::Scalar, Class::Scalar, Class::Avx2Heavy, Class::Avx512Heavy]);
        Self { class, stall_permille: rng.pick(&STALLS), ns: rng.scaled(20_000, 20 * MS) }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let fresh = Self::random(rng);
        match rng.within(0, 3) {
            0 => self.class = fresh.class,
            1 => self.stall_permille = fresh.stall_permille,
            2 => self.ns = fresh.ns,
            _ => self.ns = nudged(rng, self.ns, 1000, 40 * MS),
        }
    }
}

impl Kind {
    fn random(rng: &mut Rng) -> Self {
        let piece = Piece::random(rng);
        let other = if rng.once_in(3) { Piece::random(rng) } else { piece };
        Self {
            threads: rng.within(1, THREADS_MAX) as u32,
            nice: rng.pick(&NICES),
            on: rng.once_in(4).then(|| (rng.within(0, 7) as u32, rng.within(0, 7) as u32)),
            arrival_ns: if rng.once_in(4) { rng.within(0, 80 * MS) } else { 0 },
            pieces: [piece, other],
            sleep_ns: if rng.once_in(2) { rng.scaled(20_000, 20 * MS) } else { 0 },
        }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let fresh = Self::random(rng);
        match rng.within(0, 8) {
            0 => self.threads = fresh.threads,
            1 => self.nice = fresh.nice,
            2 => self.on = fresh.on,
            3 => self.arrival_ns = fresh.arrival_ns,
            4 => self.sleep_ns = fresh.sleep_ns,
            5 => self.sleep_ns = nudged(rng, self.sleep_ns, 0, 40 * MS),
            6 => self.pieces = fresh.pieces,
            _ => self.pieces[rng.within(0, 1) as usize].mutate(rng),
        }
    }
}

fn nudged(rng: &mut Rng, number: u64, least: u64, most: u64) -> u64 {
    (number * rng.within(700, 1400) / 1000).clamp(least, most)
}

impl Genome {
    pub fn random(rng: &mut Rng) -> Self {
        let kinds = rng.within(1, 4);
        Self {
            table: rng.pick(&[0, 0, 1, 2, 3]),
            cores: rng.within(1, 4) as u32,
            threads_per_core: rng.pick(&[1, 2, 2]),
            queues: rng.pick(&[Queues::Global, Queues::PerLlc]),
            hz: rng.pick(&[100, 250, 1000]),
            sensors: rng.pick(&SENSORS),
            smt_share_permille: rng.pick(&[500, 625, 625, 800]) as u32,
            seed: rng.next(),
            limit_ns: 150 * MS,
            kinds: (0..kinds).map(|_| Kind::random(rng)).collect(),
        }
    }

    /// The same with a thing or two changed.
    pub fn mutated(&self, rng: &mut Rng) -> Self {
        let mut child = self.clone();
        for _ in 0..rng.within(1, 3) {
            child.mutate(rng);
        }
        child
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let fresh = Self::random(rng);
        let one = rng.within(0, self.kinds.len() as u64 - 1) as usize;
        match rng.within(0, 15) {
            0 => self.table = fresh.table,
            1 => self.cores = fresh.cores,
            2 => self.threads_per_core = fresh.threads_per_core,
            3 => (self.queues, self.hz) = (fresh.queues, fresh.hz),
            4 => self.sensors = fresh.sensors,
            5 => self.smt_share_permille = fresh.smt_share_permille,
            6 => self.seed = fresh.seed,
            7 if self.kinds.len() < KINDS_MAX => self.kinds.push(fresh.kinds[0]),
            8 if self.kinds.len() > 1 => drop(self.kinds.remove(one)),
            _ => self.kinds[one].mutate(rng),
        }
    }

    /// No task sleeps, comes late or is bound to some CPUs.
    pub fn calm(mut self) -> Self {
        for kind in &mut self.kinds {
            (kind.on, kind.arrival_ns, kind.sleep_ns) = (None, 0, 0);
        }
        self
    }

    pub fn cpus(&self) -> u32 {
        self.cores * self.threads_per_core
    }

    pub fn cpu(&self) -> CpuModel {
        CpuTable::by_name(TABLES[self.table]).unwrap().model(TurboMode::On).unwrap()
    }

    pub fn config(&self, compensation: Compensation) -> Config {
        Config {
            scheduler: Scheduler::Fair {
                compensation,
                queues: self.queues,
                newcomers: compensation.newcomers(),
            },
            slice_factor: 1,
            sensors: self.sensors,
            sensor_faults: SensorFaults::default(),
            seed: self.seed,
            costs: Costs::default(),
            smt_share_permille: self.smt_share_permille,
            believed_smt_share_permille: self.smt_share_permille,
            private_licenses: false,
            adaptive_holds: false,
            steady_cores_permille: 0,
            hz: self.hz,
            start: Start::default(),
            limit_ns: self.limit_ns,
            events_max: u64::MAX,
            history: true,
        }
    }

    pub fn workload(&self, cpu: &CpuModel) -> Workload {
        let machine = Machine {
            packages: 1,
            cores_per_package: self.cores,
            threads_per_core: self.threads_per_core,
            turbo_cores: Some(16.min(cpu.cores_per_package)),
            turbo: true,
        };
        let mut threads = Vec::new();
        for kind in &self.kinds {
            for _ in 0..kind.threads {
                let index = threads.len();
                threads.push(self.thread(kind, index, cpu));
            }
        }
        let name = "all".to_owned();
        Workload {
            machine,
            applications: vec![Application { name, role: Role::Foreground, class: Class::Scalar }],
            threads,
            barriers: Vec::new(),
            locks: 0,
            semaphores: 0,
            channels: 0,
        }
    }

    fn thread(&self, kind: &Kind, index: usize, cpu: &CpuModel) -> Thread {
        let mut program = Vec::new();
        for piece in kind.pieces {
            program.push(Step::Compute(work(piece, cpu)));
            if kind.sleep_ns > 0 {
                let spread = Spread::Fixed;
                program.push(Step::Sleep(Draw { mean: kind.sleep_ns, spread }));
            }
        }
        program.push(Step::Loop { to: 0, times: None });
        let some = |(a, b): (u32, u32)| {
            let (a, b) = (a % self.cpus(), b % self.cpus());
            (a.min(b)..=a.max(b)).collect()
        };
        Thread {
            application: 0,
            name: format!("{index}"),
            nice: kind.nice,
            affinity: CpuSet { cpus: kind.on.map_or(Vec::new(), some) },
            arrival_ns: kind.arrival_ns,
            was_on: None,
            stream: index as u64,
            enrolled: true,
            ruled_class: None,
            program,
        }
    }

    pub fn run(&self, compensation: Compensation) -> (CpuModel, Workload, Outcome) {
        let cpu = self.cpu();
        let workload = self.workload(&cpu);
        let config = self.config(compensation);
        let outcome = simulator::run(&cpu, &workload, &config).unwrap();
        (cpu, workload, outcome)
    }
}

fn work(piece: Piece, cpu: &CpuModel) -> Work {
    let mean = piece.ns * u64::from(cpu.turbo.ref_khz) / 1_000_000;
    let class = if cpu.supports(piece.class) { piece.class } else { Class::Scalar };
    Work {
        ref_cycles: Draw { mean: mean.max(1), spread: Spread::Fixed },
        class,
        rate_permille: 1000,
        stall_permille: piece.stall_permille,
        integer: false,
        working_set_kib: 0,
    }
}

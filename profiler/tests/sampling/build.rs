//! Small workloads on the Xeon Gold 6130, and profiles of them.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use profiler::matrix::Matrix;
use profiler::{Method, Plan, Profile, simulated};
use scenarios::{Application, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload};
use simulator::{Config, Outcome, RqSharing, Scheduler};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

pub fn skylake() -> CpuModel {
    CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap()
}

/// Two cores of two threads, in the turbo row of 16 active cores.
pub fn two_cores() -> Workload {
    let machine = Machine {
        packages: 1,
        cores_per_package: 2,
        threads_per_core: 2,
        turbo_cores: Some(16),
        turbo: true,
    };
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

pub fn work(class: Class, rate_permille: u32, us: u64) -> Step {
    Step::Compute(Work {
        ref_cycles: Draw { mean: us * 2100, spread: Spread::Fixed },
        class,
        rate_permille,
        stall_permille: 200,
        integer: false,
        working_set_kib: 0,
    })
}

/// Adds an application of one thread that repeats its steps on a CPU; the foreground ends.
pub fn add(workload: &mut Workload, name: &str, cpu: u32, steps: &[Step], times: Option<u64>) {
    let application = workload.applications.len() as u32;
    let role = if times.is_some() { Role::Foreground } else { Role::Background };
    let class = Class::Scalar;
    workload.applications.push(Application { name: name.to_owned(), role, class });
    let mut program = steps.to_vec();
    program.push(Step::Loop { to: 0, times });
    workload.threads.push(Thread {
        application,
        name: name.to_owned(),
        nice: 0,
        affinity: CpuSet { cpus: vec![cpu] },
        arrival_ns: 0,
        was_on: None,
        stream: u64::from(application),
        enrolled: true,
        ruled_class: None,
        program,
    });
}

/// A scalar victim beside a culprit whose code is of that class and rate.
pub fn pair(class: Class, rate_permille: u32) -> Workload {
    let mut workload = two_cores();
    add(&mut workload, "victim", 0, &[work(Class::Scalar, 1000, 1000)], Some(2000));
    add(&mut workload, "culprit", 1, &[work(class, rate_permille, 1000)], None);
    workload
}

pub fn config() -> Config {
    let scheduler = Scheduler::Muqss { rq_sharing: RqSharing::Smt, interactive: true };
    Config::plain(scheduler, 100 * SECOND)
}

pub fn profile(workload: &Workload, plan: Plan) -> (Profile, Outcome) {
    simulated::profile(&skylake(), workload, &config(), Some(plan)).unwrap()
}

/// True overhead of an application in percent.
pub fn truth_pct(workload: &Workload, outcome: &Outcome, application: u32) -> f64 {
    let own = workload.threads.iter().zip(&outcome.tasks);
    let (time_ns, lost_ns) = own
        .filter(|(thread, _)| thread.application == application)
        .fold((0, 0), |sum, (_, task)| (sum.0 + task.cpu_time_ns, sum.1 + task.lost_ns));
    100.0 * (time_ns as f64 / (time_ns - lost_ns) as f64 - 1.0)
}

pub fn matrix(profile: &Profile) -> Matrix {
    Matrix::of_samples(profile, Method::Ours, 1)
}

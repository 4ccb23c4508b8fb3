//! Two saturating tasks or gangs: the effect of compensation has a closed form.
//!
//! With l = 1 - f_actual/f_ideal of the victim: without compensation the victim takes 1/(1-l)
//! times as long; with relative throughput (2-l)/(2(1-l)) times; with isolation as long
//! as without a culprit, since the victim gets the work of half the CPU.

use cpu_model::{Class, CpuModel, LEVELS_MAX, LicenseDomain};
use scenarios::{Role, Workload};
use simulator::{Compensation, Config, SensorSet};

use crate::build::{add, completion_ns, empty, fair, machine, saturating, skylake};

/// Row of 13 to 16 cores, which the machine is built for.
const ROW: usize = 4;

const TOLERANCE_PCT: f64 = 0.5;
const WORK_MS: u64 = 20_000;

/// One victim and one culprit a CPU, without a sibling.
fn pairs(cpus: u32, culprit: Class) -> Workload {
    let mut workload = empty(machine(cpus, 1));
    let victim = saturating(Class::Scalar, Some(WORK_MS));
    add(&mut workload, Role::Foreground, cpus.into(), &victim);
    add(&mut workload, Role::Background, cpus.into(), &saturating(culprit, None));
    workload
}

/// The victims' completion over that beside scalar code.
fn slowdown(cpu: &CpuModel, cpus: u32, config: &Config) -> f64 {
    let completion = |class| {
        let workload = pairs(cpus, class);
        let outcome = simulator::run(cpu, &workload, config).unwrap();
        completion_ns(&workload, &outcome, 0) as f64
    };
    completion(Class::Avx512Heavy) / completion(Class::Scalar)
}

fn check(cpu: &CpuModel, cpus: u32, l: f64) {
    let forms = [
        (Compensation::None, 1.0 / (1.0 - l)),
        (Compensation::Relative, (2.0 - l) / (2.0 * (1.0 - l))),
        (Compensation::Isolation, 1.0),
    ];
    for (compensation, expected) in forms {
        for sensors in [SensorSet::Truth, SensorSet::D7] {
            let config = Config { sensors, ..fair(compensation) };
            let slowdown = slowdown(cpu, cpus, &config);
            let off_pct = 100.0 * (slowdown - expected).abs();
            assert!(
                off_pct <= TOLERANCE_PCT,
                "{cpus} CPUs, {compensation:?}, {sensors:?}: {slowdown:.4}, not {expected:.4}"
            );
        }
    }
}

/// Slices of victim and culprit take turns: each of the victim's begins with the culprit's
/// level, for the hold, and with the halt at the end of the hold.
#[test]
fn one_pair_on_one_cpu_loses_the_hold_of_each_slice() {
    let cpu = skylake();
    let slice_ns = f64::from(6 << 20);
    let slow = 1.0 - f64::from(cpu.turbo.khz(ROW, 2)) / f64::from(cpu.turbo.khz(ROW, 0));
    let (hold_ns, halt_ns) = (cpu.license.hold_ns[2] as f64, f64::from(cpu.license.fall_halt_ns));
    check(&cpu, 1, (hold_ns * slow + halt_ns) / slice_ns);
}

/// On several CPUs slices come in any order; with a hold longer than any of them the loss
/// is the ratio of the frequencies, 32 %, for a single pair and for a gang.
#[test]
fn pairs_lose_all_of_the_difference_where_the_hold_never_ends() {
    let mut cpu = skylake();
    cpu.license.hold_ns = [u64::MAX / 2; LEVELS_MAX];
    let l = 1.0 - f64::from(cpu.turbo.khz(ROW, 2)) / f64::from(cpu.turbo.khz(ROW, 0));
    for cpus in [1, 2, 4] {
        check(&cpu, cpus, l);
    }
}

/// Half of the cores do not slow down: half of the victims lose nothing.
#[test]
fn no_task_loses_time_on_a_core_that_keeps_its_clock() {
    let lost_ns = |steady_cores_permille| {
        let config = Config { steady_cores_permille, ..fair(Compensation::None) };
        let workload = pairs(4, Class::Avx512Heavy);
        let outcome = simulator::run(&skylake(), &workload, &config).unwrap();
        outcome.tasks.iter().map(|task| task.lost_ns).sum::<u64>()
    };
    let [none, half, all] = [0, 500, 1000].map(lost_ns);
    let share = half as f64 / none as f64;
    assert!((0.3..0.7).contains(&share), "{share:.2} of the loss is left");
    assert_eq!(all, 0);
    let config = Config { steady_cores_permille: 1000, ..fair(Compensation::None) };
    assert_eq!(slowdown(&skylake(), 2, &config), 1.0);
}

#[test]
fn no_core_keeps_its_clock_where_all_share_a_license() {
    let mut cpu = skylake();
    cpu.license_domain = LicenseDomain::Package;
    let config = Config { steady_cores_permille: 1, ..fair(Compensation::None) };
    let error = simulator::run(&cpu, &pairs(2, Class::Scalar), &config).unwrap_err();
    assert!(error.to_string().contains("its cores share one license"), "{error}");
}

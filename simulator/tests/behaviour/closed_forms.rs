//! Two saturating tasks or gangs: what compensation gives can be written down.
//!
//! With l = 1 - f_actual/f_ideal of the victim: without compensation it takes 1/(1-l)
//! times as long; with relative throughput (2-l)/(2(1-l)) times; with isolation as long
//! as ever, for it gets the work of half the CPU.

use cpu_model::{Class, CpuModel, LEVELS_MAX};
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
/// level, for the hold, and with the halt that ends it.
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

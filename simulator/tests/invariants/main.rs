//! Invariants of every run, on random machines, workloads and configurations.
//!
//! Case number n is decided by n alone. A failure names the command that repeats it;
//! `EVENKEEL_CASES` asks for more cases than a run of all tests has time for.

mod case;
mod exports;
mod fingerprint;
mod golden;
mod licenses;
mod metamorphic;
mod outcome;
mod pauses;
mod planted;
mod replay;
mod rng;
mod workload;

use simulator::SensorFaults;
#[cfg(feature = "scx")]
use simulator::{EvenParts, KernelMode, Scheduler, SensorSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use case::Case;

/// Runs a check on cases 0 to `cases`, or on the one that `EVENKEEL_SEED` names.
fn for_each_case(test: &str, cases: u64, check: impl Fn(&Case) -> Result<(), String>) {
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
    };
    let seeds = match number("EVENKEEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("EVENKEEL_CASES").unwrap_or(cases),
    };
    for seed in seeds {
        let result = catch_unwind(AssertUnwindSafe(|| check(&Case::new(seed))));
        let wrong = match result {
            Ok(Ok(())) => continue,
            Ok(Err(wrong)) => wrong,
            Err(_) => "it panics".to_owned(),
        };
        panic!(
            "{wrong}\nrepeat: EVENKEEL_SEED={seed} cargo test -p simulator --test invariants \
             -- --exact {test}"
        );
    }
}

#[test]
fn the_books_of_every_run_agree_with_its_history() {
    for_each_case("the_books_of_every_run_agree_with_its_history", 2000, |case| {
        let outcome = case.run().map_err(|error| error.to_string())?;
        outcome::check(case, &outcome)
    });
}

/// Whatever its beliefs, the policy refunds no more time than passed.
#[test]
fn so_they_do_where_sensors_fail() {
    for_each_case("so_they_do_where_sensors_fail", 500, |case| {
        let mut case = case.clone();
        let draw = |bits: u32, of: u64| case.config.seed >> bits & of;
        let faults = SensorFaults {
            table_error_permille: [-100, 0, 100, 300][draw(0, 3) as usize],
            stall_error_permille: [-300, 0, 300, 1000][draw(2, 3) as usize],
            false_detections_permille: [0, 1, 50, 1000][draw(4, 3) as usize],
            deaf_cores_permille: [0, 250, 500, 1000][draw(6, 3) as usize],
            ..case.config.sensor_faults
        };
        case.config.sensor_faults = faults;
        let outcome = case.run().map_err(|error| error.to_string())?;
        outcome::check(&case, &outcome)?;
        let again = case.run().map_err(|error| error.to_string())?;
        let same = fingerprint::of(&again) == fingerprint::of(&outcome);
        if same { Ok(()) } else { Err("a second run differs".into()) }
    });
}

#[cfg(feature = "scx")]
#[test]
fn so_do_those_of_the_kernels_own_scheduler() {
    for_each_case("so_do_those_of_the_kernels_own_scheduler", 500, |case| {
        let mut case = case.clone();
        let even = KernelMode::Even(EvenParts::ALL);
        let modes = [KernelMode::Fair, KernelMode::Relative, KernelMode::Isolation, even, even];
        let mode = modes[(case.config.seed % 5) as usize];
        case.config.scheduler = Scheduler::Scx(mode);
        if mode != KernelMode::Fair && case.config.sensors == SensorSet::Truth {
            case.config.sensors = SensorSet::D7;
        }
        let outcome = case.run().map_err(|error| error.to_string())?;
        outcome::check(&case, &outcome)?;
        let again = case.run().map_err(|error| error.to_string())?;
        let same = fingerprint::of(&again) == fingerprint::of(&outcome);
        if same { Ok(()) } else { Err("a second run differs".into()) }
    });
}

//! How long tasks wait to begin once they wake, beside `fair`.
//!
//! A single run proves nothing: keeping levels apart makes some tasks wait and spares other tasks
//! a wait. So the claim is about all wake-ups of many runs together.

use cpu_model::{CpuTable, TurboMode};
use hdrhistogram::Histogram;
use scenarios::{MachineDefaults, Scenario};
use simulator::{Compensation, Config, EvenParts, Queues, SensorSet};
use std::collections::BTreeMap;

use crate::genome::MS;

/// Mixes whose wake-ups are counted, and for how long each runs.
const MIXES: u32 = 100;
const LIMIT_NS: u64 = 500 * MS;
/// Allowed excess over `fair`.
const MORE_PERMILLE: u64 = 100;

fn wake_ups(compensation: Compensation, background: &str, queues: Queues) -> Histogram<u64> {
    let cpu = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let mut all = Histogram::new_with_bounds(1, 100_000 * MS, 3).unwrap();
    for index in 1..=MIXES {
        let seed = scenarios::development_seed(index);
        let scenario = Scenario::parse(&scenarios::mix(seed), "mix").unwrap();
        let is_asked = |case: &scenarios::Case| {
            scenario.background_names().nth(case.background).unwrap() == background
        };
        for case in scenario.cases().into_iter().filter(is_asked) {
            let defaults = MachineDefaults::from(&cpu);
            let workload = scenario.workload(case, None, &BTreeMap::new(), &defaults).unwrap();
            let scheduler = simulator::Scheduler::Fair {
                compensation,
                queues,
                newcomers: compensation.newcomers(),
            };
            let config = Config { sensors: SensorSet::D7, ..Config::plain(scheduler, LIMIT_NS) };
            let outcome = simulator::run(&cpu, &workload, &config).unwrap();
            all.add(&outcome.wake_latency_ns).unwrap();
        }
    }
    all
}

#[test]
fn of_all_wake_ups_of_many_mixes_the_99th_percentile_is_at_most_a_tenth_above_that_of_fair() {
    let queues = Queues::Global;
    for background in ["avx2", "avx512"] {
        let fair = wake_ups(Compensation::None, background, queues);
        let even = wake_ups(Compensation::Even(EvenParts::ALL), background, queues);
        let p99 = |all: &Histogram<u64>| all.value_at_quantile(0.99);
        println!(
            "{background}: {} and {} wake-ups, p99 {} us and {} us, ratio {:.3}",
            fair.len(),
            even.len(),
            p99(&fair) / 1000,
            p99(&even) / 1000,
            p99(&even) as f64 / p99(&fair) as f64
        );
        assert!(fair.len().min(even.len()) > 10_000, "too few wake-ups to judge");
        assert!(p99(&even) * 1000 <= p99(&fair) * (1000 + MORE_PERMILLE), "{background}");
    }
}

//! Any text as a scenario; an accepted scenario becomes a workload for each of its cases.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use scenarios::{MachineDefaults, Scenario};

const MACHINE: MachineDefaults = MachineDefaults {
    ref_khz: 2_100_000,
    packages: 1,
    cores_per_package: 16,
    threads_per_core: 2,
};
/// Cases of a scenario that are put together.
const CASES: usize = 4;

fuzz_target!(|text: &str| {
    match Scenario::parse(text, "fuzzed.toml") {
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
        Ok(scenario) => {
            for case in scenario.cases().into_iter().take(CASES) {
                // A machine that is too small is refused; nothing else may be.
                let _ = scenario.workload(case, Some(0), &BTreeMap::new(), &MACHINE);
            }
        }
    }
});

//! Any text as a CPU table; an accepted table without missing values becomes a model.
#![no_main]

use cpu_model::{CpuTable, TurboMode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match CpuTable::parse(text, "fuzzed.toml") {
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
        Ok(table) => {
            for mode in [TurboMode::On, TurboMode::Off] {
                let _ = table.model(mode);
            }
            let _ = table.transitions();
        }
    }
});

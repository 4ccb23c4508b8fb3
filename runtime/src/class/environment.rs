//! What the environment says of wide tasks.

use std::env;
use std::io::{self, Write};

use super::{Placement, WideCpus};

impl Placement {
    /// What the environment says: `EVENKEEL_WIDE_CPUS` is a list or a file, `EVENKEEL_WIDE` names
    /// functions, with commas between.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty());
        let functions = given("EVENKEEL_WIDE");
        let Some(cpus) = given("EVENKEEL_WIDE_CPUS") else {
            if functions.is_some() {
                let line: &[u8] =
                    b"evenkeel: EVENKEEL_WIDE is ignored without EVENKEEL_WIDE_CPUS\n";
                // There is nobody to tell that standard error is closed.
                let _ = io::stderr().write_all(line);
            }
            return None;
        };
        let list = cpus.to_str().and_then(|text| text.parse().ok()).map(WideCpus::Cpus);
        let placement = Self::on(list.unwrap_or_else(|| WideCpus::File(cpus.into())));
        let names = functions.unwrap_or_default().to_string_lossy().into_owned();
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        Some(placement.functions(names.map(str::to_owned)))
    }
}

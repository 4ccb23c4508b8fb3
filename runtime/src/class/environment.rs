//! What the environment says of wide tasks.

use std::env;

use super::{Placement, WideCpus};
use crate::notice::tell;
use crate::topology::CpuList;

impl Placement {
    /// What the environment says: `EVENKEEL_WIDE_CPUS` is a list or a file, `EVENKEEL_WIDE` names
    /// functions, with commas between.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty());
        let functions = given("EVENKEEL_WIDE");
        let Some(cpus) = given("EVENKEEL_WIDE_CPUS") else {
            if functions.is_some() {
                tell("EVENKEEL_WIDE is ignored without EVENKEEL_WIDE_CPUS");
            }
            return None;
        };
        let list: Option<CpuList> = cpus.to_str().and_then(|text| text.parse().ok());
        if let Some(list) = &list {
            let allowed = CpuList::allowed();
            if !list.iter().any(|cpu| allowed.contains(cpu)) {
                tell("this process may run on none of EVENKEEL_WIDE_CPUS; wide tasks run anywhere");
            }
        }
        let cpus = list.map_or_else(|| WideCpus::File(cpus.into()), WideCpus::Cpus);
        let placement = Self::on(cpus);
        let names = functions.unwrap_or_default().to_string_lossy().into_owned();
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        Some(placement.functions(names.map(str::to_owned)))
    }
}

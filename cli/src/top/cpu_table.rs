//! Which CPU table is this machine's?

use anyhow::Result;
use cpu_model::{CpuModel, model_name};

use crate::machine;
use crate::profile::CpuOf;

/// The CPU that was asked for, or this machine's; `None`: no table that lacks nothing is of this
/// machine's CPU.
pub fn find(asked: Option<&str>, cpuinfo: &str) -> Result<Option<CpuModel>> {
    match asked {
        Some(name) => machine::model(name, true).map(Some),
        None => Ok(own(cpuinfo)),
    }
}

/// Whether a table is that of this machine's CPU.
pub fn is_own(cpu: &CpuModel, cpuinfo: &str) -> bool {
    own(cpuinfo).is_some_and(|own| own.name == cpu.name)
}

fn own(cpuinfo: &str) -> Option<CpuModel> {
    model_name(cpuinfo).and_then(machine::own_model)
}

/// Whether this machine's CPU has license levels, as far as its model name tells.
pub fn has_levels(cpuinfo: &str) -> bool {
    model_name(cpuinfo).is_none_or(|name| CpuOf::machine(name) != CpuOf::NoLevels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_model_name_unless_another_is_asked_for() {
        let cpuinfo = |name: &str| format!("processor\t: 0\nmodel name\t: {name}\n");
        let found = |asked, name: &str| find(asked, &cpuinfo(name)).unwrap().map(|cpu| cpu.name);
        let xeon = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";
        assert_eq!(found(None, xeon).as_deref(), Some("xeon-gold-6130"));
        assert_eq!(found(Some("xeon-silver-4108"), xeon).as_deref(), Some("xeon-silver-4108"));
        let incomplete = "Intel(R) Core(TM) i9-7940X CPU @ 3.10GHz";
        assert_eq!(found(None, incomplete), None);
        assert_eq!(found(None, "AMD EPYC 9B14 96-Core Processor"), None);
        assert!(find(Some("nonsense"), "").is_err());
        let is_own = |asked, name: &str| {
            let cpuinfo = cpuinfo(name);
            super::is_own(&find(asked, &cpuinfo).unwrap().unwrap(), &cpuinfo)
        };
        assert!(is_own(None, xeon) && is_own(Some("xeon-gold-6130"), xeon));
        assert!(!is_own(Some("xeon-gold-6130"), "AMD EPYC 9B14 96-Core Processor"));
        assert!(has_levels(&cpuinfo(xeon)) && has_levels(""));
        assert!(!has_levels(&cpuinfo("AMD EPYC 9B14 96-Core Processor")));
    }
}

//! Which microarchitecture is a CPU, so that the right event codes are used?

use serde::{Deserialize, Serialize};

use super::events::{Microarchitecture, Model};
use super::table::TABLE;

/// Every microarchitecture whose events are known.
#[must_use]
pub fn microarchitectures() -> &'static [Microarchitecture] {
    TABLE
}

/// What CPUID says of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuId {
    /// Whether Intel made the CPU: codes are of one vendor.
    pub is_intel: bool,
    /// CPU family.
    pub family: u32,
    /// Model.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
}

impl CpuId {
    /// Reads the first CPU of `/proc/cpuinfo`; `None` where a field is missing or no number.
    #[must_use]
    pub fn parse(cpuinfo: &str) -> Option<Self> {
        let value = |name: &str| {
            cpuinfo.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim())
            })
        };
        let number = |name: &str| value(name)?.parse().ok();
        Some(Self {
            is_intel: value("vendor_id")? == "GenuineIntel",
            family: number("cpu family")?,
            model: number("model")?,
            stepping: number("stepping")?,
        })
    }

    /// The microarchitecture; `None` where the events of this CPU are not known.
    #[must_use]
    pub fn microarchitecture(self) -> Option<&'static Microarchitecture> {
        let is_it = |model: &Model| {
            let (first, last) = model.steppings;
            model.number == self.model && (first..=last).contains(&self.stepping)
        };
        let fits = |cpu: &&Microarchitecture| {
            self.is_intel && cpu.family == self.family && cpu.models.iter().any(is_it)
        };
        TABLE.iter().find(fits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cpuinfo(vendor: &str, family: u32, model: u32, stepping: u32) -> String {
        format!(
            "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
             model name\t: a name\nstepping\t: {stepping}\n"
        )
    }

    #[test]
    fn the_stepping_separates_skylake_from_cascade_lake() {
        let of = |vendor: &str, family, model, stepping| {
            let id = CpuId::parse(&cpuinfo(vendor, family, model, stepping)).unwrap();
            id.microarchitecture().map(|cpu| cpu.abbreviation)
        };
        assert_eq!(of("GenuineIntel", 6, 0x55, 4), Some("SKX"));
        assert_eq!(of("GenuineIntel", 6, 0x55, 7), Some("CLX"));
        assert_eq!(of("GenuineIntel", 6, 0x6a, 6), Some("ICX"));
        assert_eq!(of("GenuineIntel", 6, 0xad, 1), Some("GNR"));
        assert_eq!(of("GenuineIntel", 15, 0x55, 4), None);
        assert_eq!(of("AuthenticAMD", 6, 0x55, 4), None);
        assert_eq!(of("AuthenticAMD", 25, 1, 1), None);
    }

    #[test]
    fn a_cpu_that_does_not_say_is_unknown() {
        assert_eq!(CpuId::parse(""), None);
        assert_eq!(CpuId::parse("vendor_id: GenuineIntel\ncpu family: six\n"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(?s).{0,200}") {
            let _ = CpuId::parse(&text);
        }

        #[test]
        fn any_numbers_are_looked_up(family: u32, model: u32, stepping: u32) {
            let id = CpuId { is_intel: true, family, model, stepping };
            let found = id.microarchitecture();
            prop_assert!(found.is_none() || family == 6);
        }
    }
}

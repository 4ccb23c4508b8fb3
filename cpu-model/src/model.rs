//! A CPU for the simulator: the checked, dense form of a CPU table.

use serde::Serialize;

use crate::{CLASSES, Class, Demand, LicenseTable, Turbo};

/// The part of the machine that shares one license.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LicenseDomain {
    /// Each core has its own (since Broadwell).
    Core,
    /// The whole package shares one (Haswell-EP).
    Package,
}

/// From which instruction rate on a class demands a level.
///
/// The rate counts instructions of the class per 1000 cycles, both siblings together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DemandRule {
    /// Class of the instructions.
    pub class: Class,
    /// Lowest rate the rule applies to, in instructions per 1000 cycles.
    pub rate_min_permille: u32,
    /// Level demanded.
    pub level: u8,
}

/// Cores of each package whose frequency is capped, the last ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowPriorityCores {
    /// How many of the [`CpuModel::cores_per_package`], fewer than all.
    pub cores_per_package: u32,
    /// Their frequencies, none above those of the other cores.
    pub turbo: Turbo,
}

/// A CPU whose table lacks nothing that a run needs.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuModel {
    /// Name of the table, such as `xeon-gold-6130`.
    pub name: String,
    /// Packages of the machine.
    pub packages: u32,
    /// Cores of a package.
    pub cores_per_package: u32,
    /// Hardware threads of a core, 1 or 2.
    pub threads_per_core: u32,
    /// Names of the levels, level 0 first.
    pub level_names: Vec<String>,
    /// The part of the machine that shares one license.
    pub license_domain: LicenseDomain,
    /// Frequencies, of the cores of high priority where priorities differ.
    pub turbo: Turbo,
    /// Cores of low priority; `None`: all cores are alike.
    pub low_priority: Option<LowPriorityCores>,
    /// Stages, halts and holds.
    pub license: LicenseTable,
    /// Rules by class, those of the highest rate first.
    pub demand: [Vec<DemandRule>; CLASSES],
}

impl CpuModel {
    /// The level that instructions of a class demand at a rate (both siblings together).
    #[must_use]
    pub fn level_demanded(&self, class: Class, rate_permille: u32) -> u8 {
        self.demand[class as usize]
            .iter()
            .find(|rule| rate_permille >= rule.rate_min_permille)
            .map_or(0, |rule| rule.level)
    }

    /// The demand of instructions of a class at a rate (both siblings together).
    #[must_use]
    pub fn demand_of(&self, class: Class, rate_permille: u32) -> Demand {
        Demand::new(self.level_demanded(class, rate_permille), class.width(), class.is_heavy())
    }

    /// Whether the CPU can execute instructions of a class.
    #[must_use]
    pub fn supports(&self, class: Class) -> bool {
        class == Class::Scalar || !self.demand[class as usize].is_empty()
    }

    /// Hardware threads of the machine.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.packages * self.cores_per_package * self.threads_per_core
    }

    /// Cost of a transition, in ns of an equivalent halt.
    #[must_use]
    pub fn transition_cost_ns(&self, from: u8, to: u8, heavy: bool, few: bool) -> u64 {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => self.license.fall_halt_ns.into(),
            std::cmp::Ordering::Less => self.license.rise[usize::from(from)][usize::from(to)]
                [usize::from(heavy)]
            .cost_ns(few),
        }
    }
}

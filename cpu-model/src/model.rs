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

    /// The level that instructions of a class demand on a core that runs these classes at these
    /// rates, its own among them: rates of the same class add up (D 3.2.1).
    #[must_use]
    pub fn level_beside(&self, class: Class, running: impl Iterator<Item = (Class, u32)>) -> u8 {
        let same = running.filter(|&(other, _)| other == class);
        self.level_demanded(class, same.map(|(_, rate_permille)| rate_permille).sum())
    }

    /// Whether the stages of a rise have their durations for few active cores of the package.
    #[must_use]
    pub fn is_few(&self, active_cores: u32) -> bool {
        active_cores <= self.license.few_cores
    }

    /// Break-even time of falling from a level to a lower one and of rising again with heavy
    /// instructions, at the frequencies for this number of active cores. `None` where both levels
    /// have the same frequency.
    #[must_use]
    pub fn break_even_ns(&self, active_cores: u32, level: u8, lower: u8) -> Option<u64> {
        let row = self.turbo.row(active_cores);
        let is_few = self.is_few(active_cores);
        let cost_ns = self.transition_cost_ns(lower, level, true, is_few)
            + self.transition_cost_ns(level, lower, true, is_few);
        break_even_ns(self.turbo.khz(row, lower), self.turbo.khz(row, level), cost_ns)
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

/// For how long a core runs at a lower frequency until it has lost as much as the changes to the
/// higher one and back cost: T = p_high T_overhead / (p_high - p_low) (D Eq. 5.2). `None` where the
/// frequencies are equal.
#[must_use]
pub fn break_even_ns(high_khz: u32, low_khz: u32, overhead_ns: u64) -> Option<u64> {
    let gained = high_khz.checked_sub(low_khz).filter(|&gained| gained > 0)?;
    Some((u128::from(high_khz) * u128::from(overhead_ns) / u128::from(gained)) as u64)
}

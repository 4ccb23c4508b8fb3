//! From a CPU table to the dense form that a run uses.

use super::{CpuTable, LowPriority};
use crate::{
    CLASSES, CpuModel, CpuTableError, LEVELS_MAX, LicenseDomain, LicenseTable, LowPriorityCores,
    ROWS_MAX, Stage, Turbo,
};

/// Whether the CPU may run above its base frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurboMode {
    /// Frequencies by active cores.
    #[default]
    On,
    /// Levels with a fixed frequency run at that frequency for any number of active cores; other
    /// levels keep their turbo rows, but are never faster than a faster level.
    Off,
}

impl CpuTable {
    /// The dense form of the table for a run.
    ///
    /// # Errors
    /// [`CpuTableError::Missing`] with the names of the values that no source gave.
    pub fn model(&self, turbo: TurboMode) -> Result<CpuModel, CpuTableError> {
        self.complete_model(turbo).ok_or_else(|| CpuTableError::Missing {
            cpu: self.name.clone(),
            values: self.missing_for(turbo),
        })
    }

    fn complete_model(&self, turbo: TurboMode) -> Option<CpuModel> {
        if !self.missing_for(turbo).is_empty() {
            return None;
        }
        let mut demand = [const { Vec::new() }; CLASSES];
        for rule in &self.demand.as_ref()?.rules {
            demand[rule.class as usize].push(*rule);
        }
        let turbo = self.dense_turbo(turbo)?;
        Some(CpuModel {
            name: self.name.clone(),
            packages: self.machine.packages?,
            cores_per_package: self.machine.cores?,
            threads_per_core: self.machine.threads?,
            level_names: self.levels.names.clone(),
            license_domain: self.domain()?,
            low_priority: self.low_priority.as_ref().map(|capped| capped.dense(&turbo)),
            turbo,
            license: self.dense_license()?,
            demand,
        })
    }

    fn domain(&self) -> Option<LicenseDomain> {
        self.license.as_ref()?.domain
    }

    fn dense_turbo(&self, mode: TurboMode) -> Option<Turbo> {
        let rows = &self.turbo.as_ref()?.rows;
        let fixed = match mode {
            TurboMode::On => &vec![None; self.levels.names.len()],
            TurboMode::Off => &self.turbo_off.as_ref()?.mhz,
        };
        let mut turbo = Turbo {
            ref_khz: self.machine.ref_mhz? * 1000,
            levels: self.levels.names.len() as u32,
            rows: rows.len() as u32,
            cores_max: [0; ROWS_MAX],
            khz: [[0; LEVELS_MAX]; ROWS_MAX],
        };
        for (i, row) in rows.iter().enumerate() {
            turbo.cores_max[i] = row.cores_max;
            let mut limit_khz = u32::MAX;
            for (level, mhz) in row.mhz.iter().enumerate() {
                limit_khz = limit_khz.min(fixed[level].or(*mhz)? * 1000);
                turbo.khz[i][level] = limit_khz;
            }
        }
        Some(turbo)
    }

    fn dense_license(&self) -> Option<LicenseTable> {
        let times = self.license.as_ref()?;
        let widen = self.widen.as_ref()?;
        let levels = self.levels.names.len();
        let mut license = LicenseTable::free(levels as u32);
        license.few_cores = times.few_cores;
        license.fall_halt_ns = times.fall_halt_ns.unwrap_or(0);
        license.width_hold_ns = widen.hold_ns.into();
        license.widen =
            Stage::new(widen.duration_ns, widen.duration_few_ns, widen.rate_permille, 0);
        for (level, hold_ns) in times.hold_ns.iter().enumerate().skip(1) {
            license.hold_ns[level] = u64::from((*hold_ns)?);
        }
        for to in 1..levels as u8 {
            for from in 0..to {
                for heavy in [false, true] {
                    license.rise[usize::from(from)][usize::from(to)][usize::from(heavy)] =
                        self.rise(from, to, heavy)?.dense(from);
                }
            }
        }
        Some(license)
    }
}

impl LowPriority {
    /// The cores with the frequencies of the others, capped.
    fn dense(&self, turbo: &Turbo) -> LowPriorityCores {
        let mut turbo = turbo.clone();
        for row in &mut turbo.khz[..turbo.rows as usize] {
            for (khz, mhz) in row.iter_mut().zip(&self.mhz) {
                *khz = (*khz).min(mhz * 1000);
            }
        }
        LowPriorityCores { cores_per_package: self.cores, turbo }
    }
}

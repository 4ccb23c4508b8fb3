//! For how long licenses are held: as the CPU's table says, or for their break-even times.

use cpu_model::{CpuModel, LicenseTable};

use crate::config::Config;

/// Longer than any run.
const NEVER_NS: u64 = u64::MAX / 2;

/// The holds of a CPU.
pub(crate) struct Holds<'a> {
    cpu: &'a CpuModel,
    /// By turbo row and by the level that is given up: tables whose holds are the break-even time
    /// of that level. Empty: the CPU's own.
    adaptive: Vec<Vec<LicenseTable>>,
}

impl<'a> Holds<'a> {
    pub(crate) fn new(cpu: &'a CpuModel, config: &Config) -> Self {
        let rows = if config.adaptive_holds { cpu.turbo.rows as usize } else { 0 };
        let of_row = |row: usize| {
            let of_level = |level| table(cpu, cpu.turbo.cores_max[row], level);
            (0..cpu.turbo.levels as u8).map(of_level).collect()
        };
        Self { cpu, adaptive: (0..rows).map(of_row).collect() }
    }

    /// Whether holds stand still while no task runs.
    pub(crate) fn stop_when_idle(&self) -> bool {
        !self.adaptive.is_empty()
    }

    /// The table that applies where a level is given up at a turbo row.
    pub(crate) fn table(&self, level: u8, turbo_row: usize) -> &LicenseTable {
        let row = self.adaptive.get(turbo_row);
        row.map_or(&self.cpu.license, |row| &row[usize::from(level)])
    }
}

fn table(cpu: &CpuModel, active_cores: u32, level: u8) -> LicenseTable {
    let mut table = cpu.license.clone();
    let hold_ns = cpu.break_even_ns(active_cores, level, 0).unwrap_or(NEVER_NS);
    table.hold_ns[1..].fill(hold_ns);
    table
}

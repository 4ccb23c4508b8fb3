//! Does a CPU lower its clock for wide instructions?

use cpu_model::{Class, CpuModel};

/// One instruction of the class in every cycle.
const FULL_RATE_PERMILLE: u32 = 1000;

/// Whether the instructions of any class lower the clock of a core of that CPU.
#[must_use]
pub fn is_affected(model: &CpuModel) -> bool {
    let rows = 0..model.turbo.rows as usize;
    let slower =
        |level| rows.clone().any(|row| model.turbo.khz(row, level) < model.turbo.khz(row, 0));
    let levels = Class::ALL.map(|class| model.level_demanded(class, FULL_RATE_PERMILLE));
    levels.into_iter().any(|level| level > 0 && slower(level))
}

#[cfg(test)]
mod tests {
    use cpu_model::{CpuTable, TurboMode};

    use super::*;

    #[test]
    fn a_cpu_is_affected_if_a_level_that_code_demands_is_slower() {
        let mut model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        assert!(is_affected(&model));
        for row in &mut model.turbo.khz {
            row.fill(2_100_000);
        }
        assert!(!is_affected(&model));
    }
}

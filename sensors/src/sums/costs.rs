//! What a level costs the tasks that do not demand it, by the CPU table.

use cpu_model::{CLASSES, Class, CpuModel, FULL_RATE_PERMILLE, LEVELS_MAX, Turbo};

/// The fraction 1 in Q30, `EK_ONE` of policy/include/evenkeel/fixed.h.
const ONE: u64 = 1 << 30;
/// Upper halves of ZMM0 to ZMM15, in XSTATE_BV (SDM, volume 1, section 13.1).
const ZMM_HI256: u64 = 1 << 6;
/// Tiles of AMX: their configuration and their data.
const TILES: u64 = 3 << 17;

/// How much slower than at its own level (first index) a task is at a higher one, in Q30.
pub(super) type Slower = [[u32; LEVELS_MAX]; LEVELS_MAX];

/// What a CPU table says about levels that registers show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// How long a core holds each level after the last demand.
    pub(super) hold_ns: [u64; LEVELS_MAX],
    /// State of registers that shows 512-bit code, and that shows tiles, in XSTATE_BV.
    pub(super) features: (u64, u64),
    /// Highest level of 512-bit classes, and of tiles.
    pub(super) wide_level: u8,
    pub(super) tile_level: u8,
    packages: u32,
    turbo: Turbo,
}

impl Costs {
    /// The states of registers that show 512-bit code and tiles.
    pub(super) const REGISTERS: (u64, u64) = (ZMM_HI256, TILES);

    /// The costs of a CPU; its cores of low priority are taken for cores like the others.
    #[must_use]
    pub fn new(cpu: &CpuModel) -> Self {
        let level_of = |class: Class| cpu.level_demanded(class, FULL_RATE_PERMILLE.into());
        let is_wide = |class: &Class| class.width() == 2 && *class != Class::Amx;
        let wide: [Class; CLASSES] = Class::ALL;
        Self {
            hold_ns: cpu.license.hold_ns,
            features: Self::REGISTERS,
            wide_level: wide.into_iter().filter(is_wide).map(level_of).max().unwrap_or(0),
            tile_level: level_of(Class::Amx),
            packages: cpu.packages.max(1),
            turbo: cpu.turbo.clone(),
        }
    }

    /// Takes other registers as signs of 512-bit code, in XSTATE_BV: a machine without such
    /// registers can be made to show what one with them would.
    #[must_use]
    pub fn with_wide_registers(self, features: u64) -> Self {
        Self { features: (features, self.features.1), ..self }
    }

    /// The turbo row where so many cores of the machine are active on average.
    pub(super) fn row(&self, active_cores: f64) -> usize {
        let of_package = (active_cores / f64::from(self.packages)).ceil();
        self.turbo.row((of_package as u32).max(1))
    }

    /// How much slower each level is in a turbo row: 1 - f_level / f_own, Eq. 7.3 of the
    /// dissertation without stalls.
    pub(super) fn slower(&self, row: usize) -> Slower {
        let khz = |level: usize| u64::from(self.turbo.khz(row, level as u8));
        let share = |own: usize, level: usize| {
            let lost_khz = khz(own).saturating_sub(khz(level));
            (lost_khz * ONE).checked_div(khz(own)).unwrap_or(0) as u32
        };
        let levels = self.turbo.levels as usize;
        std::array::from_fn(|own| {
            let of_level = |level| {
                if own < level && level < levels { share(own, level) } else { 0 }
            };
            std::array::from_fn(of_level)
        })
    }
}

#[cfg(test)]
mod tests {
    use cpu_model::{CpuTable, TurboMode};

    use super::*;

    fn costs(name: &str) -> Costs {
        let (_, text) = cpu_model::embedded().iter().find(|(table, _)| *table == name).unwrap();
        let table = CpuTable::parse(text, name).unwrap();
        Costs::new(&table.model(TurboMode::On).unwrap())
    }

    #[test]
    fn registers_show_the_highest_level_of_their_classes() {
        let levels = |costs: &Costs| (costs.wide_level, costs.tile_level);
        assert_eq!(levels(&costs("xeon-gold-6130")), (2, 0));
        assert_eq!(levels(&costs("granite-rapids")), (3, 4));
    }

    #[test]
    fn a_level_costs_the_share_by_which_its_clock_is_lower_in_the_turbo_row() {
        let costs = costs("xeon-gold-6130");
        assert_eq!([0.0, 2.0, 2.1, 16.0, 99.0].map(|active| costs.row(active)), [0, 0, 1, 4, 4]);
        let slower = costs.slower(4);
        // D Table 3.1: 2.8, 2.4 and 1.9 GHz with 16 active cores.
        assert_eq!(u64::from(slower[0][2]), 900 * ONE / 2800);
        assert_eq!(u64::from(slower[1][2]), 500 * ONE / 2400);
        assert_eq!([slower[2][2], slower[2][1], slower[0][3]], [0; 3]);
    }

    #[test]
    fn cores_that_are_active_are_spread_over_the_packages() {
        let costs = Costs { packages: 2, ..costs("xeon-gold-6130") };
        assert_eq!([4.0, 4.1].map(|active| costs.row(active)), [0, 1]);
    }
}

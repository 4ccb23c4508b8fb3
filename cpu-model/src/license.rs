//! The license state machine of one domain: a thin binding of `evenkeel/license.h`.

use crate::LEVELS_MAX;

/// Stages a rise may have; `EK_STAGES_MAX`.
pub const STAGES_MAX: usize = 6;
/// Full instruction rate; `EK_PERMILLE`.
pub const FULL_RATE_PERMILLE: u16 = 1000;

/// One stage of a rise: `struct ek_stage`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// How long the stage lasts.
    pub duration_ns: u32,
    /// How long while few cores are active.
    pub duration_few_ns: u32,
    /// Instruction rate: 0 halted, 250 a quarter.
    pub rate_permille: u16,
    /// Level whose frequency applies.
    pub level: u8,
    pad: u8,
}

impl Stage {
    /// A stage.
    #[must_use]
    pub fn new(duration_ns: u32, duration_few_ns: u32, rate_permille: u16, level: u8) -> Self {
        Self { duration_ns, duration_few_ns, rate_permille, level, pad: 0 }
    }

    /// Share of the stage's duration that is lost.
    #[must_use]
    pub fn lost_ns(&self, few: bool) -> u64 {
        let duration_ns = if few { self.duration_few_ns } else { self.duration_ns };
        let lost_permille = FULL_RATE_PERMILLE.saturating_sub(self.rate_permille);
        u64::from(duration_ns) * u64::from(lost_permille) / u64::from(FULL_RATE_PERMILLE)
    }
}

/// The stages from one level to a higher one: `struct ek_rise`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rise {
    stages: u32,
    stage: [Stage; STAGES_MAX],
}

impl Rise {
    /// A rise of at most [`STAGES_MAX`] stages.
    ///
    /// # Panics
    /// With more stages; the reader of CPU tables refuses them first.
    #[must_use]
    pub fn new(stages: &[Stage]) -> Self {
        let mut rise = Self { stages: u32::try_from(stages.len()).unwrap(), ..Self::default() };
        rise.stage[..stages.len()].copy_from_slice(stages);
        rise
    }

    /// The stages in order.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stage[..self.stages as usize]
    }

    /// Time lost, in ns of an equivalent halt.
    #[must_use]
    pub fn cost_ns(&self, few: bool) -> u64 {
        self.stages().iter().map(|stage| stage.lost_ns(few)).sum()
    }
}

/// The constants of a CPU for the state machine: `struct ek_license_table`.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LicenseTable {
    /// Levels in use.
    pub levels: u32,
    /// At most this many active cores is "few".
    pub few_cores: u32,
    /// Halt when the level falls.
    pub fall_halt_ns: u32,
    pad: u32,
    /// From the last demand for a level until the level may fall.
    pub hold_ns: [u64; LEVELS_MAX],
    /// From the last use of a register width until the width is powered down.
    pub width_hold_ns: u64,
    /// `[from][to][heavy]`.
    pub rise: [[[Rise; 2]; LEVELS_MAX]; LEVELS_MAX],
    /// Throttle when the register file widens without a change of level.
    pub widen: Stage,
}

impl LicenseTable {
    /// A machine of that many levels whose transitions cost nothing and hold nothing.
    #[must_use]
    pub fn free(levels: u32) -> Self {
        Self {
            levels,
            few_cores: 0,
            fall_halt_ns: 0,
            pad: 0,
            hold_ns: [0; LEVELS_MAX],
            width_hold_ns: 0,
            rise: [[[Rise::default(); 2]; LEVELS_MAX]; LEVELS_MAX],
            widen: Stage::default(),
        }
    }
}

/// The demand of the code running on a domain, all siblings together: `struct ek_demand`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// License level.
    pub level: u8,
    /// Register width: 0 = 128 bits, 1 = 256, 2 = 512 and tiles.
    pub width: u8,
    /// 1: heavy instructions.
    pub heavy: u8,
    pad: u8,
}

impl Demand {
    /// A demand.
    #[must_use]
    pub const fn new(level: u8, width: u8, heavy: bool) -> Self {
        Self { level, width, heavy: heavy as u8, pad: 0 }
    }
}

/// The effect of the license on its domain now: `struct ek_license_effect`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Level whose frequency applies.
    pub level: u8,
    pad: u8,
    /// Share of the normal instruction rate that gets through; 0 = halted.
    pub rate_permille: u16,
}

#[repr(C)]
#[derive(Clone, Debug)]
struct Raw {
    stage_ends_ns: u64,
    level_expires_ns: [u64; LEVELS_MAX],
    width_expires_ns: [u64; 3],
    demand: Demand,
    granted: u8,
    target: u8,
    width: u8,
    stage: u8,
    phase: u8,
    rise_from: u8,
    rise_heavy: u8,
    few: u8,
}

const _: () = assert!(size_of::<Raw>() == 96 && size_of::<LicenseTable>() == 5560);

unsafe extern "C" {
    fn ekc_license_init(s: *mut Raw);
    fn ekc_license_demand(
        s: *mut Raw,
        t: *const LicenseTable,
        demand: Demand,
        active_cores: u32,
        now_ns: u64,
    );
    fn ekc_license_advance(s: *mut Raw, t: *const LicenseTable, active_cores: u32, now_ns: u64);
    fn ekc_license_postpone(s: *mut Raw, passed_ns: u64);
    fn ekc_license_next_ns(s: *const Raw) -> u64;
    fn ekc_license_effect(s: *const Raw, t: *const LicenseTable) -> Effect;
}

/// The license of one domain.
#[derive(Clone, Debug)]
pub struct License(Raw);

impl Default for License {
    fn default() -> Self {
        Self::new()
    }
}

impl License {
    /// A domain on which nothing has run yet.
    #[must_use]
    pub fn new() -> Self {
        let mut raw = std::mem::MaybeUninit::uninit();
        // SAFETY: `raw` has the size of the struct, of which the function writes every field.
        unsafe {
            ekc_license_init(raw.as_mut_ptr());
            Self(raw.assume_init())
        }
    }

    /// The code that runs on the domain changed.
    pub fn demand(&mut self, table: &LicenseTable, demand: Demand, active_cores: u32, now_ns: u64) {
        // SAFETY: both references outlive the call; the function keeps neither.
        unsafe { ekc_license_demand(&raw mut self.0, table, demand, active_cores, now_ns) }
    }

    /// Ends the stage, transition or hold that is due; does nothing earlier.
    pub fn advance(&mut self, table: &LicenseTable, active_cores: u32, now_ns: u64) {
        // SAFETY: both references outlive the call; the function keeps neither.
        unsafe { ekc_license_advance(&raw mut self.0, table, active_cores, now_ns) }
    }

    /// All holds last longer by a time that has passed, as if their timers had stood still.
    pub fn postpone(&mut self, passed_ns: u64) {
        // SAFETY: the reference outlives the call; the function does not keep it.
        unsafe { ekc_license_postpone(&raw mut self.0, passed_ns) }
    }

    /// When [`Self::advance`] must be called next; `None`: not before a demand.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        // SAFETY: reads the struct behind a valid reference.
        let next_ns = unsafe { ekc_license_next_ns(&raw const self.0) };
        (next_ns != u64::MAX).then_some(next_ns)
    }

    /// Level and instruction rate that apply now.
    #[must_use]
    pub fn effect(&self, table: &LicenseTable) -> Effect {
        // SAFETY: reads both structs behind valid references.
        unsafe { ekc_license_effect(&raw const self.0, table) }
    }

    /// The level the domain has been granted; during a rise, the old one.
    #[must_use]
    pub fn granted(&self) -> u8 {
        self.0.granted
    }

    /// The level demanded now.
    #[must_use]
    pub fn demanded(&self) -> u8 {
        self.0.demand.level
    }

    /// Whether no transition is in progress.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.0.phase == 0
    }

    /// Whether the register file is being widened without a change of level.
    #[must_use]
    pub fn is_widening(&self) -> bool {
        const WIDENING: u8 = 3;
        self.0.phase == WIDENING
    }

    /// The level a transition in progress leads to, else the granted one.
    #[must_use]
    pub fn heading_for(&self) -> u8 {
        const RISING: u8 = 1;
        const FALLING: u8 = 2;
        if matches!(self.0.phase, RISING | FALLING) { self.0.target } else { self.0.granted }
    }
}

/// The machine on structs that hold anything: total, bounded, without a stuck clock.
#[cfg(test)]
mod tests {
    use proptest::array::{uniform3, uniform6};
    use proptest::prelude::*;

    use super::*;

    const TABLE_WORDS: usize = size_of::<LicenseTable>() / 8;

    /// A table of arbitrary bytes; `small` keeps half of the words near zero, where branches are.
    fn any_table() -> impl Strategy<Value = Box<LicenseTable>> {
        let word = prop_oneof![any::<u64>(), 0..10_000u64, Just(0), Just(u64::MAX)];
        proptest::collection::vec(word, TABLE_WORDS).prop_map(|words| {
            let words: Box<[u64; TABLE_WORDS]> = words.try_into().unwrap();
            // SAFETY: the table has the size and alignment of the array (asserted below) and
            // consists of integers alone, for which all bytes are valid.
            Box::new(unsafe { std::mem::transmute::<[u64; TABLE_WORDS], LicenseTable>(*words) })
        })
    }

    const _: () = assert!(size_of::<LicenseTable>() == 8 * TABLE_WORDS);

    fn any_time() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..10_000u64, Just(u64::MAX)]
    }

    fn any_byte() -> impl Strategy<Value = u8> {
        prop_oneof![any::<u8>(), 0..8u8]
    }

    prop_compose! {
        fn any_demand()(level in any_byte(), width in any_byte(), heavy in any_byte()) -> Demand {
            Demand { level, width, heavy, pad: 0 }
        }
    }

    prop_compose! {
        fn any_license()(
            stage_ends_ns in any_time(),
            level_expires_ns in uniform6(any_time()),
            width_expires_ns in uniform3(any_time()),
            demand in any_demand(),
            [granted, target, width, stage, phase, rise_from] in uniform6(any_byte()),
            rise_heavy in any_byte(),
            few in any_byte(),
        ) -> License {
            License(Raw {
                stage_ends_ns, level_expires_ns, width_expires_ns, demand, granted, target, width,
                stage, phase, rise_from, rise_heavy, few,
            })
        }
    }

    fn levels_in_use(table: &LicenseTable) -> u8 {
        if (1..=LEVELS_MAX as u32).contains(&table.levels) { table.levels as u8 } else { 1 }
    }

    proptest! {
        #[test]
        fn any_state_and_table_have_a_bounded_effect(
            license in any_license(),
            table in any_table(),
        ) {
            let effect = license.effect(&table);
            prop_assert!(effect.rate_permille <= FULL_RATE_PERMILLE);
            prop_assert!(effect.level < levels_in_use(&table));
        }

        #[test]
        fn any_state_finds_back_to_an_orderly_one(
            mut license in any_license(),
            table in any_table(),
            demand in any_demand(),
            active_cores in any::<u32>(),
            start_ns in 0..1_000_000u64,
        ) {
            let mut now_ns = start_ns;
            license.demand(&table, demand, active_cores, now_ns);
            // A stage of the old transition, the next fall or rise, and one fall for each level.
            for _ in 0..40 {
                let Some(next_ns) = license.next_ns() else { break };
                now_ns = now_ns.max(next_ns);
                license.advance(&table, active_cores, now_ns);
                prop_assert!(license.next_ns().is_none_or(|next_ns| next_ns > now_ns));
            }
            prop_assert_eq!(license.next_ns(), None);
            prop_assert!(license.demanded() < levels_in_use(&table));
        }
    }
}

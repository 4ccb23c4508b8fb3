//! Beliefs about levels on CPUs without license counters: `evenkeel/learned.h`, `belief.h`,
//! `infer.h`, `users.h`, `retired.h`.

use cpu_model::{LEVELS_MAX, Turbo};

use crate::{NO_TASK, Slice};

/// Until when a task is believed to demand each level: `struct ek_learned`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// In ns; entry 0 is not read.
    pub until_ns: [u64; LEVELS_MAX],
}

impl Learned {
    /// Notes evidence that the task demanded a level; 0 is none.
    pub fn learn(&mut self, level: u8, now_ns: u64) {
        ekp_learn(self, level.into(), now_ns);
    }

    /// A sensor that reads every slice saw the task demand `level`, and `before` in the previous
    /// slice; a level that both show counts for 0.1 s.
    pub fn learn_shown(&mut self, level: u8, before: u8, now_ns: u64) {
        ekp_learn_shown(self, level.into(), before.into(), now_ns);
    }

    /// The level that the task is believed to demand.
    #[must_use]
    pub fn level(&self, now_ns: u64) -> u8 {
        ekp_learned_level(self, now_ns) as u8
    }
}

/// Whether to force a switch-out of a task that has not left its CPU for `stayed_ns`, so that
/// its saved registers can be read.
#[must_use]
pub fn forces_switch_out(stayed_ns: u64) -> bool {
    ekp_forces_switch_out(stayed_ns) != 0
}

/// A time for each level: `struct ek_level_times`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelTimes {
    /// In ns.
    pub ns: [u64; LEVELS_MAX],
}

/// Which levels are believed in force on a core: `struct ek_belief`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Belief {
    /// Until when time is booked, in ns.
    pub since_ns: u64,
    /// Until when each level is held after its last demand, in ns.
    pub held_until_ns: [u64; LEVELS_MAX],
    /// Booked so far; entry 0 is not used.
    pub booked: LevelTimes,
    /// Running tasks that demand each level; entry 0 is not used.
    pub running: [u32; LEVELS_MAX],
}

impl Belief {
    /// From now on a hardware thread demands `to` instead of `from`; the hold of `from` begins.
    pub fn change(&mut self, hold: &LevelTimes, from: u8, to: u8, now_ns: u64) {
        ekp_belief_change(self, hold, from.into(), to.into(), now_ns);
    }

    /// Until when a level above 0 may be in force, in ns; `u64::MAX` while a task demands one.
    #[must_use]
    pub fn wide_until_ns(&self) -> u64 {
        ekp_belief_wide_until_ns(self)
    }

    /// Booked times since the reading `before`, `passed_ns` ago; level 0 gets the rest.
    #[must_use]
    pub fn since(&self, before: &LevelTimes, passed_ns: u64) -> LevelTimes {
        let mut since = LevelTimes::default();
        ekp_belief_since(&self.booked, before, passed_ns, &mut since);
        since
    }
}

/// Durations of the counted cycles above level 0 in a turbo row; level 0 gets the rest.
#[must_use]
pub fn counted_times(turbo: &Turbo, row: usize, slice: &Slice) -> LevelTimes {
    let mut times = LevelTimes::default();
    ekp_counted_times(turbo, row as u32, slice, &mut times);
    times
}

/// Fills in the values that counters would have shown: cycles by level, and all cycles and
/// reference cycles where they are 0.
pub fn infer(turbo: &Turbo, row: usize, believed: &LevelTimes, slice: &mut Slice) {
    ekp_infer(turbo, row as u32, believed, slice);
}

/// The last task of each level on a core: `struct ek_users`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users {
    /// [`NO_TASK`] where no task has yet; entry 0 is not used.
    pub last: [u32; LEVELS_MAX],
}

impl Default for Users {
    fn default() -> Self {
        Self { last: [NO_TASK; LEVELS_MAX] }
    }
}

impl Users {
    /// A task demanded a level, and so all lower ones.
    pub fn note(&mut self, level: u8, task: u32) {
        ekp_users_note(self, level.into(), task);
    }

    /// The culprit of a slice's cycles above the level of its own task, or [`NO_TASK`].
    #[must_use]
    pub fn above(&self, slice: &Slice, own_level: u8) -> u32 {
        ekp_users_above(self, slice, own_level.into())
    }
}

/// Widths whose instructions are counted: 256 and 512 bits.
pub const WIDTHS: usize = 2;

/// From which rate on instructions of a width demand each level: `struct ek_rates`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// In instructions a thousand cycles; `u32::MAX`: never.
    pub min_permille: [[u32; LEVELS_MAX]; WIDTHS],
}

/// `struct ek_retired`.
#[repr(C)]
struct Retired {
    wide: [u64; WIDTHS],
}

/// The level that so many wide floating-point instructions, by width, demanded.
#[must_use]
pub fn retired_level(rates: &Rates, wide: [u64; WIDTHS], cycles: u64) -> u8 {
    ekp_retired_level(rates, &Retired { wide }, cycles) as u8
}

const _: () = assert!(size_of::<Belief>() == 8 + 20 * LEVELS_MAX);
const _: () = assert!(size_of::<Users>() == 4 * LEVELS_MAX);

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_forces_switch_out(stayed_ns: u64) -> u32;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_learn(learned: &mut Learned, level: u32, now_ns: u64);
    safe fn ekp_learned_level(learned: &Learned, now_ns: u64) -> u32;
    safe fn ekp_belief_change(
        belief: &mut Belief,
        hold: &LevelTimes,
        from: u32,
        to: u32,
        now_ns: u64,
    );
    safe fn ekp_belief_wide_until_ns(belief: &Belief) -> u64;
    safe fn ekp_belief_since(
        booked: &LevelTimes,
        before: &LevelTimes,
        passed_ns: u64,
        since: &mut LevelTimes,
    );
    safe fn ekp_counted_times(turbo: &Turbo, row: u32, slice: &Slice, times: &mut LevelTimes);
    safe fn ekp_infer(turbo: &Turbo, row: u32, believed: &LevelTimes, slice: &mut Slice);
    safe fn ekp_users_note(users: &mut Users, level: u32, task: u32);
    safe fn ekp_users_above(users: &Users, slice: &Slice, own_level: u32) -> u32;
    safe fn ekp_retired_level(rates: &Rates, retired: &Retired, cycles: u64) -> u32;
    safe fn ekp_learn_shown(learned: &mut Learned, level: u32, before: u32, now_ns: u64);
}

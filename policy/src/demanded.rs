//! Which level a slice's own task demanded, by license counters: `evenkeel/demanded.h`.

use cpu_model::LEVELS_MAX;

use crate::LevelTimes;

/// A task that ran without a level for so long is cleared of that level: `EK_CLEARED_NS`.
pub const CLEARED_NS: u64 = 1_000_000;

/// Results of the tests of a task, by level: `struct ek_tests`; entries 0 are not used.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// CPU time without each level since the task was last suspected of that level, in ns.
    pub without_ns: [u64; LEVELS_MAX],
    /// Slices since then that may have demanded the level.
    pub hits: [u32; LEVELS_MAX],
}

/// The tasks on the other hardware threads of a core during a slice: `struct ek_sibling_levels`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiblingLevels {
    /// Whether any task ran; not 0 is yes.
    pub runs: u32,
    /// The highest level that some of these tasks is not cleared of.
    pub possible: u32,
    /// The highest level that some of these tasks is believed to demand.
    pub believed: u32,
}

impl SiblingLevels {
    /// Adds the tasks of another hardware thread.
    pub fn note(&mut self, other: &Self) {
        ekp_sibling_levels_note(self, other);
    }
}

/// The evidence of a slice about its task: `struct ek_demanded`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demanded {
    /// Level that the task demanded itself, by best knowledge.
    pub own_level: u32,
    /// Level that the slice proves of its task; 0: none.
    pub shown_level: u32,
}

impl Tests {
    /// The highest level that the task is not cleared of.
    #[must_use]
    pub fn possible_level(&self) -> u8 {
        ekp_possible_level(self) as u8
    }

    /// Judges a slice by its time `at` each level, of which `held_ns` may have been held from
    /// before; `believed` is its task's level until now.
    pub fn judge(
        &mut self,
        at: &LevelTimes,
        hold: &LevelTimes,
        held_ns: u64,
        siblings: &SiblingLevels,
        believed: u8,
    ) -> Demanded {
        let mut demanded = Demanded::default();
        ekp_demanded(at, hold, held_ns, siblings, believed.into(), self, &mut demanded);
        demanded
    }
}

const _: () = assert!(size_of::<Demanded>() == 8 && size_of::<SiblingLevels>() == 12);
const _: () = assert!(size_of::<Tests>() == 12 * LEVELS_MAX);

unsafe extern "C" {
    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_possible_level(tests: &Tests) -> u32;
    safe fn ekp_sibling_levels_note(siblings: &mut SiblingLevels, other: &SiblingLevels);
    safe fn ekp_demanded(
        at: &LevelTimes,
        hold: &LevelTimes,
        held_ns: u64,
        siblings: &SiblingLevels,
        believed: u32,
        tests: &mut Tests,
        demanded: &mut Demanded,
    );
}

//! A logical CPU during a run.

use cpu_model::LEVELS_MAX;

use crate::rate::{Known, Pace};
use crate::task::Slice;

/// A logical CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub running: Option<usize>,
    /// When the running task was last accounted.
    pub since_ns: u64,
    /// Until when the running task's progress is booked.
    pub booked_ns: u64,
    pub pace: Pace,
    /// The situation whose pace it is ([`crate::rate::Situation::key`]).
    pub pace_key: u64,
    /// Whether the timer of the step's end is right for this pace.
    pub is_armed: bool,
    /// The tasks that hold the level above that of the running task.
    pub culprits: Vec<u32>,
    /// Whether the operator holds the CPU in a loop of scalar instructions.
    pub is_paused: bool,
    /// Whether the CPU is to choose a task when the pause ends.
    pub must_choose: bool,
    /// How often the running task changed.
    pub switches: u64,
    /// Counts of pauses, and of slices that were accounted while an operator is present.
    pub counted: Counted,
}

impl Cpu {
    pub(crate) fn new() -> Self {
        Self {
            running: None,
            since_ns: 0,
            booked_ns: 0,
            pace: Pace::default(),
            pace_key: Known::NONE,
            is_armed: false,
            culprits: Vec::new(),
            is_paused: false,
            must_choose: false,
            switches: 0,
            counted: Counted::default(),
        }
    }

    /// Whether it executes instructions.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some() || self.is_paused
    }
}

/// Free-running counters of a CPU, in millionths of their unit: 64 bits would overflow after two
/// hours at 2.8 GHz.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub cycles_e6: u128,
    /// Time during which the counters ran.
    pub counted_ns: u64,
    pub level_cycles_e6: [u128; LEVELS_MAX],
    pub stall_cycles_e6: u128,
    pub throttled_cycles_e6: u128,
}

impl Counted {
    /// Adds a time at that pace.
    pub(crate) fn add_time(&mut self, pace: &Pace, time_ns: u64) {
        if pace.khz > 0 {
            let cycles_e6 = u128::from(pace.khz) * u128::from(time_ns);
            self.cycles_e6 += cycles_e6;
            self.counted_ns += time_ns;
            self.level_cycles_e6[usize::from(pace.level)] += cycles_e6;
            if pace.throttled {
                self.throttled_cycles_e6 += cycles_e6;
            }
        }
    }

    /// Adds the counts of a slice.
    pub(crate) fn add_slice(&mut self, slice: &Slice) {
        self.cycles_e6 += u128::from(slice.cycles_e6);
        self.counted_ns += slice.counted_ns;
        for (sum, cycles_e6) in self.level_cycles_e6.iter_mut().zip(slice.level_cycles_e6) {
            *sum += u128::from(cycles_e6);
        }
        self.stall_cycles_e6 += u128::from(slice.stall_cycles_e6);
        self.throttled_cycles_e6 += u128::from(slice.throttled_cycles_e6);
    }

    /// The counters as they read, beside a reference clock of that frequency.
    pub(crate) fn counts(&self, ref_khz: u32) -> policy::Slice {
        const E6: u128 = 1_000_000;
        policy::Slice {
            time_ns: self.counted_ns,
            cycles: (self.cycles_e6 / E6) as u64,
            ref_cycles: (u128::from(self.counted_ns) * u128::from(ref_khz) / E6) as u64,
            level_cycles: self.level_cycles_e6.map(|cycles_e6| (cycles_e6 / E6) as u64),
            stall_cycles: (self.stall_cycles_e6 / E6) as u64,
            first_row: 0,
        }
    }
}

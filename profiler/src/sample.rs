//! One sample: frequency and level beside other tasks, and the level alone.

use cpu_model::LEVELS_MAX;
use serde::{Deserialize, Serialize};

/// The measurements of one sample (D 4.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the beginning.
    pub time_ns: u64,
    /// The CPU.
    pub cpu: u32,
    /// The task on this CPU.
    pub task: u32,
    /// Cycles before the pause (step 1).
    pub cycles: u64,
    /// Reference cycles before the pause.
    pub ref_cycles: u64,
    /// Cycles before the pause by level in force.
    pub level_cycles: [u64; LEVELS_MAX],
    /// Cycles before the pause that waited for memory.
    pub stall_cycles: u64,
    /// Level in force when the task had run alone for a window (step 3).
    pub level_alone: u8,
    /// Whether the core was throttled or halted for a level, or had it, as soon as the task went on
    /// after the pause. Code that begins later in the window did not run before the pause.
    pub demands_immediately: bool,
    /// Level in force when all tasks of the core had run for a further window (step 5); `None`: not
    /// measured, or a sibling changed its task.
    pub level_beside: Option<u8>,
    /// Cycles while the task ran alone.
    pub alone_cycles: u64,
    /// Those of them that waited for memory.
    pub alone_stall_cycles: u64,
    /// For how long the task was paused.
    pub paused_ns: u64,
}

/// How samples ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Samples with a result.
    pub taken: u64,
    /// The CPU was idle.
    pub idle: u64,
    /// Another task ran before the sample ended.
    pub switched: u64,
    /// The level had not fallen at the end of the longest pause.
    pub held: u64,
    /// No cycle was counted while frequency or level were measured.
    pub halted: u64,
    /// Pauses that had to be extended.
    pub extended: u64,
    /// Sum over samples of the time for which the core was paused.
    pub paused_ns: u64,
    /// The CPU had been idle shortly before, and its clock may still have been rising.
    pub after_idle: u64,
}

impl Tally {
    /// Adds the counts of another profile.
    pub fn add(&mut self, other: &Self) {
        self.taken += other.taken;
        self.idle += other.idle;
        self.switched += other.switched;
        self.held += other.held;
        self.halted += other.halted;
        self.extended += other.extended;
        self.paused_ns += other.paused_ns;
        self.after_idle += other.after_idle;
    }
}

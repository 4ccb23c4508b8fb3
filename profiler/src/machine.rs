//! The interface between the profiler and a machine.

use cpu_model::LEVELS_MAX;

/// A machine whose CPUs can be read and paused.
pub trait Machine {
    /// The running task and the counters of a CPU.
    fn read(&mut self, cpu: u32) -> Reading;

    /// From now on the CPU executes nothing but scalar instructions of the profiler.
    fn pause(&mut self, cpu: u32);

    /// The CPU goes on with its task.
    fn resume(&mut self, cpu: u32);
}

/// The running task and the counters of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The task that runs or is paused on the CPU.
    pub task: Option<u32>,
    /// A number that changes whenever the running task does.
    pub switches: u64,
    /// Free-running counts. They stand still while the CPU is idle or halted.
    pub counts: policy::Slice,
    /// Of the cycles, those throttled because a higher level was requested and not granted yet.
    pub throttled_cycles: u64,
}

impl Reading {
    /// The counts since an earlier reading of the same CPU.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> policy::Slice {
        let (now, then) = (&self.counts, &earlier.counts);
        let level_cycles = std::array::from_fn(|level| {
            now.level_cycles[level].saturating_sub(then.level_cycles[level])
        });
        policy::Slice {
            time_ns: now.time_ns.saturating_sub(then.time_ns),
            cycles: now.cycles.saturating_sub(then.cycles),
            ref_cycles: now.ref_cycles.saturating_sub(then.ref_cycles),
            level_cycles,
            stall_cycles: now.stall_cycles.saturating_sub(then.stall_cycles),
            first_row: 0,
        }
    }

    /// Whether a higher level was pending for most of the time since an earlier reading.
    #[must_use]
    pub fn is_pending(&self, earlier: &Self) -> bool {
        let throttled = self.throttled_cycles.saturating_sub(earlier.throttled_cycles);
        2 * throttled > self.counts.cycles.saturating_sub(earlier.counts.cycles)
    }

    /// Whether the same task has run without a switch since an earlier reading.
    #[must_use]
    pub fn is_same_run(&self, earlier: &Self) -> bool {
        self.task == earlier.task && self.switches == earlier.switches
    }
}

/// The level at which most of a slice's cycles ran; `None`: no cycle was counted.
#[must_use]
pub fn main_level(counts: &policy::Slice) -> Option<u8> {
    main_level_of(&counts.level_cycles)
}

/// The same for cycles by level.
pub(crate) fn main_level_of(level_cycles: &[u64; LEVELS_MAX]) -> Option<u8> {
    // Of equal counts the lower level.
    let key = |&(level, &cycles): &(usize, &u64)| (cycles, std::cmp::Reverse(level));
    let most = level_cycles.iter().enumerate().max_by_key(key);
    most.filter(|&(_, &cycles)| cycles > 0).map(|(level, _)| level as u8)
}

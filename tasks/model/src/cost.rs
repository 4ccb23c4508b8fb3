//! The cost of steps, in picoseconds. Every cost is a parameter; results are only as good as these.

/// Costs of one machine. See docs/decisions/0024 for the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Instructions of the runtime before each step that is charged. Our choice, such that one
    /// worker costs about as much as in reality.
    pub code_ps: u64,
    /// A load or store of a line that is here: level 1 is 4 to 5 cycles away, partly hidden.
    pub hit_ps: u64,
    /// An atomic read-modify-write or a full fence on a line that is here: about 20 cycles at
    /// 3 GHz. Our choice.
    pub atomic_ps: u64,
    /// A line from a CPU of the same NUMA domain: 48 ns on Cascade Lake, 51 ns on Ice Lake.
    pub near_ps: u64,
    /// From another domain: 134 and 136 ns on Cascade Lake, 108 ns on Ice Lake.
    pub far_ps: u64,
    /// How soon the next CPU may read a line that several have. Our choice.
    pub share_ps: u64,
    /// A line that no CPU has: the 81 ns of local memory on Cascade Lake.
    pub memory_ps: u64,
    /// `PAUSE`: about 140 cycles since Skylake (Intel's optimization manual), at 3 GHz.
    pub pause_ps: u64,
    /// A system call that does nothing. Our choice.
    pub call_ps: u64,
    /// Cost to the waker of waking a sleeper. Our choice.
    pub wake_ps: u64,
    /// Time from the wake-up until the sleeper runs. Our choice; deep idle states take longer.
    pub woken_ps: u64,
    /// membarrier(2) without the interrupts. Our choice.
    pub membarrier_ps: u64,
    /// For each CPU that the call interrupts. Our choice.
    pub interrupt_each_ps: u64,
    /// Loss of the interrupted CPU. Our choice.
    pub interrupted_ps: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            code_ps: 700,
            hit_ps: 700,
            atomic_ps: 7_000,
            near_ps: 50_000,
            far_ps: 130_000,
            share_ps: 5_000,
            memory_ps: 80_000,
            pause_ps: 45_000,
            call_ps: 300_000,
            wake_ps: 1_500_000,
            woken_ps: 5_000_000,
            membarrier_ps: 1_500_000,
            interrupt_each_ps: 50_000,
            interrupted_ps: 1_000_000,
        }
    }
}

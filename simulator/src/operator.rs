//! A person or program beside a run: reads counters, pauses CPUs, switches core specialization.

use policy::Slice;

/// Acts on a run from outside, at times of its choice.
pub trait Operator {
    /// The simulated time of the next action; `None`: no more.
    fn acts_ns(&self) -> Option<u64>;

    /// Acts.
    fn act(&mut self, machine: &mut dyn Operated);

    /// A CPU goes over to another task, which was runnable without a CPU for so long, or to none.
    fn switched(&mut self, _now_ns: u64, _cpu: u32, _task: Option<u32>, _waited_ns: u64) {}

    /// A task was accounted: it left its CPU, or its slice ended and it goes on.
    fn slice_ended(&mut self, _slice: &SliceCounts) {}
}

/// What an operator can see of a running machine, and do to it.
pub trait Operated {
    /// The simulated time.
    fn now_ns(&self) -> u64;

    /// The reference cycles that all tasks have done so far.
    fn ref_cycles_done(&mut self) -> u64;

    /// What runs on a CPU, and its counters: exact, without the limits of a sensor.
    fn read(&mut self, cpu: u32) -> Reading;

    /// From now on the CPU spins in scalar instructions: its task makes no progress and is charged
    /// nothing, and the CPU chooses no other task. As with interrupts off, or with a spinning
    /// thread of real-time priority.
    fn pause(&mut self, cpu: u32);

    /// Ends the pause of a CPU.
    fn resume(&mut self, cpu: u32);

    /// Switches core specialization; a run under a scheduler without it ends with an error.
    fn specialize(&mut self, is_on: bool);
}

/// What runs on a CPU, and its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The task that runs or is paused there, an index into `Workload::threads`.
    pub task: Option<u32>,
    /// How often the running task changed so far.
    pub switches: u64,
    /// Counts since the beginning of the run. They stand still while the CPU is idle or halted.
    pub counts: Slice,
    /// Of its cycles, those throttled by a transition.
    pub throttled_cycles: u64,
}

/// A slice of a task: the time on a CPU since it came or was last accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceCounts {
    /// The task, an index into `Workload::threads`.
    pub task: u32,
    /// Where.
    pub cpu: u32,
    /// When it began.
    pub began_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
    /// Time runnable without a CPU before the slice.
    pub waited_ns: u64,
    /// Its CPU time, without pauses, and its counts.
    pub counts: Slice,
    /// Of the cycles, those throttled by a transition.
    pub throttled_cycles: u64,
    /// Heavy floating-point instructions of 256 and of 512 bits.
    pub retired: [u64; 2],
}

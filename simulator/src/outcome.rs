//! The results of a run.

use cpu_model::LEVELS_MAX;
use hdrhistogram::Histogram;
use trace::History;

/// CPU time, losses and counts of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Time on a CPU.
    pub cpu_time_ns: u64,
    /// Part of that CPU time that the frequency of the task's own level would have saved.
    pub lost_ns: u64,
    /// Reference cycles done.
    pub ref_cycles: u64,
    /// From arrival to end; `None`: still running when the run ended.
    pub completion_ns: Option<u64>,
    /// Switches to this thread.
    pub slices: u64,
    /// Switches to this thread on a CPU other than its previous one.
    pub migrations: u64,
    /// Time runnable without a CPU.
    pub waited_ns: u64,
    /// CPU time that the policy refunded to this thread.
    pub refunded_ns: u64,
    /// CPU time that the policy billed to this thread.
    pub billed_ns: u64,
}

/// CPU time that one application lost to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Application that was slowed; an index into `Workload::applications`.
    pub victim: u32,
    /// Application whose demand held the level.
    pub culprit: u32,
    /// CPU time lost.
    pub lost_ns: u64,
    /// CPU time the policy refunded the victim and attributed to this culprit.
    pub repaid_ns: u64,
    /// CPU time lost that the policy attributed to this culprit and repays by idle compensation.
    pub idle_compensation_ns: u64,
}

/// A slice that ended without a switch: the task was accounted and chosen again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// When.
    pub time_ns: u64,
    /// The task's number in the history.
    pub tid: u32,
}

/// An internal event of a policy with virtual time. Histories do not have these; tests of the
/// policy's guarantees read them beside the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyEvent {
    /// A slice of the task ended, or the task woke.
    Account {
        /// The task's number in the history.
        tid: u32,
        /// Its virtual time from now on.
        vtime_ns: u64,
        /// Time charged beyond the slice: bills, and the waits for CPUs that were forced idle.
        paid_ns: u64,
        /// Time lost that idle compensation will repay; the refund does not contain this time.
        idle_compensation_ns: u64,
        /// Time that idle compensation still has to repay to the task.
        deficit_ns: u64,
        /// Refunds that count as virtual time, and were not used.
        banked_ns: u64,
    },
    /// A CPU is forced idle from now on.
    ForcedIdle {
        /// The CPU.
        cpu: u32,
        /// The task on the sibling, to which this idle time repays its deficit.
        tid: u32,
        /// Believed speed-up of that task meanwhile, in permille.
        gain_permille: u32,
    },
    /// The forced idle of the CPU ends.
    ForcedIdleEnds {
        /// The CPU.
        cpu: u32,
    },
}

/// An event of the policy, with its place in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyRecord {
    /// When.
    pub time_ns: u64,
    /// Number of history records that precede this event.
    pub records: usize,
    /// The event.
    pub event: PolicyEvent,
}

/// Counts of core specialization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpecializationCounts {
    /// Tasks that used the widest registers on a narrow core, and became wide.
    pub faults: u64,
    /// Tasks that became narrow again by a system call.
    pub ended_by_call: u64,
    /// Tasks that became narrow again by the timeout.
    pub ended_by_timeout: u64,
    /// Changes of the kind of a core.
    pub core_changes: u64,
    /// Slices of wide tasks on narrow cores: their affinity has no wide core.
    pub misplaced_slices: u64,
    /// Sum over wide cores of the time for which they were wide.
    pub wide_core_ns: u64,
}

/// The time until all applications of the foreground are present (`scenarios::Start`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// When it ended.
    pub ended_ns: u64,
    /// By thread id: reference cycles done until then.
    pub ref_cycles: Vec<u64>,
}

/// Everything one run yields. A function of workload, CPU, configuration and seed alone.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// By thread id.
    pub tasks: Vec<TaskOutcome>,
    /// By victim and culprit, ascending; pairs without loss are left out.
    pub losses: Vec<Loss>,
    /// When the last foreground thread ended, or the time limit.
    pub simulated_ns: u64,
    /// The part of the run that rates of work leave out; `None` where there is none, or where the
    /// run ended within.
    pub warm_up: Option<WarmUp>,
    /// Whether every foreground thread ended before the time limit.
    pub completed: bool,
    /// Busy time, summed over CPUs, by license level in force.
    pub level_ns: [u64; LEVELS_MAX],
    /// Busy time, summed over CPUs, during which a transition throttled or halted the core.
    pub throttled_ns: u64,
    /// Sum over CPUs of the time a task ran.
    pub busy_ns: u64,
    /// Sum over CPUs of the time nothing ran.
    pub idle_ns: u64,
    /// Sum over CPUs of the time for which the operator paused them.
    pub paused_ns: u64,
    /// Context switches to a task.
    pub switches: u64,
    /// Switches to a task that ran on another CPU before.
    pub migrations: u64,
    /// Timers that fired.
    pub events: u64,
    /// From wake-up to the first instruction, of foreground threads, in ns.
    pub wake_latency_ns: Histogram<u64>,
    /// Every switch, wake-up, phase and license change, when asked for.
    pub history: Option<History>,
    /// Ends of slices that the history does not show, in order; empty without a history.
    pub renewals: Vec<Renewal>,
    /// Counts of core specialization, under a scheduler that has it.
    pub specialization: Option<SpecializationCounts>,
    /// Sum over CPUs of the time for which core scheduling forced them idle, under that scheduler.
    pub core_forced_idle_ns: Option<u64>,
    /// Events of the policy, in order. Empty without a history; only `fair` and the schedulers
    /// built on `fair` yield them.
    pub policy_records: Vec<PolicyRecord>,
}

//! What a run yields.

use cpu_model::LEVELS_MAX;
use hdrhistogram::Histogram;
use trace::History;

/// What one thread got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Time on a CPU.
    pub cpu_time_ns: u64,
    /// Of it, time that would not have been needed at the frequency of the task's own level.
    pub lost_ns: u64,
    /// Reference cycles done.
    pub ref_cycles: u64,
    /// From arrival to end; `None`: still running when the run ended.
    pub completion_ns: Option<u64>,
    /// Times it came to a CPU.
    pub slices: u64,
    /// Times it came to another CPU than before.
    pub migrations: u64,
    /// Time it waited for a CPU while runnable.
    pub waited_ns: u64,
    /// CPU time the policy refunded to it.
    pub refunded_ns: u64,
    /// CPU time the policy billed it.
    pub billed_ns: u64,
}

/// What one application lost to another.
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
    /// CPU time lost that the policy attributed to this culprit and owes the victim in kind.
    pub in_kind_ns: u64,
}

/// A slice that ended without a switch: the task was accounted and chosen again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// When.
    pub time_ns: u64,
    /// The task, as histories number it.
    pub tid: u32,
}

/// What a policy with virtual time notes of a task or a CPU; no part of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A slice of the task ended, or it woke.
    Account {
        /// The task, as histories number it.
        tid: u32,
        /// Its virtual time from now on.
        vtime_ns: u64,
        /// Bills that it paid with this slice, and what it paid for having waited for a quiet CPU.
        paid_ns: u64,
        /// Lost, and to be repaid in kind: no part of the refund.
        in_kind_ns: u64,
        /// What is owed to it in kind.
        owed_ns: u64,
        /// Refunds that count as virtual time, and were not used.
        banked_ns: u64,
    },
    /// A CPU begins to be quiet.
    Quiet {
        /// The CPU.
        cpu: u32,
        /// The task beside, to which time is repaid.
        tid: u32,
        /// How much faster that is believed to be meanwhile.
        gain_permille: u32,
    },
    /// It is quiet no more.
    QuietOver {
        /// The CPU.
        cpu: u32,
    },
}

/// A note and where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When.
    pub time_ns: u64,
    /// Records of the history before it.
    pub records: usize,
    /// What.
    pub note: Note,
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
    /// What the policy noted, in order; empty without a history, and of other schedulers than
    /// `fair` and what is built on it.
    pub notes: Vec<Noted>,
}

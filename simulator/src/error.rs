//! Why a run could not end well.

/// The workload, not the simulator, is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// Nothing can happen any more, yet foreground threads have not ended.
    #[error("deadlock at {at_ns} ns: {waiting}")]
    Deadlock {
        /// When.
        at_ns: u64,
        /// Some of the waiting threads, with the objects that they wait for.
        waiting: String,
    },
    /// A thread ran through too many steps without any time passing.
    #[error("thread {thread} runs through its program at {at_ns} ns without computing or sleeping")]
    Livelock {
        /// Its name.
        thread: String,
        /// When.
        at_ns: u64,
    },
    /// The run exceeded its maximum number of events.
    #[error("{events} events bring the run to {at_ns} ns only, and it may last {limit_ns} ns")]
    TooManyEvents {
        /// Number of events.
        events: u64,
        /// When.
        at_ns: u64,
        /// When the run would have stopped.
        limit_ns: u64,
    },
    /// A thread may run nowhere.
    #[error("thread {thread} is bound to CPUs that the machine does not have")]
    NoCpu {
        /// Its name.
        thread: String,
    },
    /// The host ejected the scheduler, as a kernel would have done.
    #[error("the scheduler was ended at {at_ns} ns: {why}")]
    Ended {
        /// When.
        at_ns: u64,
        /// The kernel's words.
        why: String,
    },
    /// An operator was to switch core specialization, which the scheduler does not have.
    #[error("the scheduler has no core specialization to switch")]
    NotSpecialized,
    /// An operator was to pause a CPU; histories have no pauses.
    #[error("a run with a history cannot be paused")]
    PausedHistory,
    /// The machine of the workload does not fit the CPU table.
    #[error("{0}")]
    Machine(String),
}

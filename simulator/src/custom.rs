//! A scheduler of one's own in Rust: what it is told, and what it decides.
//!
//! Implement [`CustomScheduler`] and put a [`Custom`] into the scheduler of a
//! [`Config`](crate::Config). The engine keeps time, clocks, licenses, sensors and histories; a
//! scheduler keeps its queues. `docs/tutorial/7-own-scheduler-in-rust.md` of the project leads
//! from nothing to a first result.

use std::fmt;
use std::sync::Arc;

use cpu_model::CpuModel;

/// A scheduler. All times are simulated ns; tasks and CPUs have numbers from 0 on.
///
/// A run must follow from its arguments alone: no clock, no thread, no order of a hash map.
pub trait CustomScheduler {
    /// A task that slept, waited or is new becomes runnable and must be put into a queue. Returns a
    /// CPU that is to choose now, if any: an idle one, or one whose task is to be preempted.
    fn wakes(&mut self, machine: &dyn Machine, task: usize) -> Option<usize>;

    /// A task left its CPU. With [`Stop::Preempted`] it is still runnable and must be put into a
    /// queue. Returns the time that the scheduler gives back or bills for the slice, which the
    /// results report and nothing else uses.
    fn stops(&mut self, machine: &dyn Machine, stopped: &Stopped) -> Refund;

    /// Takes the next task for a CPU out of its queue: one that waits, and that may run there.
    /// `None`: the CPU idles until a task that wakes names the CPU.
    fn picks(&mut self, machine: &dyn Machine, cpu: usize) -> Option<Pick>;

    /// The timer tick on a CPU that runs a task. Returns whether the CPU is to choose again.
    fn ticks(&mut self, machine: &dyn Machine, cpu: usize, task: usize) -> bool {
        let _ = (machine, cpu, task);
        false
    }
}

/// A task to run, and for how long at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The task.
    pub task: usize,
    /// When the CPU chooses again at the latest, in ns from now; `None`: a tick or wake-up decides.
    pub slice_ns: Option<u64>,
}

/// Why a task stops running on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The CPU chooses again; the task is still runnable.
    Preempted,
    /// The task sleeps or waits.
    Blocked,
    /// The program of the task has ended.
    Ended,
}

/// The end of a slice, and what the run's sensors say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The CPU.
    pub cpu: usize,
    /// The task that ran there.
    pub task: usize,
    /// Why it stops.
    pub why: Stop,
    /// How long it ran.
    pub ran_ns: u64,
    /// Readings of the sensors ([`Config::sensors`](crate::Config::sensors)); `None` where they
    /// see nothing, and for a [`Custom`] that reads none.
    pub seen: Option<Seen>,
}

/// What the sensors say of a slice, with their granularity, faults and delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Time that the slice lost to wide instructions of other tasks, in ns: the formula of the
    /// dissertation (Eq. 7.3) on the readings, as Evenkeel's own policies compute it.
    pub lost_ns: u64,
    /// The level that the task is believed to demand itself; 0 has the highest frequencies.
    pub own_level: u8,
    /// Cycles of the slice at each level.
    pub level_cycles: [u64; cpu_model::LEVELS_MAX],
    /// The task believed to have caused a level above [`Seen::own_level`].
    pub culprit: Option<usize>,
}

/// Time that a scheduler gives back to the task whose slice ended, and bills to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refund {
    /// Given back, in ns.
    pub refund_ns: u64,
    /// Billed to the culprit, in ns.
    pub bill_ns: u64,
    /// The task that caused the loss.
    pub culprit: Option<usize>,
}

/// The simulated machine and its tasks, as a kernel's scheduler could see them.
pub trait Machine {
    /// The time, in ns.
    fn now_ns(&self) -> u64;

    /// Number of logical CPUs; siblings of a core have consecutive numbers.
    fn cpus(&self) -> usize;

    /// The core of a CPU.
    fn core_of(&self, cpu: usize) -> usize;

    /// The CPUs of a core.
    fn cpus_of_core(&self, core: usize) -> std::ops::Range<usize>;

    /// The package of a CPU, whose cores share a last-level cache.
    fn package_of(&self, cpu: usize) -> usize;

    /// The task that runs on a CPU.
    fn running(&self, cpu: usize) -> Option<usize>;

    /// An idle CPU that a task may use, the nearest to `cpu`: itself if its core is idle, an idle
    /// core of the package, itself, its sibling, any.
    fn idle_cpu_near(&self, task: usize, cpu: usize) -> Option<usize>;

    /// Number of tasks, those included that have not begun or have ended.
    fn tasks(&self) -> usize;

    /// Load weight of a task: 1024 is nice 0.
    fn weight(&self, task: usize) -> u32;

    /// The application of a task, which stands for a process.
    fn application(&self, task: usize) -> usize;

    /// Whether a task may run on a CPU.
    fn may_run_on(&self, task: usize, cpu: usize) -> bool;

    /// The CPU that a task ran on last; `None` before its first run.
    fn last_cpu(&self, task: usize) -> Option<usize>;

    /// CPU time of a task until its last stop, in ns.
    fn cpu_time_ns(&self, task: usize) -> u64;

    /// The tables of the simulated CPU.
    fn cpu(&self) -> &CpuModel;
}

/// Makes a scheduler for each run.
type Make = dyn Fn(&dyn Machine) -> Box<dyn CustomScheduler> + Send + Sync;

/// A scheduler of one's own by its name, for [`Scheduler::Custom`](crate::Scheduler::Custom).
#[derive(Clone)]
pub struct Custom {
    name: Arc<str>,
    reads_sensors: bool,
    make: Arc<Make>,
}

impl Custom {
    /// `make` gets the machine as it is before any task has begun.
    pub fn new<S: CustomScheduler + 'static>(
        name: &str,
        make: impl Fn(&dyn Machine) -> S + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            reads_sensors: false,
            make: Arc::new(move |machine| Box::new(make(machine))),
        }
    }

    /// The same scheduler, which reads the run's sensors and pays what they cost.
    #[must_use]
    pub fn with_sensors(self) -> Self {
        Self { reads_sensors: true, ..self }
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn reads_sensors(&self) -> bool {
        self.reads_sensors
    }

    pub(crate) fn make(&self, machine: &dyn Machine) -> Box<dyn CustomScheduler> {
        (self.make)(machine)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Custom").field(&self.name).finish()
    }
}

/// Two are equal if one is a clone of the other.
impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make) && self.reads_sensors == other.reads_sensors
    }
}

impl Eq for Custom {}

//! A scheduler of one's own in Rust: what it is told, and what it decides.
//!
//! Implement [`CustomScheduler`] and put a [`Custom`] into
//! [`Config::scheduler`](crate::Config::scheduler). The engine keeps time, clocks, licenses, sensors
//! and histories; a scheduler keeps its queues. `docs/own-scheduler.md` of the project leads from
//! nothing to a first result.

use std::fmt;
use std::sync::Arc;

use cpu_model::CpuModel;

use crate::world::World;

/// A scheduler. All times are simulated ns; tasks and CPUs have numbers from 0 on.
///
/// A run must follow from its arguments alone: no clock, no thread, no order of a hash map.
pub trait CustomScheduler {
    /// A task that slept, waited or is new becomes runnable and must be put into a queue. Returns a
    /// CPU that is to choose now, if any: an idle one, or one whose task is to be preempted.
    fn wakes(&mut self, machine: &Machine<'_>, task: usize) -> Option<usize>;

    /// A task left its CPU. With [`Stop::Preempted`] it is still runnable and must be put into a
    /// queue. Returns the time that the scheduler gives back or bills for the slice, which the
    /// results report and nothing else uses.
    fn stops(&mut self, machine: &Machine<'_>, stopped: &Stopped) -> Refund;

    /// Takes the next task for a CPU out of its queue: one that waits, and that may run there.
    /// `None`: the CPU idles until a task that wakes names the CPU.
    fn picks(&mut self, machine: &Machine<'_>, cpu: usize) -> Option<Pick>;

    /// The timer tick on a CPU that runs a task. Returns whether the CPU is to choose again.
    fn ticks(&mut self, machine: &Machine<'_>, cpu: usize, task: usize) -> bool {
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

/// Readings of the sensors for a slice, with their granularity, faults and delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The level that the task is believed to demand itself; 0 is the highest clock.
    pub own_level: u8,
    /// The cycles of the slice by the level in force, as a policy header takes them
    /// (`policy::lost_ns`).
    pub slice: policy::Slice,
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
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    world: &'a World<'a>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(world: &'a World<'a>) -> Self {
        Self { world }
    }

    /// The time, in ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.world.now_ns
    }

    /// Number of logical CPUs; siblings of a core have consecutive numbers.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.world.topology.cpus
    }

    /// The core of a CPU.
    #[must_use]
    pub fn core_of(&self, cpu: usize) -> usize {
        self.world.topology.core_of(cpu)
    }

    /// The CPUs of a core.
    #[must_use]
    pub fn cpus_of_core(&self, core: usize) -> std::ops::Range<usize> {
        self.world.topology.cpus_of_core(core)
    }

    /// The package of a CPU, whose cores share a last-level cache.
    #[must_use]
    pub fn package_of(&self, cpu: usize) -> usize {
        self.world.topology.package_of(cpu)
    }

    /// The task that runs on a CPU.
    #[must_use]
    pub fn running(&self, cpu: usize) -> Option<usize> {
        self.world.cpus[cpu].running
    }

    /// An idle CPU that a task may use, the nearest to `cpu`: itself if its core is idle, an idle
    /// core of the package, itself, its sibling, any.
    #[must_use]
    pub fn idle_cpu_near(&self, task: usize, cpu: usize) -> Option<usize> {
        self.world.idle_cpu_near(task, cpu)
    }

    /// Number of tasks, those included that have not begun or have ended.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.world.tasks.len()
    }

    /// Load weight of a task: 1024 is nice 0.
    #[must_use]
    pub fn weight(&self, task: usize) -> u32 {
        self.world.tasks[task].weight
    }

    /// The application of a task, which stands for a process.
    #[must_use]
    pub fn application(&self, task: usize) -> usize {
        self.world.tasks[task].application
    }

    /// Whether a task may run on a CPU.
    #[must_use]
    pub fn may_run_on(&self, task: usize, cpu: usize) -> bool {
        self.world.affinities.masks[self.world.tasks[task].mask].contains(cpu)
    }

    /// The CPU that a task ran on last; `None` before its first run.
    #[must_use]
    pub fn last_cpu(&self, task: usize) -> Option<usize> {
        self.world.tasks[task].last_cpu
    }

    /// CPU time of a task until its last stop, in ns.
    #[must_use]
    pub fn cpu_time_ns(&self, task: usize) -> u64 {
        self.world.tasks[task].outcome.cpu_time_ns
    }

    /// The tables of the simulated CPU.
    #[must_use]
    pub fn cpu(&self) -> &'a CpuModel {
        self.world.model
    }

    /// Frequencies by level and number of active cores that the policy believes a CPU to have.
    #[must_use]
    pub fn turbo(&self, cpu: usize) -> &cpu_model::Turbo {
        self.world.believed_turbo(cpu)
    }

    /// The row of [`Machine::turbo`] in force for a CPU.
    #[must_use]
    pub fn turbo_row(&self, cpu: usize) -> usize {
        self.world.row_of(cpu)
    }
}

/// Makes a scheduler for each run.
type Make = dyn Fn(&Machine<'_>) -> Box<dyn CustomScheduler> + Send + Sync;

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
        make: impl Fn(&Machine<'_>) -> S + Send + Sync + 'static,
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

    pub(crate) fn make(&self, machine: &Machine<'_>) -> Box<dyn CustomScheduler> {
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

//! What the simulator runs: threads, each with a program of steps.

use std::collections::BTreeSet;

use cpu_model::Class;

/// The machine a workload runs on. CPU `c` belongs to core `c / threads_per_core`,
/// core `k` to package `k / cores_per_package`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Packages in use.
    pub packages: u32,
    /// Cores in use of each package.
    pub cores_per_package: u32,
    /// Hardware threads in use of each core.
    pub threads_per_core: u32,
    /// Active cores the turbo row is chosen for, instead of those really active.
    pub turbo_cores: Option<u32>,
    /// `false`: no core runs above the reference frequency of level 0 (`turbo = off`).
    pub turbo: bool,
}

impl Machine {
    /// Logical CPUs.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.packages * self.cores_per_package * self.threads_per_core
    }
}

/// A set of logical CPUs; empty means every CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuSet {
    /// Ascending, without repetition.
    pub cpus: Vec<u32>,
}

/// Whose completion is judged, and whose presence causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Judged; the run ends when every foreground thread has ended.
    Foreground,
    /// Runs beside it, as long as the foreground does.
    Background,
}

/// An application: threads that are summed up under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Name in every table.
    pub name: String,
    /// Foreground or background.
    pub role: Role,
    /// What the reader is told it runs, such as `avx512-heavy`: its most demanding class.
    pub class: Class,
}

/// How a drawn amount is spread around its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Always the mean.
    Fixed,
    /// Uniform within mean ± this many permille (at most 1000).
    Uniform(u32),
    /// Exponential, cut off at 20 means.
    Exponential,
}

/// An amount drawn anew at each visit, from the thread's own random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Mean; the unit is that of the field that holds it.
    pub mean: u64,
    /// Spread.
    pub spread: Spread,
}

/// Work of one kind, done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Reference cycles: cycles at the reference frequency, alone on the core.
    pub ref_cycles: Draw,
    /// Class of its instructions.
    pub class: Class,
    /// Instructions of the class per 1000 cycles, alone on the core.
    pub rate_permille: u32,
    /// Share of the time at the reference frequency that memory stalls take.
    pub stall_permille: u32,
    /// Whether its wide instructions compute with integers: no floating-point counter sees them.
    pub integer: bool,
    /// Memory it touches again and again; what a migration has to bring along.
    pub working_set_kib: u32,
}

/// A step of a thread's program. Steps that take no time follow each other at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Run.
    Compute(Work),
    /// Sleep for a time in ns, however fast the CPU is.
    Sleep(Draw),
    /// Sleep until an interrupt comes on another CPU than the thread's.
    Interrupt {
        /// How long that takes.
        after_ns: u64,
        /// The CPU.
        cpu: u32,
    },
    /// Sleep until a timer of the thread fires, which it does every so often since the thread
    /// arrived; go on at once if that is past.
    Timer {
        /// The timer.
        timer: u32,
        /// Time between two of its times.
        period_ns: u64,
        /// Whether a time that was missed counts; else the next one is a period from now.
        absolute: bool,
    },
    /// Wait at barrier `Workload::barriers[i]` until all its threads are there.
    Barrier(u32),
    /// Take lock i, or wait for it in order of arrival.
    Lock(u32),
    /// Give lock i to the thread that waits longest.
    Unlock(u32),
    /// Add one to semaphore i and wake the thread that waits longest.
    Wake(u32),
    /// The same, over a pipe or a socket: the kernel takes it that the waker waits soon
    /// (`WF_SYNC`) and rather leaves the woken thread beside it.
    WakeSync(u32),
    /// Start thread i, whose arrival then is this and not its own.
    Fork(u32),
    /// Take one from semaphore i, or wait for it in order of arrival.
    Wait(u32),
    /// Go back to step `to` until the loop has run `times` times in all;
    /// the count starts anew when the loop is entered again.
    Loop {
        /// Index of the first step of the loop.
        to: u32,
        /// How often the loop runs in all; `None` = for ever.
        times: Option<u64>,
    },
}

impl Workload {
    /// Threads that others start.
    #[must_use]
    pub fn forked(&self) -> BTreeSet<u32> {
        let started = |step: &Step| match step {
            Step::Fork(thread) => Some(*thread),
            _ => None,
        };
        self.threads.iter().flat_map(|thread| thread.program.iter().filter_map(started)).collect()
    }
}

/// A barrier and how many threads must arrive at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Threads.
    pub threads: u32,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Index into [`Workload::applications`].
    pub application: u32,
    /// Name in histories, such as `x265.2/5`.
    pub name: String,
    /// Nice level, -20..=19.
    pub nice: i8,
    /// CPUs it may use.
    pub affinity: CpuSet,
    /// When it starts.
    pub arrival_ns: u64,
    /// CPU it was on before: it was there when the run began, and runs on or sleeps. `None`: it is
    /// new when it starts.
    pub was_on: Option<u32>,
    /// Number of its random stream; equal numbers draw equal amounts in every run of a seed.
    pub stream: u64,
    /// Class that rules (`--rule`) give it; `None`: its most demanding class.
    pub ruled_class: Option<Class>,
    /// Program; the thread ends after the last step.
    pub program: Vec<Step>,
}

/// Everything that runs, on the machine it runs on. Checked: indices are in range,
/// loops go back, every program computes or sleeps in each endless loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The machine.
    pub machine: Machine,
    /// Applications.
    pub applications: Vec<Application>,
    /// Threads; their index is their id.
    pub threads: Vec<Thread>,
    /// Barriers.
    pub barriers: Vec<Barrier>,
    /// How many locks there are.
    pub locks: u32,
    /// How many semaphores there are; all start at 0.
    pub semaphores: u32,
}

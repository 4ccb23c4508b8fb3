//! The input of the simulator: threads, each with a program of steps.

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

/// Role of an application in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Judged; the run ends when every foreground thread has ended.
    Foreground,
    /// Runs beside the foreground, until the foreground ends.
    Background,
}

/// An application: threads that are summed up under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Name in every table.
    pub name: String,
    /// Foreground or background.
    pub role: Role,
    /// Class to show in reports, such as `avx512-heavy`: the application's most demanding one.
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
    /// Mean; the field of the `Draw` gives the unit.
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
    /// Memory in use, which a migration has to fetch, in KiB.
    pub working_set_kib: u32,
}

/// A step of a thread's program. Steps that take no time follow each other at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Run.
    Compute(Work),
    /// Draw an amount of work, which the bursts up to the next [`Step::NextRound`] divide.
    Amount {
        /// The amount, in reference cycles.
        total: Draw,
        /// Length of a round of bursts, in reference cycles; the amount has a whole number of
        /// rounds, at least one.
        round_cycles: u64,
    },
    /// Run the current round of the amount up to a share of it. The work's own amount is the mean
    /// of the whole burst, and is not drawn.
    Burst {
        /// The work.
        work: Work,
        /// Share of the round that is done after the burst, in 10^-6.
        until_ppm: u32,
    },
    /// Go back to the first burst until all rounds of the amount are done.
    NextRound {
        /// Index of the first burst.
        to: u32,
    },
    /// Sleep for a time in ns, however fast the CPU is.
    Sleep(Draw),
    /// Sleep until an interrupt comes on another CPU than the thread's.
    Interrupt {
        /// How long that takes.
        after_ns: u64,
        /// The CPU.
        cpu: u32,
    },
    /// Sleep until a periodic timer of the thread fires, counted from the thread's arrival. An
    /// expiry in the past does not sleep.
    Timer {
        /// The timer.
        timer: u32,
        /// Time between two of its times.
        period_ns: u64,
        /// Whether a time that was missed counts; else the next one is a period from now.
        absolute: bool,
    },
    /// Wait at barrier `Workload::barriers[i]` until all its threads have arrived.
    Barrier(u32),
    /// Take lock i, after waiting in order of arrival if necessary.
    Lock(u32),
    /// Give lock i to the thread that waits longest.
    Unlock(u32),
    /// Add one to semaphore i and wake the thread that waits longest.
    Wake(u32),
    /// Wake over a pipe or a socket: the kernel assumes that the waker will wait soon (`WF_SYNC`),
    /// and prefers to leave the woken thread near the waker.
    WakeSync(u32),
    /// Write to channel i and wake its reader, if that waits and there is something to read now.
    Send {
        /// The channel.
        channel: u32,
        /// Bytes.
        bytes: u64,
    },
    /// Read from channel i, after waiting until there is something. A reader that takes more than
    /// there is takes it out of what comes next.
    Receive {
        /// The channel.
        channel: u32,
        /// Bytes.
        bytes: u64,
    },
    /// Begin another program, for which the scheduler chooses a CPU (`execve`).
    Exec,
    /// Start thread i, whose arrival then is this and not its own.
    Fork(u32),
    /// Take one from semaphore i, after waiting in order of arrival if necessary.
    Wait(u32),
    /// Call the kernel, and go on. Steps that sleep, wait or wake call it as well.
    SystemCall,
    /// Go back to step `to` until the loop has run `times` times in all;
    /// the count starts anew when the loop is entered again.
    Loop {
        /// Index of the first step of the loop.
        to: u32,
        /// How often the loop runs in all; `None` = for ever.
        times: Option<u64>,
    },
}

impl Step {
    /// The work that the step runs, if any.
    #[must_use]
    pub fn work(&self) -> Option<&Work> {
        match self {
            Self::Compute(work) | Self::Burst { work, .. } => Some(work),
            _ => None,
        }
    }

    /// The work that the step runs, if any, for a caller that changes its classes.
    pub fn work_mut(&mut self) -> Option<&mut Work> {
        match self {
            Self::Compute(work) | Self::Burst { work, .. } => Some(work),
            _ => None,
        }
    }
}

/// The steps of [`Workload::without_classes`].
fn without_classes(program: &[Step]) -> Vec<Step> {
    let mut stripped = Vec::new();
    let mut position = Vec::with_capacity(program.len());
    let mut amount = None;
    for step in program {
        position.push(stripped.len() as u32);
        match *step {
            Step::Amount { total, .. } => amount = Some(total),
            Step::Burst { work, .. } => {
                if let Some(ref_cycles) = amount.take() {
                    let work = Work { ref_cycles, ..work };
                    stripped.push(Step::Compute(Work { class: Class::Scalar, ..work }));
                }
            }
            Step::NextRound { .. } => {}
            Step::Loop { to, times } => {
                let to = position[to as usize];
                stripped.push(Step::Loop { to, times });
            }
            Step::Compute(work) => {
                stripped.push(Step::Compute(Work { class: Class::Scalar, ..work }));
            }
            other => stripped.push(other),
        }
    }
    stripped
}

impl Workload {
    /// The workload without its classes: all work is scalar, and an amount that bursts of several
    /// classes divide is one piece. Two workloads that differ in classes alone become equal.
    #[must_use]
    pub fn without_classes(mut self) -> Self {
        for thread in &mut self.threads {
            thread.program = without_classes(&thread.program);
        }
        self.applications.iter_mut().for_each(|application| application.class = Class::Scalar);
        self
    }

    /// Threads that a fork of another thread starts.
    #[must_use]
    pub fn forked(&self) -> BTreeSet<u32> {
        let started = |step: &Step| match step {
            Step::Fork(thread) => Some(*thread),
            _ => None,
        };
        self.threads.iter().flat_map(|thread| thread.program.iter().filter_map(started)).collect()
    }
}

/// A barrier, with the number of threads that must arrive.
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
    /// CPUs that the thread may use.
    pub affinity: CpuSet,
    /// Whether core specialization concerns the thread; it is a default task otherwise (D 6.3.2).
    pub enrolled: bool,
    /// Start of the thread.
    pub arrival_ns: u64,
    /// Last CPU of a thread that existed before the run began, running or asleep. `None`: the
    /// thread is new at its start.
    pub was_on: Option<u32>,
    /// Number of its random stream; equal numbers draw equal amounts in every run of a seed.
    pub stream: u64,
    /// Class by rules (`--rule`); `None`: the thread's most demanding class.
    pub ruled_class: Option<Class>,
    /// Program; the thread ends after the last step.
    pub program: Vec<Step>,
}

/// All threads of a run, with their machine. Checked: indices are in range, loops go back,
/// every program computes or sleeps in each endless loop.
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
    /// Number of locks.
    pub locks: u32,
    /// Number of semaphores; all start at 0.
    pub semaphores: u32,
    /// Number of channels; all start empty.
    pub channels: u32,
}

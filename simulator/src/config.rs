//! How to run a workload.

use scenarios::Start;

use crate::custom::Custom;
use crate::scx_source::ScxSource;

/// A scheduler and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// CFS of a Linux version.
    Cfs(CfsKernel),
    /// CFS with core scheduling (Linux 5.14), where each application has a cookie.
    CoreScheduling(CfsKernel),
    /// EEVDF of a Linux version.
    Eevdf(EevdfKernel),
    /// MuQSS 0.204.
    Muqss {
        /// Which CPUs share a run queue.
        rq_sharing: RqSharing,
        /// Whether every queue is looked at on each pick.
        interactive: bool,
    },
    /// MuQSS with queues for each kind of task: wide tasks run on wide cores alone (D ch. 6).
    Specialize(Specialization),
    /// CFS with the change of the earlier prototype (M); `applies`: else it only computes it.
    Machauer {
        /// The kernel whose CFS it is.
        kernel: CfsKernel,
        /// Whether time is given back.
        applies: bool,
    },
    /// First come, first served from one queue; nothing preempts. No kernel does this: the
    /// deliberately wrong model shows which figures can tell schedulers apart.
    Fifo,
    /// Virtual time over shared queues (the baseline of D 7.5), with or without compensation.
    Fair {
        /// The kind of compensation.
        compensation: Compensation,
        /// Which CPUs share a queue.
        queues: Queues,
        /// Which virtual time a task gets that is new or wakes.
        newcomers: Newcomers,
    },
    /// Virtual time with refunds and bills, where wide tasks run on wide cores alone: ours.
    FairSpecialize(Specialization),
    /// The kernel scheduler's own source on a sched_ext without a kernel (feature `scx`).
    Scx(KernelMode),
    /// Another sched_ext scheduler's source on the same (feature `scx`).
    ScxSource(ScxSource),
    /// A scheduler of one's own in Rust.
    Custom(Custom),
}

impl Scheduler {
    /// Name used in tables and on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::ScxSource(source) => source.name(),
            Self::Custom(custom) => custom.name(),
            Self::Cfs(_) => "cfs",
            Self::CoreScheduling(_) => "core-scheduling",
            Self::Machauer { applies: true, .. } => "machauer",
            Self::Machauer { applies: false, .. } => "machauer-without-refund",
            Self::Eevdf(_) => "eevdf",
            Self::Muqss { .. } => "muqss",
            Self::Specialize(_) => "specialize",
            Self::Fifo => "fifo",
            Self::Fair { compensation: Compensation::None, .. } => "fair",
            Self::Fair { compensation: Compensation::Relative, .. } => "fair-relative",
            Self::Fair { compensation: Compensation::Isolation, .. } => "fair-isolation",
            Self::Fair { compensation: Compensation::Even(parts), .. } => parts.name(),
            Self::Fair { compensation: Compensation::Cycles, .. } => "fair-cycles",
            Self::Fair { compensation: Compensation::Energy, .. } => "fair-energy",
            Self::FairSpecialize(_) => "fair-specialize",
            Self::Scx(KernelMode::Fair) => "scx:fair",
            Self::Scx(KernelMode::Relative) => "scx:fair-relative",
            Self::Scx(KernelMode::Isolation) => "scx:fair-isolation",
            Self::Scx(KernelMode::Even(parts)) => parts.scx_name(),
            Self::Scx(KernelMode::Specialize(_)) => "scx:specialize",
            Self::Scx(KernelMode::FairSpecialize(_)) => "scx:fair-specialize",
        }
    }

    /// Whether the scheduler reads sensors. Stock kernels do not, so they pay no sensor costs.
    #[must_use]
    pub fn compensates(&self) -> bool {
        match self {
            Self::Fair { compensation, .. } => *compensation != Compensation::None,
            Self::FairSpecialize(_) | Self::Machauer { .. } => true,
            Self::Scx(mode) => *mode != KernelMode::Fair,
            Self::Custom(custom) => custom.reads_sensors(),
            Self::ScxSource(_)
            | Self::Cfs(_)
            | Self::CoreScheduling(_)
            | Self::Eevdf(_)
            | Self::Muqss { .. }
            | Self::Specialize(_)
            | Self::Fifo => false,
        }
    }
}

/// Kernel versions whose CFS differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CfsKernel {
    /// 5.9.
    V5_9,
    /// 6.1 as of 6.1.192.
    V6_1,
}

/// Kernel versions whose EEVDF constants differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EevdfKernel {
    /// 6.12 as of 6.12.107.
    V6_12,
    /// 6.18.
    V6_18,
}

/// MuQSS run-queue sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RqSharing {
    /// One a CPU.
    None,
    /// One a core.
    Smt,
    /// One a package's last-level cache (the default).
    Mc,
    /// One for all.
    All,
}

/// How core specialization confines wide tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// How many cores are wide; `None`: as many as the loads ask for (D 6.2.2).
    pub wide_cores: Option<u32>,
    /// What ends a wide phase.
    pub phase_end: PhaseEnd,
    /// Whether a task stays wide at system calls if its recent narrow phases were short (D 6.2.4).
    pub keeps_short_phases: bool,
}

impl Specialization {
    /// The rules of the dissertation.
    pub const PUBLISHED: Self =
        Self { wide_cores: None, phase_end: PhaseEnd::SystemCall, keeps_short_phases: true };
}

/// What ends the wide phase of a task (D Fig. 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseEnd {
    /// Any system call; else the timeout.
    SystemCall,
    /// The timeout alone.
    Timeout,
    /// The timeout, unless the task used wide registers meanwhile.
    RenewedTimeout,
}

/// How `fair` compensates time lost to the licenses of other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compensation {
    /// Nothing: the baseline.
    None,
    /// Refund only (ATC'21).
    Relative,
    /// Refund and bill (D ch. 7).
    Isolation,
    /// A slice is charged its cycles, at full frequency: credit scaled by frequency (D 7.3).
    Cycles,
    /// A slice is charged its energy, by a model and not by a sensor (D 7.3).
    Energy,
    /// Refund and bill up to a bound, levels kept apart, and idle compensation for the rest: ours.
    Even(EvenParts),
}

/// How the kernel scheduler's source compensates time lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelMode {
    /// Nothing.
    Fair,
    /// Refund only.
    Relative,
    /// Refund and bill.
    Isolation,
    /// Refund and bill, levels kept apart, and idle compensation for the rest.
    Even(EvenParts),
    /// Wide tasks on wide cores, by numbers of runnable tasks; nothing is compensated.
    Specialize(Specialization),
    /// Wide tasks on wide cores, by virtual times; refund and bill.
    FairSpecialize(Specialization),
}

/// Parts of `even` that are left out, to measure the effect of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenParts {
    /// A CPU does not prefer tasks of the level that its sibling runs.
    pub without_matching: bool,
    /// A waking task takes the idle CPU that `fair` would choose.
    pub without_placing: bool,
    /// Tasks do not swap CPUs while no task waits.
    pub without_swaps: bool,
    /// Refunds that cannot be used stay virtual time, as in isolation; no idle compensation.
    pub without_repayment: bool,
    /// No forced switch-out: a task that never leaves its CPU never shows its registers.
    pub without_forced_switch_out: bool,
}

impl EvenParts {
    /// Each part left out alone, by the name of the remaining scheduler.
    pub const ABLATIONS: [(&'static str, Self); 5] = [
        ("even-without-matching", Self { without_matching: true, ..Self::ALL }),
        ("even-without-placing", Self { without_placing: true, ..Self::ALL }),
        ("even-without-swaps", Self { without_swaps: true, ..Self::ALL }),
        ("even-without-repayment", Self { without_repayment: true, ..Self::ALL }),
        ("even-without-forced-switch-out", Self { without_forced_switch_out: true, ..Self::ALL }),
    ];

    /// Nothing is left out.
    pub const ALL: Self = Self {
        without_matching: false,
        without_placing: false,
        without_swaps: false,
        without_repayment: false,
        without_forced_switch_out: false,
    };

    /// `even`, or its name without one of its parts.
    #[must_use]
    pub fn name(self) -> &'static str {
        let ablation = Self::ABLATIONS.iter().find(|(_, parts)| *parts == self);
        ablation.map_or("even", |(name, _)| name)
    }

    /// The same of the kernel scheduler's source.
    #[must_use]
    pub fn scx_name(self) -> &'static str {
        match self {
            Self { without_matching: true, .. } => "scx:even-without-matching",
            Self { without_placing: true, .. } => "scx:even-without-placing",
            Self { without_swaps: true, .. } => "scx:even-without-swaps",
            Self { without_repayment: true, .. } => "scx:even-without-repayment",
            Self { without_forced_switch_out: true, .. } => "scx:even-without-forced-switch-out",
            _ => "scx:even",
        }
    }
}

/// Which CPUs share a virtual-time queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// All.
    Global,
    /// Those of a last-level cache (here: of a package).
    PerLlc,
}

/// The virtual time by which `fair` and its kin place tasks that are new or wake. The
/// dissertation does not say (D 7.5); `docs/decisions/0034` has what each reading does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomers {
    /// The least of all runnable tasks, as CFS places by `min_vruntime`; no lag is bounded.
    Least,
    /// The greatest at which a task was the least on some CPU, and lags are bounded
    /// (`evenkeel/lag.h`), as in the kernel scheduler's source.
    Floor,
}

impl Compensation {
    /// The reading of published schedulers is that of CFS; `even` does as its source does.
    #[must_use]
    pub fn newcomers(self) -> Newcomers {
        match self {
            Self::Even(_) => Newcomers::Floor,
            _ => Newcomers::Least,
        }
    }
}

/// The sensor set: the policy's only knowledge of classes and levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorSet {
    /// License cycles a core, cycles, stalls, XCR0 trap.
    D7,
    /// Register state at switch-out.
    Xinuse,
    /// Wide floating-point instructions retired, a thread.
    FpRetired,
    /// Classes by name; frequency from the CPU table.
    Rules,
    /// The hardware that D proposes: events of the level that each hardware thread's own code
    /// needs (4.6.2), a register of the thread that demanded a level last (7.7.1), and, for
    /// specialization, an interrupt before the clock falls (6.6.4), whatever registers are used.
    Proposed,
    /// Everything, exactly.
    Truth,
}

impl SensorSet {
    /// Whether faults of sensors apply to it.
    pub(crate) fn errs(self) -> bool {
        !matches!(self, Self::Rules | Self::Proposed | Self::Truth)
    }

    /// Whether registers that are saved when a task leaves its CPU tell something.
    pub(crate) fn reads_registers(self) -> bool {
        matches!(self, Self::Xinuse | Self::FpRetired)
    }
}

/// Faults of sensors and errors in the policy's tables; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SensorFaults {
    /// How far each counter of a slice may be off (`d7`), evenly spread, in permille of its value.
    pub counter_noise_permille: u32,
    /// Whether the C library's string functions use EVEX registers, as glibc's do since 2.33
    /// unless told otherwise: then they trap in every slice of every task (`d7`). D 6.5.1
    /// disabled them.
    pub evex_strings: bool,
    /// Whether the dynamic linker binds functions at their first call (`specialize` and
    /// `fair-specialize`). Its XRSTOR then faults on narrow cores, which lets the task use any
    /// register there until it leaves the CPU (D 6.2.3): a task's first stretch on a CPU is not
    /// seen.
    pub lazy_binding: bool,
    /// How far the policy's frequencies of levels above 0 are from the CPU's, in permille of these;
    /// none is above that of level 0.
    pub table_error_permille: i32,
    /// How far each count of stall cycles is off (`d7`), in permille of its value.
    pub stall_error_permille: i32,
    /// Share of detections that name a wrong level, in permille. Any share above 0 also delays
    /// each detection to the task's next one (`d7`, `xinuse`, `fp-retired`).
    pub false_detections_permille: u32,
    /// Share of the cores without sensors, in permille: slices there are not observed.
    pub deaf_cores_permille: u32,
}

/// Costs that the kernel adds, in reference time. All zero in `ideal` mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Each time another task comes to a CPU.
    pub switch_ns: u64,
    /// Each first wide instruction of a slice, where a policy that compensates uses a sensor set
    /// that traps.
    pub trap_ns: u64,
    /// Each time a task comes to another CPU: fixed part.
    pub migration_ns: u64,
    /// Each KiB of working set to fetch from the shared cache of the package.
    pub migration_ns_per_kib: u64,
    /// Factor on both for a task that comes from another package.
    pub remote_package_factor: u64,
    /// From the wake-up of a task for an idle CPU until that CPU runs the scheduler, in real time.
    pub idle_exit_ns: u64,
}

impl Costs {
    /// What runs of the command have unless asked otherwise, all our choice: a switch 1.5 us, a
    /// trap 1 us, a migration 2 us and 40 ns for each KiB of working set (25 GB/s), twice that from
    /// another package.
    pub const USUAL: Self = Self {
        switch_ns: 1_500,
        trap_ns: 1_000,
        migration_ns: 2_000,
        migration_ns_per_kib: 40,
        remote_package_factor: 2,
        idle_exit_ns: 0,
    };
}

/// Everything that decides a run besides workload and CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// How many times as long as the kernel's the slices of `cfs` and `eevdf` are. Anything but 1
    /// makes a wrong model of them, to show which figures notice.
    pub slice_factor: u32,
    /// The sensor set of the policy.
    pub sensors: SensorSet,
    /// How well the sensors work.
    pub sensor_faults: SensorFaults,
    /// Repeats a run exactly.
    pub seed: u64,
    /// Kernel costs.
    pub costs: Costs,
    /// Throughput of a compute-bound thread beside another one, relative to running alone: σ0.
    pub smt_share_permille: u32,
    /// The value of σ0 that `even` assumes.
    pub believed_smt_share_permille: u32,
    /// Whether each task runs at the frequency of its own level whatever the tasks beside and
    /// before it demand, and transitions cost nothing. No CPU does that: such a run is the upper
    /// bound for any policy, and shows the slowdown of a victim that no license causes.
    pub private_licenses: bool,
    /// Whether each license is held for its break-even time at the current turbo row, in which
    /// idle times do not count, instead of for the time in the CPU's table.
    pub adaptive_holds: bool,
    /// Share of the cores that never lower their clock, in permille. The policy does not learn
    /// which cores these are.
    pub steady_cores_permille: u32,
    /// Timer interrupts a second of tick-driven schedulers.
    pub hz: u32,
    /// When threads begin.
    pub start: Start,
    /// Stop after this time even if the foreground has not ended.
    pub limit_ns: u64,
    /// Give up after that many events; some 3 million take a second.
    pub events_max: u64,
    /// Whether to keep the history.
    pub history: bool,
}

impl Config {
    /// No costs, the true sensors, 250 ticks a second, seed 1, no history. An experiment replaces
    /// what it varies.
    #[must_use]
    pub fn plain(scheduler: Scheduler, limit_ns: u64) -> Self {
        Self {
            scheduler,
            slice_factor: 1,
            sensors: SensorSet::Truth,
            sensor_faults: SensorFaults::default(),
            seed: 1,
            costs: Costs::default(),
            smt_share_permille: 625,
            believed_smt_share_permille: 625,
            private_licenses: false,
            adaptive_holds: false,
            steady_cores_permille: 0,
            hz: 250,
            start: Start::default(),
            limit_ns,
            events_max: u64::MAX,
            history: false,
        }
    }
}

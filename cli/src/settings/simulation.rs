//! Settings of the simulated machine and of its schedulers.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

/// Two compute-bound threads of a core get 1.25 times the throughput of one; our choice.
pub const SMT_SHARE_PERMILLE: u32 = 625;

/// The machine and the schedulers, beyond the CPU table and the sensors.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulated machine and scheduler")]
pub struct Simulation {
    /// Kernel whose rules are simulated: 6.1 for cfs (else 5.9), 6.12 or 6.18 for eevdf (6.1: 6.18)
    #[arg(long, value_enum, default_value_t = Kernel::V6_12)]
    pub kernel: Kernel,

    /// Timer interrupts a second of the tick-driven schedulers
    #[arg(
        long,
        default_value_t = 250,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(100..=1000)
    )]
    pub hz: u32,

    /// Run queues that MuQSS shares
    #[arg(long, value_enum, default_value_t = Sharing::None)]
    pub rq_sharing: Sharing,

    /// MuQSS looks at every queue (1) or only at longer ones (0)
    #[arg(
        long,
        default_value_t = 1,
        value_name = "0|1",
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub interactive: u8,

    /// Wide cores of specialize and fair-specialize: as many as are needed, or a fixed number
    #[arg(long, default_value = "auto", value_name = "auto|N", value_parser = wide_cores)]
    pub wide_cores: WideCores,

    /// What ends the wide phase of a task under specialize and fair-specialize
    #[arg(long, value_enum, default_value_t = PhaseEnd::SystemCall)]
    pub wide_phase_end: PhaseEnd,

    /// Under both, system calls do not end wide phases of tasks whose recent narrow phases
    /// were shorter than a migration is worth
    #[arg(long, default_value_t = true, action = ArgAction::Set, value_name = "BOOL")]
    pub keep_short_phases: bool,

    /// CPUs that share a queue of the fair schedulers (scx:… have one for each last-level cache)
    #[arg(long, value_enum, default_value_t = QueueGroups::Global)]
    pub queues: QueueGroups,

    /// Virtual time by which the fair schedulers place tasks that are new or wake: the least of all
    /// runnable tasks; or the greatest at which a task was the least on some CPU, with bounded lags
    /// [default: floor for even, as in its source, else least]
    #[arg(long, value_enum)]
    pub newcomers: Option<Newcomers>,

    /// Folder of headers for scx:FILE.bpf.c, as the one of <scx/common.bpf.h>; may be set several
    /// times
    #[arg(long, value_name = "FOLDER")]
    pub include: Vec<PathBuf>,

    /// No cost of context switches, traps and migrations
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL")]
    pub ideal: bool,

    /// Each task runs at the frequency of its own instructions, whatever ran beside or before,
    /// as on no CPU: shows how much of a slowdown is not the license's doing
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL")]
    pub private_licenses: bool,

    /// The classes of each background are those of the control, so that nothing but chance is left:
    /// every slowdown must be 0 within its interval, else the control differs in more than classes
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL")]
    pub placebo: bool,

    /// The background runs so long before the foreground can arrive, and rates of work count from
    /// then on [default: as the scenario says]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=60_000))]
    pub warm_up_ms: Option<u32>,

    /// Threads of the background arrive at random times within so long, applications of the
    /// foreground at random times within so long after the warm-up
    /// [default: as the scenario says]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=60_000))]
    pub arrival_window_ms: Option<u32>,

    /// Throughput a compute-bound thread keeps beside another, in permille of what it has alone
    #[arg(
        long,
        default_value_t = SMT_SHARE_PERMILLE,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub smt_share: u32,

    /// Throughput that `even` believes a compute-bound thread to keep beside another, in permille
    #[arg(
        long,
        default_value_t = SMT_SHARE_PERMILLE,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub believed_smt_share: u32,

    /// Share of the cores that never lower their clock, in permille, as on a CPU with cores of two
    /// kinds; no scheduler knows these cores
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    pub steady_cores: u32,

    /// Licenses and wide registers are held this long after their last use, whatever the CPU's
    /// table says
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub hold_us: Option<u32>,

    /// Licenses are held for their break-even time at the current frequencies, in which idle times
    /// do not count
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL",
        conflicts_with = "hold_us")]
    pub adaptive_holds: bool,
}

/// Kernel versions.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    #[value(name = "6.1")]
    V6_1,
    #[value(name = "6.12")]
    V6_12,
    #[value(name = "6.18")]
    V6_18,
}

/// Run-queue sharing of MuQSS.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    None,
    Smt,
    Mc,
    All,
}

/// How many cores are wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideCores {
    /// As many as the loads of both kinds of core ask for.
    Auto,
    /// Always so many.
    Fixed(u32),
}

/// Reads how many cores are wide.
fn wide_cores(text: &str) -> Result<WideCores, String> {
    if text == "auto" {
        return Ok(WideCores::Auto);
    }
    let is_count = |count: &u32| *count > 0;
    let count = text.parse().ok().filter(is_count);
    count.map(WideCores::Fixed).ok_or_else(|| "expected `auto` or a whole number from 1".into())
}

/// Ends of wide phases.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseEnd {
    /// Any system call, and 10 ms of CPU time where a task calls none
    SystemCall,
    /// 10 ms of CPU time
    Timeout,
    /// 10 ms of CPU time without use of wide registers
    RenewedTimeout,
}

/// Groups of CPUs with a common queue.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueGroups {
    Global,
    Llc,
}

/// Readings of how newcomers are placed.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomers {
    Least,
    Floor,
}

impl Sharing {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Smt => "smt",
            Self::Mc => "mc",
            Self::All => "all",
        }
    }
}

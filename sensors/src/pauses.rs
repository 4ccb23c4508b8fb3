//! Pauses of a core on a stock kernel, and the clock that its tasks run at, without a PMU.
//!
//! | Question | Where |
//! |---|---|
//! | What do the blocks of a pause say, and when is it complete? | `pauses/look.rs` |
//! | Which thread pauses a CPU, and what ends that? | `pauses/spinner.rs` |
//! | How long is a block? | `pauses/chain.rs` |
//!
//! A real-time thread for each CPU of a core (`SCHED_FIFO`, the lowest priority) preempts its tasks
//! and runs scalar code, so that the core's license level falls. The thread on the sampled CPU
//! times a chain of additions meanwhile. Then the sampled CPU's task runs alone for 70 us, and a
//! second, short look shows the clock that its own code demands: the method of D 4.2.1, with the
//! clock in place of counters of levels. The loss is of the first clock against that one.
//!
//! **One core at a time**: a [`Pauser`] takes one sample after another, so only a machine with a
//! single core is ever paused as a whole. The caller should run on a CPU that it does not sample
//! (*housekeeping CPU*) and that has other work: a caller that wakes an idle core lowers the clock
//! of all (D 4.2.1). On a machine booted with `nohz_full` or `isolcpus` the isolated CPUs should be
//! left out, unless their tasks may stop for 2 ms: a spinner there is what that isolation is to
//! prevent, and restarts the tick of the CPU.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kernels::{Tsc, TscError};
use nix::sched::sched_getcpu;
use thiserror::Error;

mod chain;
mod look;
mod spinner;

pub use look::{AGAIN, ALONE, Block, Blocks, Look, PAUSE_MAX, Times, Why, clock_hz, judge};

use look::{Course, length_ns};
use spinner::{Meeting, Order, Refused, Spinner};

/// A core is paused for at most this part of the time, whatever the caller asks for, so that a
/// mistake there cannot starve it: far below the kernel's own limit, `sched_rt_runtime_us`.
const PAUSED_PART_MAX: u32 = 5;
/// How long an answer may take: a spinner takes up no order that is 2 ms old, but may itself be
/// kept from running, by tasks of a higher priority or by the kernel's limit of real-time tasks, 50
/// ms in each second.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why cores cannot be paused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PauseError {
    /// The clock cannot be used.
    #[error(transparent)]
    Clock(#[from] TscError),
    /// No right to real-time priority.
    #[error(
        "pausing a core takes a real-time priority, which this process may not use: run it as \
         root, or with CAP_SYS_NICE, or allow the priority with `ulimit -r 1`"
    )]
    Forbidden,
    /// A CPU cannot be used.
    #[error("CPU {cpu} cannot be paused: {reason}; expected a CPU online and of this process")]
    Cpu {
        /// Its number.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// A thread cannot be started or made a real-time one.
    #[error("the thread that pauses CPU {cpu} cannot be started: {reason}")]
    Thread {
        /// Of the thread.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// A core without a CPU, or a CPU in two cores.
    #[error("each core needs a CPU and each CPU one core, not: {0}")]
    Cores(String),
}

/// What a sample is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// How long all of the core must run scalar code until its level is back, at least.
    pub raise_delay_ns: u64,
    /// Whether the task runs alone then, for a second look.
    pub look_again: bool,
    /// When the pause begins, from now. The spinners set the timers themselves, each on its own
    /// CPU, so that no other CPU wakes for the beginning of a pause (D 4.2.1).
    pub starts_in: Duration,
}

/// A sample that gave no look.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{why}")]
pub struct NotTaken {
    /// The reason.
    pub why: Why,
    /// For how long the tasks of the sampled CPU were paused nevertheless.
    pub paused_ns: u64,
}

/// How samples ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples with a look.
    pub taken: u64,
    /// Samples without, by reason.
    pub not_taken: BTreeMap<String, u64>,
    /// Sum over all samples of the time for which the sampled CPU's tasks were paused.
    pub paused_ns: u64,
}

/// Pauses cores, one at a time.
#[derive(Debug)]
pub struct Pauser {
    tsc: Tsc,
    cores: Vec<Core>,
    counts: Counts,
}

#[derive(Debug)]
struct Core {
    spinners: Vec<Spinner>,
    /// No pause before, in ticks.
    rests_until: u64,
}

/// Makes the calling thread a real-time one of the lowest priority, so that it goes on as soon as a
/// pause has ended, however busy the machine is. Returns whether the kernel allows it.
pub fn become_real_time() -> bool {
    spinner::become_real_time().is_ok()
}

impl Pauser {
    /// Starts a sleeping thread for each CPU of each core.
    ///
    /// # Errors
    /// Why cores cannot be paused; no thread is left then.
    pub fn start(cores: &[Vec<u32>]) -> Result<Self, PauseError> {
        check(cores)?;
        let tsc = Tsc::calibrate()?;
        let chain = chain::Chain::calibrate(tsc);
        let start = |&cpu: &u32| Spinner::start(cpu, chain).map_err(|refused| error(cpu, refused));
        let core = |cpus: &Vec<u32>| -> Result<Core, PauseError> {
            let spinners = cpus.iter().map(start).collect::<Result<_, _>>()?;
            Ok(Core { spinners, rests_until: 0 })
        };
        let cores = cores.iter().map(core).collect::<Result<_, _>>()?;
        Ok(Self { tsc, cores, counts: Counts::default() })
    }

    /// CPU and kernel thread of each spinner. In a record of switches the task that a spinner takes
    /// over from is the one that was interrupted.
    pub fn spinners(&self) -> impl Iterator<Item = (u32, i32)> {
        self.cores.iter().flat_map(|core| core.spinners.iter().map(|it| (it.cpu, it.tid)))
    }

    /// How many pauses a second the cores may have, each this long: each core is paused for a fifth
    /// of the time at most.
    #[must_use]
    pub fn rate_max(cores: usize, raise_delay_ns: u64) -> f64 {
        let pause_s = raise_delay_ns as f64 / 1e9 + (ALONE + AGAIN).as_secs_f64();
        cores as f64 / (pause_s * f64::from(PAUSED_PART_MAX))
    }

    /// How the samples so far ended.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Pauses a core, by its position in the list given at the start, and looks at the clock of one
    /// of its CPUs. Sleeps until the core goes on.
    ///
    /// # Errors
    /// Why the pause gave no look; it is counted.
    pub fn sample(&mut self, core: usize, cpu: u32, wish: &Wish) -> Result<Look, NotTaken> {
        let result = self.pause(core, cpu, wish);
        match &result {
            Ok(look) => {
                self.counts.taken += 1;
                self.counts.paused_ns += look.paused_ns;
            }
            Err(NotTaken { why, paused_ns }) => {
                *self.counts.not_taken.entry(format!("{why:?}")).or_default() += 1;
                self.counts.paused_ns += paused_ns;
            }
        }
        result
    }

    fn pause(&mut self, core: usize, cpu: u32, wish: &Wish) -> Result<Look, NotTaken> {
        let not_paused = |why| NotTaken { why, paused_ns: 0 };
        let core = self.cores.get_mut(core).ok_or(not_paused(Why::NoSuchCpu))?;
        let sampled = core.spinners.iter().position(|spinner| spinner.cpu == cpu);
        let sampled = sampled.ok_or(not_paused(Why::NoSuchCpu))?;
        let course = Course::new(wish.raise_delay_ns, wish.look_again);
        let course = course.ok_or(not_paused(Why::TooLong))?;
        let asked = self.tsc.now() + self.tsc.ticks(wish.starts_in);
        if asked < core.rests_until {
            return Err(not_paused(Why::TooSoon));
        }
        let meeting = Arc::new(Meeting::new(core.spinners.len() as u32));
        core.order(sampled, |is_sampled| {
            let meeting = Arc::clone(&meeting);
            match is_sampled {
                true => Order::look(meeting, asked, course, wish.look_again),
                false => Order::Accompany { meeting, asked },
            }
        });
        let answer = meeting.wait(wish.starts_in + PATIENCE);
        let now = self.tsc.now();
        let paused = now.saturating_sub(asked).min(self.tsc.ticks(PAUSE_MAX));
        core.rests_until = now + paused * u64::from(PAUSED_PART_MAX - 1);
        let Some(answer) = answer else { return Err(not_paused(Why::Late)) };
        let paused_ns = length_ns(&answer.blocks.first) + length_ns(&answer.blocks.again);
        let judged = answer.ended.and_then(|()| judge(&answer.blocks, wish.look_again));
        judged.map_err(|why| NotTaken { why, paused_ns })
    }
}

impl Core {
    /// Gives each spinner its order, that of this thread's CPU last: it preempts this thread.
    fn order(&self, sampled: usize, order: impl Fn(bool) -> Order) {
        let here = sched_getcpu().ok();
        let is_here = |spinner: &Spinner| Some(spinner.cpu as usize) == here;
        let indexed = || self.spinners.iter().enumerate();
        let elsewhere = indexed().filter(|(_, spinner)| !is_here(spinner));
        for (index, spinner) in elsewhere.chain(indexed().filter(|(_, spinner)| is_here(spinner))) {
            spinner.order(order(index == sampled));
        }
    }
}

fn check(cores: &[Vec<u32>]) -> Result<(), PauseError> {
    let mut cpus: Vec<u32> = cores.iter().flatten().copied().collect();
    cpus.sort_unstable();
    let is_twice = cpus.windows(2).any(|pair| pair[0] == pair[1]);
    if cores.is_empty() || cores.iter().any(Vec::is_empty) || is_twice {
        return Err(PauseError::Cores(format!("{cores:?}")));
    }
    Ok(())
}

fn error(cpu: u32, refused: Refused) -> PauseError {
    use nix::errno::Errno;
    let text = |errno: Errno| errno.desc().to_owned();
    match refused {
        Refused::Priority(Errno::EPERM) => PauseError::Forbidden,
        Refused::Priority(errno) => PauseError::Thread { cpu, reason: text(errno) },
        Refused::Cpu(errno) => PauseError::Cpu { cpu, reason: text(errno) },
        Refused::Thread => {
            PauseError::Thread { cpu, reason: "the kernel gives no further thread".to_owned() }
        }
    }
}

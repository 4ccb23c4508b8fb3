//! What the timed blocks of a pause say about a core's clock.
//!
//! A block is a chain of a known number of cycles, so its duration is the clock. An interrupt, a
//! preemption or a hypervisor that takes the CPU away makes a block longer, never shorter. So a
//! clock is the middle of a window of blocks, and only if most blocks agree with the median.
//!
//! While the pause lasts, [`Course::verdict`] says when the clock is steady. Afterwards [`judge`]
//! compares the clock at the start of the pause, which the interrupted task ran at, with the clock
//! at its end, and with the clock after the task ran alone.

use std::time::Duration;

use thiserror::Error;

/// Longest pause, from the request to the end of the second look: our choice, above the longest
/// hold measured, 1.33 ms (docs/decisions/0046-profiler.md).
pub const PAUSE_MAX: Duration = Duration::from_millis(2);
/// How long the sampled CPU's task runs alone before the second look (D 4.2.1).
pub const ALONE: Duration = Duration::from_micros(70);
/// How long the second look lasts: a dozen blocks.
pub const AGAIN: Duration = Duration::from_micros(60);
/// From the end of a sleep until a real-time thread runs again; our choice, ten times the usual.
pub(crate) const WAKE_UP: Duration = Duration::from_micros(50);

/// Blocks of a window: about 50 us. A level that returns within the first window mixes two clocks;
/// that concerns 50 us of a hold of 670 us.
pub const WINDOW: usize = 10;
/// How far a block may lie from the median of its window.
const CLEAN_REL: f64 = 0.02;
/// So many blocks of a window must be clean, in tenths.
const CLEAN_TENTHS: usize = 6;
/// How far the blocks of a steady window may differ. A license level is 4 % or more.
const STEADY_REL: f64 = 0.01;
/// Blocks of a steady window that an interrupt may have made slower.
const SLOW_MAX: usize = 2;
/// A rise of the clock by less than this is noise.
const RISE_REL: f64 = 0.01;
/// Whatever keeps the spinner from its CPU for longer may have run wide code there.
const INTERRUPTION_MAX_NS: u64 = 100_000;

/// One timed chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// Start, since the spinner was asked.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: f64,
    /// How many cycles it took.
    pub cycles: f64,
}

impl Block {
    fn hz(&self) -> f64 {
        self.cycles * 1e9 / self.duration_ns.max(1.0)
    }

    fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns.max(0.0) as u64)
    }
}

/// What a pause showed of the clock of the sampled CPU. It says nothing where that CPU was idle,
/// which a record of switches tells: the switch to the spinner names the interrupted task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// At the start of the pause: what the interrupted task ran at.
    pub first_hz: f64,
    /// At the end, after scalar code alone for the time of a hold.
    pub last_hz: f64,
    /// After the task ran alone: what its own code demands. `None`: not asked for. It says nothing
    /// of the task if the task slept or left; a record of switches tells.
    pub again_hz: Option<f64>,
    /// Whether the clock rose within the pause by more than noise: a level was held.
    pub level_returned: bool,
    /// The standard deviation of one block's clock around `last_hz`, as a share of it, without the
    /// blocks that were interrupted.
    pub block_rel_sd: f64,
    /// When the looks began and when the last one ended, by CLOCK_MONOTONIC; without a second look
    /// it has the time of the end.
    pub times: Times,
    /// For how long the tasks of the sampled CPU were paused, both looks together.
    pub paused_ns: u64,
    /// For how long the tasks of the core's other CPUs were paused.
    pub core_paused_ns: u64,
}

impl Look {
    /// The share of its own clock that the interrupted task lost to others, 0 if none; negative
    /// where noise says so. `None`: the second look was not asked for.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        self.again_hz.map(|again_hz| 1.0 - self.first_hz / again_hz)
    }
}

/// Times of the steps of a pause, by CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The first look begins.
    pub first_ns: u64,
    /// The second look begins.
    pub again_ns: u64,
    /// All is over.
    pub end_ns: u64,
}

/// Why a pause gave no look.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Why {
    /// The wish exceeds the longest pause.
    #[error("the pause would take longer than 2 ms, expected a shorter raise delay")]
    TooLong,
    /// The core was paused a moment ago.
    #[error("the core was paused a moment ago, and is paused for a fifth of the time at most")]
    TooSoon,
    /// No such CPU was given at the start.
    #[error("this CPU was not among those of the core when the spinners were started")]
    NoSuchCpu,
    /// The spinner did not run in time: a task of higher priority ran, or an interrupt.
    #[error("the sampled CPU was not paused in time: something of higher priority ran there")]
    Late,
    /// A sibling's spinner did not run in time.
    #[error("a sibling was not paused in time: something of higher priority ran there")]
    SiblingLate,
    /// The clock was not steady at the end of the longest pause.
    #[error("the clock was not steady within the longest pause")]
    Held,
    /// The spinner was kept from its CPU in the pause.
    #[error("something of higher priority, or the hypervisor, took the CPU within the pause")]
    Interrupted,
    /// Too few blocks agree on a clock.
    #[error("too few blocks of the pause agree on a clock")]
    Unclean,
    /// The spinner is on another CPU: its own is offline, or its affinity was changed.
    #[error("the spinner lost its CPU, which is offline or was taken from this process")]
    CpuLost,
}

/// What to do after a block of the first look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Another block.
    GoOn,
    /// The look is complete.
    Complete,
    /// It must end, incomplete.
    Ended(Why),
}

/// How long the first look lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// How long scalar code must run on all CPUs of the core, until the level is back.
    pub raise_delay_ns: u64,
    /// When all siblings must be paused, since the request.
    pub siblings_by_ns: u64,
    /// When the look must end, since the request.
    pub ends_ns: u64,
}

impl Course {
    /// The course of a pause; `None`: it does not fit into the longest one.
    #[must_use]
    pub fn new(raise_delay_ns: u64, look_again: bool) -> Option<Self> {
        let reserve = if look_again { ALONE + AGAIN + WAKE_UP } else { Duration::ZERO };
        let ends_ns = (PAUSE_MAX - reserve).as_nanos() as u64;
        let siblings_by_ns = ends_ns.checked_sub(raise_delay_ns)?;
        (siblings_by_ns > 0).then_some(Self { raise_delay_ns, siblings_by_ns, ends_ns })
    }

    /// What to do now, at `now_ns` since the request. `together_ns`: since when all CPUs of the
    /// core are paused.
    #[must_use]
    pub fn verdict(&self, now_ns: u64, together_ns: Option<u64>, blocks: &[Block]) -> Verdict {
        match together_ns {
            None if now_ns >= self.siblings_by_ns => Verdict::Ended(Why::SiblingLate),
            Some(since_ns)
                if now_ns.saturating_sub(since_ns) >= self.raise_delay_ns && is_steady(blocks) =>
            {
                Verdict::Complete
            }
            _ if now_ns >= self.ends_ns => Verdict::Ended(Why::Held),
            _ => Verdict::GoOn,
        }
    }
}

/// Whether the clock did not change over the last window: an interrupt makes a block slower, so a
/// faster one is a clock that rose.
fn is_steady(blocks: &[Block]) -> bool {
    // Two windows, so that the first clock and the last are of different blocks.
    if blocks.len() < 2 * WINDOW {
        return false;
    }
    let last = &blocks[blocks.len() - WINDOW..];
    let Some(clock_hz) = clock_hz(last) else { return false };
    let faster = |block: &&Block| block.hz() > clock_hz * (1.0 + STEADY_REL);
    let slower = |block: &&Block| block.hz() < clock_hz * (1.0 - STEADY_REL);
    last.iter().filter(faster).count() == 0 && last.iter().filter(slower).count() <= SLOW_MAX
}

/// The clock over some blocks, 64 at most: the middle of those that agree with the median. `None`:
/// too few do.
#[must_use]
pub fn clock_hz(blocks: &[Block]) -> Option<f64> {
    // A spinner must not allocate.
    let mut sorted = [0.0_f64; 64];
    let count = blocks.len().min(sorted.len());
    let sorted = &mut sorted[..count];
    for (slot, block) in sorted.iter_mut().zip(blocks) {
        *slot = block.hz();
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = *sorted.get(count / 2)?;
    let is_clean = |hz: &&f64| (**hz / middle - 1.0).abs() <= CLEAN_REL;
    let clean = sorted.iter().filter(is_clean).count();
    if !(middle.is_finite() && middle > 0.0) || clean * 10 < count * CLEAN_TENTHS {
        return None;
    }
    // The clean blocks are neighbours in the order. The mean of their middle half is as robust as
    // the median, and finer than a tick of the time-stamp counter, 0.2 % of a block on Zen.
    let from = sorted.iter().position(|hz| is_clean(&hz))?;
    let half = &sorted[from + clean / 4..from + clean - clean / 4];
    Some(half.iter().sum::<f64>() / half.len() as f64)
}

/// The blocks of a pause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks {
    /// Of the first look.
    pub first: Vec<Block>,
    /// Of the second look; empty where none was asked for.
    pub again: Vec<Block>,
    /// When they were taken.
    pub times: Times,
}

/// What the blocks of a pause say.
///
/// # Errors
/// The spinner was interrupted for long, or too few blocks agree.
pub fn judge(blocks: &Blocks, looked_again: bool) -> Result<Look, Why> {
    let (first, again) = (blocks.first.as_slice(), blocks.again.as_slice());
    if first.len() < 2 * WINDOW || looked_again && again.len() < WINDOW / 2 {
        return Err(Why::Unclean);
    }
    if is_interrupted(first) || is_interrupted(again) {
        return Err(Why::Interrupted);
    }
    let clock = |blocks: &[Block]| clock_hz(blocks).ok_or(Why::Unclean);
    let first_hz = clock(&first[..WINDOW])?;
    let last = &first[first.len() - WINDOW..];
    let last_hz = clock(last)?;
    let again_hz = if looked_again { Some(clock(again)?) } else { None };
    Ok(Look {
        first_hz,
        last_hz,
        again_hz,
        level_returned: last_hz / first_hz - 1.0 > RISE_REL,
        block_rel_sd: rel_sd(last, last_hz),
        times: blocks.times,
        paused_ns: length_ns(first) + length_ns(again),
        core_paused_ns: match again.last() {
            Some(block) => block.end_ns().saturating_sub(first[0].start_ns),
            None => length_ns(first),
        },
    })
}

/// How far clean blocks lie from their clock.
fn rel_sd(blocks: &[Block], clock_hz: f64) -> f64 {
    let off = blocks.iter().map(|block| block.hz() / clock_hz - 1.0);
    let clean: Vec<f64> = off.filter(|off| off.abs() <= CLEAN_REL).collect();
    (clean.iter().map(|off| off * off).sum::<f64>() / clean.len().max(1) as f64).sqrt()
}

/// From the start of the first block to the end of the last.
pub(crate) fn length_ns(blocks: &[Block]) -> u64 {
    match (blocks.first(), blocks.last()) {
        (Some(first), Some(last)) => last.end_ns().saturating_sub(first.start_ns),
        _ => 0,
    }
}

/// Whether a block, or what lay between two, took much longer than a block does.
fn is_interrupted(blocks: &[Block]) -> bool {
    let mut before_ns = blocks.first().map_or(0, |block| block.start_ns);
    blocks.iter().any(|block| {
        let took_ns = block.end_ns().saturating_sub(before_ns);
        before_ns = block.end_ns();
        took_ns > INTERRUPTION_MAX_NS
    })
}

#[cfg(test)]
mod tests;

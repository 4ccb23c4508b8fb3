//! Stretches a timeline by the clocks that a timeout sets.

use std::collections::HashMap;

use cpu_model::{CpuModel, LEVELS_MAX};

use crate::policy::{Policy, TWO_COMPETITIVE_NS};
use crate::timeline::{Stretch, Timeline};

/// The frequencies of a CPU at a number of active cores, and the costs of frequency changes.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    cpu: &'a CpuModel,
    active_cores: u32,
}

impl<'a> Clock<'a> {
    /// The clock of a CPU whose package has this number of active cores.
    #[must_use]
    pub fn new(cpu: &'a CpuModel, active_cores: u32) -> Self {
        Self { cpu, active_cores }
    }

    /// Levels in use.
    #[must_use]
    pub fn levels(&self) -> u8 {
        self.cpu.turbo.levels as u8
    }

    /// Frequency of a level.
    #[must_use]
    pub fn khz(&self, level: u8) -> u32 {
        self.cpu.turbo.khz(self.cpu.turbo.row(self.active_cores), level)
    }

    /// How long work takes at a level, which takes `work_ns` at level 0.
    #[must_use]
    pub fn stretched_ns(&self, work_ns: u64, level: u8) -> u64 {
        scale(work_ns, self.khz(0), self.khz(level))
    }

    /// The work, as its time at level 0, that is done at a level in a time.
    fn done_ns(&self, time_ns: u64, level: u8) -> u64 {
        scale(time_ns, self.khz(level), self.khz(0))
    }

    /// The delay that a change of the level costs.
    pub(crate) fn change_ns(&self, from: u8, to: u8, is_heavy: bool) -> u64 {
        self.cpu.transition_cost_ns(from, to, is_heavy, self.cpu.is_few(self.active_cores))
    }

    /// How a policy holds levels; `None` for the oracle, which holds none.
    pub(crate) fn holds(&self, policy: Policy) -> Option<Holds> {
        Some(match policy {
            Policy::Stock => Holds::Fixed(self.cpu.license.hold_ns),
            Policy::Timeout(ns) => Holds::Fixed([ns; LEVELS_MAX]),
            Policy::TwoCompetitive => Holds::Fixed([TWO_COMPETITIVE_NS; LEVELS_MAX]),
            Policy::Adaptive => Holds::BreakEven,
            Policy::Oracle => return None,
        })
    }

    /// A level as fast as the lower one costs nothing, and need not be given up.
    fn break_even_ns(&self, level: u8, lower: u8) -> u64 {
        self.cpu.break_even_ns(self.active_cores, level, lower).unwrap_or(NEVER_NS)
    }
}

/// Longer than any timeline.
const NEVER_NS: u64 = u64::MAX / 2;

/// For how long levels are held after their last demand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holds {
    /// By level. The clock falls back level by level.
    Fixed([u64; LEVELS_MAX]),
    /// Each for its break-even time; then the clock is that of the level demanded. Times without a
    /// running task do not count.
    BreakEven,
}

fn scale(ns: u64, by: u32, of: u32) -> u64 {
    (u128::from(ns) * u128::from(by) / u128::from(of.max(1))) as u64
}

/// The times of a timeline under a policy.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// By task: its CPU time.
    pub cpu_time_ns: HashMap<u32, u64>,
    /// Busy time beyond that of a clock that changes at once and without cost, with the delays of
    /// all changes.
    pub lost_ns: u64,
    /// The part of `lost_ns` that is delays.
    pub delays_ns: u64,
    /// Falls of the level to a lower one, after which the clock is higher.
    pub falls: u64,
}

impl Walked {
    /// Books work at a level. Returns the time that it takes.
    pub(crate) fn works(
        &mut self,
        timeline: &Timeline,
        stretch: &Stretch,
        work_ns: u64,
        level: u8,
        clock: &Clock<'_>,
    ) -> u64 {
        if stretch.is_idle() {
            return work_ns;
        }
        let time_ns = clock.stretched_ns(work_ns, level);
        self.lost_ns += time_ns - clock.stretched_ns(work_ns, stretch.demand.level);
        self.runs(timeline, stretch, time_ns);
        time_ns
    }

    /// Books the delay of a change of the level.
    pub(crate) fn changes(
        &mut self,
        timeline: &Timeline,
        stretch: &Stretch,
        (from, to): (u8, u8),
        clock: &Clock<'_>,
    ) -> u64 {
        let delay_ns = clock.change_ns(from, to, stretch.demand.heavy == 1);
        self.lost_ns += delay_ns;
        self.delays_ns += delay_ns;
        self.falls += u64::from(to < from);
        self.runs(timeline, stretch, delay_ns);
        delay_ns
    }

    fn runs(&mut self, timeline: &Timeline, stretch: &Stretch, time_ns: u64) {
        for &task in timeline.running(stretch) {
            *self.cpu_time_ns.entry(task).or_default() += time_ns;
        }
    }
}

/// Levels that are held though nothing demands them.
struct Held {
    level: u8,
    /// The time that holds count.
    timer_ns: u64,
    /// By level: when it was demanded last.
    since_ns: [u64; LEVELS_MAX],
}

impl Held {
    /// The level to fall to now, and when the next fall is due.
    fn next(&self, holds: &Holds, demanded: u8, clock: &Clock<'_>) -> (u8, u64) {
        let due_ns = |level: u8, hold_ns| self.since_ns[usize::from(level)].saturating_add(hold_ns);
        let floor = match holds {
            Holds::Fixed(holds_ns) => {
                let due_ns = |level: u8| (level, due_ns(level, holds_ns[usize::from(level)]));
                let mut above = (demanded + 1..=self.level).rev().map(due_ns);
                above.find(|&(_, due_ns)| due_ns > self.timer_ns)
            }
            Holds::BreakEven => {
                let is_held = self.level > demanded;
                let hold_ns = || clock.break_even_ns(self.level, demanded);
                let due_ns = is_held.then(|| (self.level, due_ns(self.level, hold_ns())));
                due_ns.filter(|&(_, due_ns)| due_ns > self.timer_ns)
            }
        };
        floor.unwrap_or((demanded, u64::MAX))
    }
}

/// The timeline under a policy that holds each level for a time.
pub(crate) fn walk(timeline: &Timeline, clock: &Clock<'_>, holds: &Holds) -> Walked {
    let mut walked = Walked::default();
    let mut held = Held { level: 0, timer_ns: 0, since_ns: [0; LEVELS_MAX] };
    for stretch in &timeline.stretches {
        let demanded = stretch.demand.level;
        if demanded > held.level {
            walked.changes(timeline, stretch, (held.level, demanded), clock);
            held.level = demanded;
        }
        let counts = !stretch.is_idle() || matches!(holds, Holds::Fixed(_));
        let mut left_ns = stretch.work_ns;
        while left_ns > 0 {
            let (floor, due_ns) = held.next(holds, demanded, clock);
            if floor < held.level && counts {
                let delay_ns = walked.changes(timeline, stretch, (held.level, floor), clock);
                held.level = floor;
                held.timer_ns += delay_ns;
                continue;
            }
            let until_ns = if counts { due_ns.saturating_sub(held.timer_ns) } else { u64::MAX };
            let within_ns = match stretch.is_idle() {
                true => until_ns,
                false => clock.done_ns(until_ns, held.level),
            };
            // At least 1 ns: rounding ends no loop early, and none goes on for ever.
            let work_ns = left_ns.min(within_ns.max(1));
            let time_ns = walked.works(timeline, stretch, work_ns, held.level, clock);
            held.timer_ns += if counts { time_ns } else { 0 };
            left_ns -= work_ns;
        }
        held.since_ns[..=usize::from(demanded)].fill(held.timer_ns);
    }
    walked
}

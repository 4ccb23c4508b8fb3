//! The clock of a task beside others, and alone, by pauses without counters.
//!
//! A pause says how fast the core ran when a task was interrupted, how fast it runs when no level
//! is held, and how fast when that task had run alone for a moment. It knows no level, no turbo row
//! and no stalls for memory.

use std::collections::VecDeque;

use cpu_model::Turbo;

use crate::overhead::{Method, Moment};
use crate::sample::Sample;

/// The clock must change by more than this within a pause to count: a license level is 4 % or more,
/// and the host or a neighbour core may change the clock by less at any time. It counts in both
/// directions, so that such changes cancel out.
const CHANGE_MIN: f64 = 0.01;
/// Switches of a CPU that a pause looks back at: most come between its end and its record.
const SWITCHES: usize = 64;

/// A CPU that was idle reaches its clock only so long after: on AMD EPYC 7003 under KVM it ran at
/// 2.6 instead of 3.25 GHz until up to 1.1 ms after (docs/measurements/profiler.md).
const RISE_AFTER_IDLE_NS: u64 = 2_000_000;

/// The clocks of one pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// When the task was interrupted.
    pub time_ns: u64,
    /// Where.
    pub cpu: u32,
    /// The interrupted task.
    pub task: u32,
    /// What the task ran at, in kHz.
    pub first_khz: u32,
    /// What the core runs at when no level is held.
    pub last_khz: u32,
    /// What the task's own code demands; `None`: another task ran instead.
    pub alone_khz: Option<u32>,
}

impl Clocks {
    /// What a pause without counters would have seen where this sample was taken.
    pub(crate) fn of(sample: &Sample, turbo: &Turbo) -> Self {
        let khz = |hz: u64| u32::try_from(hz / 1000).unwrap_or(u32::MAX);
        let if_demanding = |own| Moment::if_demanding(sample, turbo, Method::Published, own);
        let alone = if_demanding(sample.level_alone);
        Self {
            time_ns: sample.time_ns,
            cpu: sample.cpu,
            task: sample.task,
            first_khz: khz(alone.actual_hz),
            last_khz: khz(if_demanding(0).ideal_hz),
            alone_khz: Some(khz(alone.ideal_hz)),
        }
    }

    /// Whether the clock changed when nothing but scalar code ran on the core.
    pub(crate) fn has_changed(&self) -> bool {
        let ratio = f64::from(self.last_khz) / f64::from(self.first_khz).max(1.0);
        (ratio - 1.0).abs() > CHANGE_MIN
    }

    /// The share of its time that the task lost to the levels of other tasks; negative where the
    /// clock fell for another reason. `None`: it is not known what the task demands.
    #[must_use]
    pub fn lost(&self) -> Option<f64> {
        if !self.has_changed() {
            return Some(0.0);
        }
        self.alone_khz.and_then(|alone_khz| self.against(alone_khz))
    }

    /// The same if the task's own code demands no level, which is the most that it can have lost.
    pub(crate) fn lost_at_most(&self) -> Option<f64> {
        if self.has_changed() { self.against(self.last_khz) } else { Some(0.0) }
    }

    fn against(&self, khz: u32) -> Option<f64> {
        (khz > 0).then(|| 1.0 - f64::from(self.first_khz) / f64::from(khz))
    }
}

/// What a pause met on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A task was interrupted.
    Task {
        /// The task.
        task: u32,
        /// When.
        time_ns: u64,
        /// Whether no other task ran between the two looks.
        is_alone: bool,
    },
    /// No task.
    Idle,
    /// A task whose CPU had been idle so shortly before that its clock may still have been rising.
    AfterIdle,
    /// Switches are missing.
    Unknown,
}

/// The last switches of a CPU, by which a pause finds the task that it interrupted.
#[derive(Clone, Debug, Default)]
pub struct LastSwitches {
    latest_first: VecDeque<Switch>,
    /// When the CPU was idle for the last time.
    idle_until_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Switch {
    time_ns: u64,
    prev: u32,
    next: u32,
    /// When the CPU was idle for the last time before `prev` left it.
    idle_until_ns: Option<u64>,
}

impl LastSwitches {
    /// A CPU goes from a task to another; 0 is none.
    pub fn add(&mut self, time_ns: u64, prev: u32, next: u32) {
        self.latest_first.truncate(SWITCHES - 1);
        let idle_until_ns = self.idle_until_ns;
        self.latest_first.push_front(Switch { time_ns, prev, next, idle_until_ns });
        if prev == 0 {
            self.idle_until_ns = Some(time_ns);
        }
    }

    /// What a pause of that thread met, by the times at which its two looks began.
    #[must_use]
    pub fn met(&self, by: u32, first_ns: u64, alone_ns: u64) -> Met {
        // The last switch to the thread before a look began is that of the look.
        let look = |began_ns: u64| {
            let is_of_look = |it: &Switch| it.time_ns <= began_ns && it.next == by;
            self.latest_first.iter().position(is_of_look)
        };
        let (Some(second), Some(first)) = (look(alone_ns), look(first_ns)) else {
            return Met::Unknown;
        };
        let (again, interrupted) = (self.latest_first[second], self.latest_first[first]);
        // What goes before the thread within a look, such as the kernel's stop thread, does not
        // count; the task must be the one that ran between the looks.
        let alone = self.latest_first.get(second + 1);
        let is_alone = second < first
            && again.prev == interrupted.prev
            && alone.is_some_and(|it| (it.prev, it.next) == (by, interrupted.prev));
        match interrupted.prev {
            0 => Met::Idle,
            _ if interrupted.is_after_idle() => Met::AfterIdle,
            task => Met::Task { task, time_ns: interrupted.time_ns, is_alone },
        }
    }
}

impl Switch {
    /// Whether the clock may still have been rising after the CPU was idle.
    fn is_after_idle(&self) -> bool {
        self.idle_until_ns.is_some_and(|until_ns| self.time_ns < until_ns + RISE_AFTER_IDLE_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn clocks(first_khz: u32, last_khz: u32, alone_khz: u32) -> Clocks {
        Clocks { time_ns: 0, cpu: 0, task: 0, first_khz, last_khz, alone_khz: Some(alone_khz) }
    }

    #[test]
    fn a_loss_is_against_what_the_task_demands_itself() {
        let lost = |first, last, alone| clocks(first, last, alone).lost().unwrap();
        // Held by another task; demanded by the task itself; a lower level of its own.
        assert!((lost(1_900_000, 2_800_000, 2_800_000) - 0.3214).abs() < 1e-3);
        assert_eq!(lost(1_900_000, 2_800_000, 1_900_000), 0.0);
        assert!((lost(1_900_000, 2_800_000, 2_400_000) - 0.2083).abs() < 1e-3);
    }

    #[test]
    fn changes_that_no_level_makes_are_none_or_cancel_out() {
        let lost = |first, last, alone| clocks(first, last, alone).lost().unwrap();
        assert_eq!(lost(2_000_000, 2_010_000, 2_040_000), 0.0);
        let up_and_down =
            lost(2_000_000, 2_100_000, 2_100_000) + lost(2_100_000, 2_000_000, 2_000_000);
        assert!(up_and_down.abs() < 0.003);
    }

    #[test]
    fn a_loss_is_unknown_only_where_the_clock_changed_and_another_task_ran() {
        let without = |first, last| Clocks { alone_khz: None, ..clocks(first, last, 0) }.lost();
        assert_eq!(without(2_000_000, 2_010_000), Some(0.0));
        assert_eq!(without(1_900_000, 2_800_000), None);
        assert_eq!(clocks(0, 0, 0).lost(), None);
    }

    #[test]
    fn a_pause_finds_the_task_that_it_interrupted() {
        let met = |switches: &[(u32, u32)], first_ns, alone_ns| {
            let mut last = LastSwitches::default();
            for (at, &(prev, next)) in switches.iter().enumerate() {
                last.add(10 * at as u64, prev, next);
            }
            last.met(9, first_ns, alone_ns)
        };
        let task = |task, time_ns, is_alone| Met::Task { task, time_ns, is_alone };
        // The thread gets its order, sleeps, looks, sleeps, and looks again.
        let usual = [(5, 9), (9, 5), (5, 9), (9, 5), (5, 9), (9, 6)];
        assert_eq!(met(&usual, 21, 41), task(5, 20, true));
        assert_eq!(met(&[(0, 9), (9, 0), (0, 9)], 1, 21), Met::Idle);
        // Another task ran between the looks, or instead.
        assert_eq!(met(&[(5, 9), (9, 6), (6, 5), (5, 9)], 1, 31), task(5, 0, false));
        assert_eq!(met(&[(5, 9), (9, 6), (6, 9)], 1, 21), task(5, 0, false));
        // The stop thread goes before it within the first look, and within the second.
        let stopped = [(5, 9), (9, 7), (7, 9), (9, 5), (5, 9), (9, 7), (7, 9)];
        assert_eq!(met(&stopped, 1, 41), task(5, 0, true));
        // The CPU had been idle, long before the last switches that are kept.
        let until_ns = |idle_until_ns: u64| {
            let mut last = LastSwitches::default();
            last.add(idle_until_ns, 0, 5);
            (0..SWITCHES as u64).for_each(|at| last.add(idle_until_ns + at, 5, 6));
            last.add(2_500_000, 6, 9);
            last.met(9, 2_500_001, 2_500_001)
        };
        assert_eq!(until_ns(600_000), Met::AfterIdle);
        assert_eq!(until_ns(400_000), task(6, 2_500_000, false));
        // The switches to it are missing.
        assert_eq!(met(&[(5, 6), (6, 7)], 1, 11), Met::Unknown);
        assert_eq!(met(&[(5, 9)], 1, 11), task(5, 0, false));
    }
}

//! When are hardware counters left to others, and when taken back (D 7.7.3)?
//!
//! Knows no perf: it is told once a second which groups do not count, and answers with one step.

use crate::interface::HardwareEvent;

/// Counters that are of use only together, in the order of giving up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Those of the stall model: without them speed is taken to follow the frequency.
    Stalls,
    /// Those that tell classes.
    Classes,
}

impl Group {
    /// All, in the order of giving up.
    pub const ALL: [Self; 2] = [Self::Stalls, Self::Classes];

    /// Its counters.
    #[must_use]
    pub fn events(self) -> &'static [HardwareEvent] {
        use HardwareEvent::{Fp256, Fp512, License1, License2, StallL2Miss, StallStores};
        match self {
            Self::Stalls => &[StallL2Miss, StallStores],
            Self::Classes => &[License1, License2, Fp256, Fp512],
        }
    }

    /// What holds without it.
    #[must_use]
    pub fn without(self) -> &'static str {
        match self {
            Self::Stalls => "the counters of stalls; speed is taken to follow the frequency",
            Self::Classes => "the counters of classes; registers tell them",
        }
    }
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Leave a group to others, for so many seconds at least.
    GiveUp(Group, u64),
    /// Count it again.
    TakeBack(Group),
}

/// The first wait until a group is taken back, and the longest, in seconds; our choice.
const WAIT_FIRST_S: u64 = 10;
const WAIT_MAX_S: u64 = 600;

#[derive(Clone, Debug)]
struct State {
    group: Group,
    /// Since when it counts, or from when on it may again.
    time_s: u64,
    is_given_up: bool,
    /// How long it was given up last; 0: never.
    waited_s: u64,
}

/// What is given up, and until when.
#[derive(Clone, Debug)]
pub struct GivenUp(Vec<State>);

impl GivenUp {
    /// Nothing of these groups is.
    #[must_use]
    pub fn nothing_of(groups: &[Group]) -> Self {
        let counts = |&group: &Group| State { group, time_s: 0, is_given_up: false, waited_s: 0 };
        Self(groups.iter().map(counts).collect())
    }

    /// Groups that should count.
    #[must_use]
    pub fn held(&self) -> Vec<Group> {
        self.0.iter().filter(|state| !state.is_given_up).map(|state| state.group).collect()
    }

    /// Bits of the events that are given up, for the program.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let given_up = self.0.iter().filter(|state| state.is_given_up);
        let events = given_up.flat_map(|state| state.group.events());
        events.fold(0, |bits, &event| bits | 1 << event as u32)
    }

    /// What to do at a time, when these of the held groups do not count. Whichever it is, the
    /// first in order gives way, so that the others may count again.
    pub fn step(&mut self, now_s: u64, taken: &[Group]) -> Option<Step> {
        if !taken.is_empty() {
            let state = self.0.iter_mut().find(|state| !state.is_given_up)?;
            // One that counted for longer than it had waited starts afresh.
            let counted_s = now_s.saturating_sub(state.time_s);
            state.waited_s = match state.waited_s {
                0 => WAIT_FIRST_S,
                waited_s if counted_s > waited_s => WAIT_FIRST_S,
                waited_s => (waited_s * 2).min(WAIT_MAX_S),
            };
            state.is_given_up = true;
            state.time_s = now_s + state.waited_s;
            return Some(Step::GiveUp(state.group, state.waited_s));
        }
        // What was given up last comes first.
        let state = self.0.iter_mut().rev().find(|state| state.is_given_up)?;
        if now_s < state.time_s {
            return None;
        }
        state.is_given_up = false;
        state.time_s = now_s;
        Some(Step::TakeBack(state.group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Group; 2] = Group::ALL;

    /// Seconds in which something is done, when `free` tells how many pairs others leave.
    fn steps(seconds: u64, free: impl Fn(u64) -> usize) -> Vec<(u64, Step)> {
        let mut given_up = GivenUp::nothing_of(&BOTH);
        let mut steps = Vec::new();
        for now_s in 0..seconds {
            let held = given_up.held();
            // Perf serves whoever was enabled first.
            let taken: Vec<_> = held.iter().rev().skip(free(now_s)).copied().collect();
            steps.extend(given_up.step(now_s, &taken).map(|step| (now_s, step)));
        }
        steps
    }

    #[test]
    fn nothing_is_given_up_while_all_count() {
        assert_eq!(steps(100, |_| 2), []);
    }

    #[test]
    fn the_stall_pair_goes_first_whichever_is_taken() {
        let mut given_up = GivenUp::nothing_of(&BOTH);
        assert_eq!(given_up.step(5, &[Group::Classes]), Some(Step::GiveUp(Group::Stalls, 10)));
        assert_eq!(given_up.held(), [Group::Classes]);
        assert_eq!(given_up.bits(), 1 << 4 | 1 << 5);
        assert_eq!(given_up.step(6, &[Group::Classes]), Some(Step::GiveUp(Group::Classes, 10)));
        assert_eq!(given_up.bits(), 0b1111_0011);
        assert_eq!(given_up.held(), []);
    }

    #[test]
    fn a_profiler_of_a_minute_is_waited_for_with_growing_waits() {
        let profiler = |now_s| if (20..80).contains(&now_s) { 0 } else { 2 };
        let classes = Step::TakeBack(Group::Classes);
        let stalls = Step::TakeBack(Group::Stalls);
        let up = Step::GiveUp;
        assert_eq!(
            steps(200, profiler),
            [
                (20, up(Group::Stalls, 10)),
                (21, up(Group::Classes, 10)),
                (31, classes),
                (32, up(Group::Classes, 20)),
                (52, classes),
                (53, up(Group::Classes, 40)),
                (93, classes),
                (94, stalls),
            ]
        );
    }

    #[test]
    fn waits_grow_up_to_a_bound_and_begin_again_after_a_quiet_time() {
        let waits = |steps: Vec<(u64, Step)>| -> Vec<u64> {
            let waits = steps.into_iter().filter_map(|(_, step)| match step {
                Step::GiveUp(Group::Stalls, wait_s) => Some(wait_s),
                _ => None,
            });
            waits.collect()
        };
        // One pair is free for good.
        let found = waits(steps(5000, |_| 1));
        assert_eq!(found[..8], [10, 20, 40, 80, 160, 320, 600, 600]);
        // For 100 s, then again after a time.
        let found = waits(steps(1200, |now_s| if now_s % 1000 < 30 { 1 } else { 2 }));
        assert_eq!(found, [10, 20, 10, 20]);
    }

    #[test]
    fn where_there_are_no_counters_nothing_happens() {
        assert_eq!(GivenUp::nothing_of(&[]).step(1, &[Group::Stalls]), None);
    }
}

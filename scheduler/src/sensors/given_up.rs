//! When does the loader disable hardware counters that other programs use too, and when does
//! the loader enable them again (D 7.7.3)?
//!
//! Pure decisions without perf: the caller passes once a second which groups do not count, and
//! gets one step.

use crate::interface::HardwareEvent;

/// Counters that are of use only together, in the order in which they are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Counters of the stall-cycle model; without them, speed is taken to be proportional to the
    /// frequency.
    Stalls,
    /// Counters from which classes are learned.
    Classes,
}

impl Group {
    /// All, in the order in which they are given up.
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

    /// The counters of the group, and the model that replaces them, as a message has it.
    #[must_use]
    pub fn without(self) -> &'static str {
        match self {
            Self::Stalls => "the counters of stalls; speed is taken to follow the frequency",
            Self::Classes => "the counters of classes; registers tell them",
        }
    }
}

/// A change to make now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Disable the counters of a group, for at least this many seconds.
    GiveUp(Group, u64),
    /// Enable the counters of a group again.
    TakeBack(Group),
}

/// The first wait until a group is taken back, and the longest, in seconds; our choice.
const WAIT_FIRST_S: u64 = 10;
const WAIT_MAX_S: u64 = 600;

#[derive(Clone, Debug)]
struct State {
    group: Group,
    /// When the group began to count; while given up, when the group may count again.
    time_s: u64,
    is_given_up: bool,
    /// For how long the group was given up last; 0: never.
    waited_s: u64,
}

/// The groups of counters that are given up, and until when.
#[derive(Clone, Debug)]
pub struct GivenUp(Vec<State>);

impl GivenUp {
    /// The state at the start: all these groups count.
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

    /// Bits of the events that are given up, for the BPF program.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let given_up = self.0.iter().filter(|state| state.is_given_up);
        let events = given_up.flat_map(|state| state.group.events());
        events.fold(0, |bits, &event| bits | 1 << event as u32)
    }

    /// The step at a time, when the groups `taken` of the held ones do not count. Whichever group
    /// is taken, the first held one in the order is given up: its counters may be enough room for
    /// the remaining group.
    pub fn step(&mut self, now_s: u64, taken: &[Group]) -> Option<Step> {
        if !taken.is_empty() {
            let state = self.0.iter_mut().find(|state| !state.is_given_up)?;
            // The wait doubles up to its bound, unless the group counted for longer than the last
            // wait was.
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
        // The group that was given up last is taken back first.
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

    /// The steps by second, when other programs leave room for `free` groups.
    fn steps(seconds: u64, free: impl Fn(u64) -> usize) -> Vec<(u64, Step)> {
        let mut given_up = GivenUp::nothing_of(&BOTH);
        let mut steps = Vec::new();
        for now_s in 0..seconds {
            let held = given_up.held();
            // Perf gives counters to the group that was enabled first.
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
        // Room for one group, for ever.
        let found = waits(steps(5000, |_| 1));
        assert_eq!(found[..8], [10, 20, 40, 80, 160, 320, 600, 600]);
        // Room for one group in the first 30 s of every 1000 s.
        let found = waits(steps(1200, |now_s| if now_s % 1000 < 30 { 1 } else { 2 }));
        assert_eq!(found, [10, 20, 10, 20]);
    }

    #[test]
    fn where_there_are_no_counters_nothing_happens() {
        assert_eq!(GivenUp::nothing_of(&[]).step(1, &[Group::Stalls]), None);
    }
}

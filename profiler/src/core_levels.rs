//! When was each core at which license level, in as much detail as a picture shows?
//!
//! The levels of a recording are those that counters showed, or else those that the registers or
//! classes of tasks and the CPU table's hold times imply (`evenkeel/belief.h`), as for its losses.

use cpu_model::LEVELS_MAX;
use policy::Belief;

/// A stretch of time of a core at a level above 0. Times are from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelSpan {
    /// The core.
    pub core: u32,
    /// The level.
    pub level: u8,
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

/// Collects the levels of cores in equal parts of the time, so that the size does not grow with
/// changes.
pub(crate) struct CoreLevels {
    part_ns: u64,
    cores: Vec<Core>,
}

/// A core, up to its last change.
struct Core {
    since_ns: u64,
    booked_ns: [u64; LEVELS_MAX],
    /// Time at each level by part.
    parts: Vec<[u64; LEVELS_MAX]>,
}

impl Core {
    /// Adds times at levels from a time on. Between two changes holds end, so that higher levels
    /// come first.
    fn add(&mut self, mut from_ns: u64, times_ns: [u64; LEVELS_MAX], part_ns: u64) {
        for level in (1..LEVELS_MAX).rev() {
            let mut left_ns = times_ns[level];
            while left_ns > 0 {
                let part = (from_ns / part_ns) as usize;
                let Some(times_ns) = self.parts.get_mut(part) else { break };
                let step_ns = left_ns.min((part as u64 + 1) * part_ns - from_ns);
                times_ns[level] += step_ns;
                from_ns += step_ns;
                left_ns -= step_ns;
            }
        }
    }
}

impl CoreLevels {
    /// For a recording of a length, each core in at most `most` parts.
    pub(crate) fn new(cores: usize, length_ns: u64, most: usize) -> Self {
        let part_ns = length_ns.div_ceil(most.max(1) as u64).max(1);
        let parts = length_ns.div_ceil(part_ns) as usize;
        let core = |_| Core {
            since_ns: 0,
            booked_ns: [0; LEVELS_MAX],
            parts: vec![[0; LEVELS_MAX]; parts],
        };
        Self { part_ns, cores: (0..cores).map(core).collect() }
    }

    /// Notes the levels since the last change of a core, whose belief is booked until `now_ns`.
    pub(crate) fn changed(&mut self, core: usize, now_ns: u64, belief: &Belief) {
        let core = &mut self.cores[core];
        let before_ns = std::mem::replace(&mut core.booked_ns, belief.booked.ns);
        let passed = |level: usize| belief.booked.ns[level].saturating_sub(before_ns[level]);
        core.add(core.since_ns, std::array::from_fn(passed), self.part_ns);
        core.since_ns = now_ns.max(core.since_ns);
    }

    /// Notes the levels that the counters of a CPU of a core showed in a slice. Slices of siblings
    /// overlap, and what one of them showed already is left out.
    pub(crate) fn counted(
        &mut self,
        core: usize,
        began_ns: u64,
        now_ns: u64,
        counts: &policy::Slice,
    ) {
        let core = &mut self.cores[core];
        let from_ns = began_ns.max(core.since_ns);
        let passed_ns = now_ns.saturating_sub(from_ns) as u128;
        let cycles = u128::from(counts.cycles.max(1));
        let at =
            |level: usize| (passed_ns * u128::from(counts.level_cycles[level]) / cycles) as u64;
        core.add(from_ns, std::array::from_fn(at), self.part_ns);
        core.since_ns = now_ns.max(core.since_ns);
    }

    /// The stretches, by core and time. Within a part higher levels come first.
    pub(crate) fn finish(self) -> Vec<LevelSpan> {
        let mut spans: Vec<LevelSpan> = Vec::new();
        for (core, times) in self.cores.iter().enumerate() {
            for (part, times_ns) in times.parts.iter().enumerate() {
                let mut from_ns = part as u64 * self.part_ns;
                for level in (1..LEVELS_MAX).rev().filter(|&level| times_ns[level] > 0) {
                    let to_ns = from_ns + times_ns[level];
                    let span = LevelSpan { core: core as u32, level: level as u8, from_ns, to_ns };
                    match spans.last_mut() {
                        Some(last)
                            if (last.core, last.level, last.to_ns)
                                == (span.core, span.level, from_ns) =>
                        {
                            last.to_ns = to_ns;
                        }
                        _ => spans.push(span),
                    }
                    from_ns = to_ns;
                }
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use policy::LevelTimes;

    use super::*;

    #[test]
    fn a_demand_and_its_hold_are_a_stretch_and_short_ones_keep_their_share_of_a_part() {
        let mut hold = LevelTimes::default();
        (hold.ns[1], hold.ns[2]) = (30, 10);
        let mut levels = CoreLevels::new(2, 1000, 10);
        let mut belief = Belief::default();
        let mut change = |from, to, now_ns| {
            belief.change(&hold, from, to, now_ns);
            levels.changed(1, now_ns, &belief);
        };
        change(0, 2, 150);
        // Level 2 is held until 360, level 1 until 380.
        change(2, 0, 350);
        change(0, 1, 820);
        change(1, 0, 830);
        change(0, 0, 1000);
        let found: Vec<_> =
            levels.finish().iter().map(|it| (it.core, it.level, it.from_ns, it.to_ns)).collect();
        // The first part with level 2 begins at 100 and has it for 50.
        let expected = [(1, 2, 100, 150), (1, 2, 200, 360), (1, 1, 360, 380), (1, 1, 800, 840)];
        assert_eq!(found, expected);
    }

    #[test]
    fn counted_levels_are_shares_of_a_slice_and_siblings_add_nothing_twice() {
        let mut levels = CoreLevels::new(1, 1000, 10);
        let mut counts = policy::Slice { cycles: 400, ..policy::Slice::default() };
        counts.level_cycles[..3].copy_from_slice(&[200, 100, 100]);
        levels.counted(0, 0, 400, &counts);
        // A sibling's slice of the same time and a little more.
        levels.counted(0, 100, 500, &counts);
        let found: Vec<_> =
            levels.finish().iter().map(|it| (it.level, it.from_ns, it.to_ns)).collect();
        assert_eq!(found, [(2, 0, 100), (1, 100, 200), (2, 400, 425), (1, 425, 450)]);
    }
}

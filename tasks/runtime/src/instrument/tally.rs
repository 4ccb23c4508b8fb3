//! How often one thread ran a function, and how long the runs took.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::class::Why;

/// Buckets a power of two.
const PARTS_BITS: u32 = 3;
const BUCKETS: usize = 64 << PARTS_BITS;

/// A number that one thread writes, and any reads.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) const fn none() -> Self {
        Self::of(0)
    }

    pub(crate) const fn of(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// For the one thread that writes the count.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.get().wrapping_add(more), Ordering::Relaxed);
    }

    /// For the one thread that writes the count.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of one function on one thread.
pub(super) struct Tally {
    /// The number of the function among all: see [`super::functions`].
    pub(super) function: u32,
    /// Where its time goes in a [`super::strip::Strip`].
    pub(super) slot: usize,
    /// Whether the function has been given a name.
    pub(super) is_named: std::cell::Cell<bool>,
    /// Those that have ended.
    pub(super) runs: Count,
    /// Of them, those that their creators ran at once.
    pub(super) inlined: Count,
    /// Own time of the runs, without slices inside.
    pub(super) ticks: Count,
    pub(super) ticks_max: Count,
    lengths: Box<[Count]>,
    /// Wide tasks that ran where such are to, and elsewhere.
    pub(super) wide: [Count; 2],
    /// Why they were taken for wide: a bit each.
    pub(super) why_wide: Count,
}

// SAFETY: all but the mark of a name is atomic, and the mark is its thread's alone.
unsafe impl Sync for Tally {}
// SAFETY: only the thread of its lane writes a tally, and a lane changes its thread only after that
// has ended.
unsafe impl Send for Tally {}

impl Tally {
    pub(super) fn new(function: u32, slot: usize) -> Self {
        Self {
            function,
            slot,
            is_named: std::cell::Cell::new(false),
            runs: Count::none(),
            inlined: Count::none(),
            ticks: Count::none(),
            ticks_max: Count::none(),
            lengths: (0..BUCKETS).map(|_| Count::none()).collect(),
            wide: [const { Count::none() }; 2],
            why_wide: Count::none(),
        }
    }

    /// One has ended.
    pub(super) fn ran(&self, ticks: u64, inlined: bool) {
        self.runs.add(1);
        self.inlined.add(inlined.into());
        self.ticks.add(ticks);
        if ticks > self.ticks_max.get() {
            self.ticks_max.set(ticks);
        }
        self.lengths[bucket(ticks)].add(1);
    }

    /// The one that has ended was wide.
    pub(super) fn was_wide(&self, why: Why, is_there: bool) {
        self.wide[usize::from(!is_there)].add(1);
        self.why_wide.set(self.why_wide.get() | why as u64);
    }

    /// Adds the lengths of this tally to a sum.
    pub(super) fn add_to(&self, lengths: &mut Lengths) {
        let own = self.lengths.iter().map(Count::get);
        lengths.0.iter_mut().zip(own).for_each(|(sum, more)| *sum += more);
    }
}

fn bucket(ticks: u64) -> usize {
    let ticks = ticks.max(1 << PARTS_BITS);
    let power = ticks.ilog2();
    let part = ticks >> (power - PARTS_BITS) & ((1 << PARTS_BITS) - 1);
    (power as usize) << PARTS_BITS | part as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let (power, part) = (bucket >> PARTS_BITS, bucket as u64 & ((1 << PARTS_BITS) - 1));
    if power < PARTS_BITS as usize {
        return 0;
    }
    let width = 1_u64 << (power - PARTS_BITS as usize);
    (1 << power) + part * width + width / 2
}

/// How many took how long; a bucket is an eighth of its length wide.
#[derive(Clone, Debug)]
pub struct Lengths(Vec<u64>);

impl Lengths {
    pub(super) fn none() -> Self {
        Self(vec![0; BUCKETS])
    }

    /// The length in ticks that `permille` of a thousand runs did not exceed.
    #[must_use]
    pub fn at_permille(&self, permille: u64) -> u64 {
        let all: u64 = self.0.iter().sum();
        let wanted = (all * permille).div_ceil(1000).max(1);
        let mut passed = 0;
        let found = self.0.iter().position(|&number| {
            passed += number;
            passed >= wanted
        });
        found.map_or(0, middle)
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_in_it_and_near() {
        for ticks in [8, 9, 100, 12_345, 1 << 40, u64::MAX] {
            let near = middle(bucket(ticks));
            assert_eq!(bucket(near), bucket(ticks));
            assert!(near.abs_diff(ticks) <= ticks / 8, "{ticks} {near}");
        }
    }

    #[test]
    fn half_are_no_longer_than_the_median() {
        let tally = Tally::new(0, 0);
        (0..990).for_each(|_| tally.ran(1000, false));
        (0..10).for_each(|_| tally.ran(1_000_000, true));
        let mut lengths = Lengths::none();
        tally.add_to(&mut lengths);
        assert!(lengths.at_permille(500).abs_diff(1000) < 125);
        assert!(lengths.at_permille(990).abs_diff(1000) < 125);
        assert!(lengths.at_permille(995).abs_diff(1_000_000) < 125_000);
        assert_eq!((tally.runs.get(), tally.inlined.get()), (1000, 10));
    }
}

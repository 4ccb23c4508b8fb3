//! The length of tasks, by function: some end before another worker could steal them.
//!
//! Moving a task to another worker costs both workers some hundred cycles. If all tasks of a
//! function are shorter, an idle worker stays idle: the creator alone is done sooner. The longest
//! recent task counts, so that one long task in a thousand keeps its function from counting as
//! short. But a single long task of a short function was perhaps interrupted, and counts only when
//! another long one follows soon.

use crate::hash;
use crate::sync::{AtomicU64, Ordering};

/// Slots of the table; of two functions with the same slot, each forgets the other.
const SLOTS: usize = 256;
/// Cycles of the time stamp counter in one unit.
const UNIT_CYCLES: u64 = 16;
/// Longer than this, in units, is worth moving: 512 cycles, our choice.
const FINE_MAX: u64 = 32;
/// One sample of this many of a worker may halve the longest length.
pub(crate) const FORGET: u32 = 32;
const LONGEST_BITS: u32 = 16;
const LONGEST_MAX: u64 = (1 << LONGEST_BITS) - 1;
/// A second long sample counts until this many samples that may forget have passed: thousands of
/// short tasks run between two ticks of a clock.
const DOUBT_MAX: u64 = 7;
const DOUBT_BITS: u32 = 3;

/// The lengths of tasks by function. Each word has a function, the doubt about a single long task,
/// and the longest length.
pub(crate) struct Grains {
    slots: [AtomicU64; SLOTS],
}

impl Grains {
    pub(crate) fn new() -> Self {
        Self { slots: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    fn slot(&self, function: usize) -> &AtomicU64 {
        &self.slots[hash::slot::<SLOTS>(function)]
    }

    /// Whether tasks of this function are too short to be moved.
    #[inline]
    pub(crate) fn are_fine(&self, function: usize) -> bool {
        let word = self.slot(function).load(Ordering::Relaxed);
        word >> (LONGEST_BITS + DOUBT_BITS) == tag(function) && word & LONGEST_MAX <= FINE_MAX
    }

    /// Records the length of a task. Of two records at the same time, one may be lost.
    ///
    /// Every creator reads the word, which is therefore written only if the length changes much.
    pub(crate) fn took(&self, function: usize, cycles: u64, forgets: bool) {
        let slot = self.slot(function);
        let word = slot.load(Ordering::Relaxed);
        let (known, latest) = (word & LONGEST_MAX, (cycles / UNIT_CYCLES).min(LONGEST_MAX));
        let doubt = word >> LONGEST_BITS & DOUBT_MAX;
        let is_known = word >> (LONGEST_BITS + DOUBT_BITS) == tag(function);
        let (longest, doubt) = if is_known && known <= FINE_MAX && latest > FINE_MAX && doubt == 0 {
            (known, DOUBT_MAX)
        } else if !is_known || latest > known + known / 4 {
            (latest, 0)
        } else if forgets && latest < known / 2 {
            (known / 2, doubt.saturating_sub(1))
        } else if forgets && doubt > 0 {
            (known, doubt - 1)
        } else {
            return;
        };
        let known = (tag(function) << DOUBT_BITS | doubt) << LONGEST_BITS | longest;
        slot.store(known, Ordering::Relaxed);
    }
}

/// The bits that distinguish functions of one slot: addresses of functions differ in the low bits.
fn tag(function: usize) -> u64 {
    function as u64 & (u64::MAX >> (LONGEST_BITS + DOUBT_BITS))
}

#[cfg(evenkeel_model)]
pub(crate) use crate::sync::cycles;

/// The time stamp counter; always 0 on machines without one, and then no function is known.
#[cfg(not(evenkeel_model))]
#[inline]
pub(crate) fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such CPU has the instruction, and Linux lets programs use it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Whether the CPU has a time stamp counter.
pub(crate) const KNOWN: bool = cfg!(target_arch = "x86_64");

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const FUNCTION: usize = 0x5555_5555_0000;

    #[test]
    fn a_function_without_a_sample_does_not_count_as_short() {
        assert!(!Grains::new().are_fine(FUNCTION));
    }

    #[test]
    fn long_tasks_among_short_ones_are_remembered_for_a_while() {
        let grains = Grains::new();
        grains.took(FUNCTION, 100, false);
        assert!(grains.are_fine(FUNCTION));
        grains.took(FUNCTION, 1_000_000, false);
        assert!(grains.are_fine(FUNCTION));
        (0..100).for_each(|_| grains.took(FUNCTION, 100, false));
        grains.took(FUNCTION, 1_000_000, false);
        grains.took(FUNCTION, 100, true);
        assert!(!grains.are_fine(FUNCTION));
        (0..20).for_each(|_| grains.took(FUNCTION, 100, true));
        assert!(grains.are_fine(FUNCTION));
    }

    #[test]
    fn a_single_long_task_now_and_then_may_have_been_interrupted() {
        let grains = Grains::new();
        for _ in 0..10 {
            (0..10).for_each(|_| grains.took(FUNCTION, 100, true));
            grains.took(FUNCTION, 1_000_000, false);
            assert!(grains.are_fine(FUNCTION));
        }
    }

    #[test]
    fn another_function_in_the_same_slot_is_not_taken_for_it() {
        let grains = Grains::new();
        grains.took(FUNCTION, 100, false);
        let same = (1..100_000)
            .map(|n| FUNCTION + n)
            .find(|&function| std::ptr::eq(grains.slot(function), grains.slot(FUNCTION)));
        assert!(!grains.are_fine(same.unwrap()));
    }
}

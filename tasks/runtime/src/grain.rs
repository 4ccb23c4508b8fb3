//! How long tasks take, by what they run: some are over before another worker could have them.
//!
//! To move a task to another worker costs its creator and the other one some hundred cycles each.
//! Where all tasks of a kind are shorter than that, an idle worker is left idle: whoever creates
//! them is sooner done alone. A kind is what the task's function is; the longest of late counts,
//! so that one long task in a thousand keeps its kind from being taken for short. But a single
//! one of a kind that is known to be short was perhaps interrupted: it counts when another comes
//! soon.

use crate::sync::{AtomicU64, Ordering};

/// Kinds that are remembered; two that meet in one place forget each other.
const KINDS: usize = 256;
/// Cycles of the time stamp counter in one unit.
const UNIT_CYCLES: u64 = 16;
/// Longer than this, in units, is worth moving: 512 cycles, our choice.
const FINE_MAX: u64 = 32;
/// One of so many samples of a worker may forget half of the longest.
pub(crate) const FORGET: u32 = 32;
const LONGEST_BITS: u32 = 16;
const LONGEST_MAX: u64 = (1 << LONGEST_BITS) - 1;
/// After a single long sample another counts until so many have been taken that may forget:
/// thousands of short tasks run between two ticks of a clock.
const DOUBT_MAX: u64 = 7;
const DOUBT_BITS: u32 = 3;

/// What is known of kinds: in each word a kind, how long a long one counts, and the longest.
pub(crate) struct Grains {
    kinds: [AtomicU64; KINDS],
}

impl Grains {
    pub(crate) fn new() -> Self {
        Self { kinds: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    fn place(&self, kind: usize) -> &AtomicU64 {
        let spread = (kind as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.kinds[(spread >> (u64::BITS - KINDS.trailing_zeros())) as usize]
    }

    /// Whether tasks of this kind are not worth moving.
    #[inline]
    pub(crate) fn are_fine(&self, kind: usize) -> bool {
        let word = self.place(kind).load(Ordering::Relaxed);
        word >> (LONGEST_BITS + DOUBT_BITS) == tag(kind) && word & LONGEST_MAX <= FINE_MAX
    }

    /// A task of this kind took so long. Of two at once, one may be forgotten.
    ///
    /// Every creator reads what is known: it is written only where it changes much.
    pub(crate) fn took(&self, kind: usize, cycles: u64, forgets: bool) {
        let place = self.place(kind);
        let word = place.load(Ordering::Relaxed);
        let (known, latest) = (word & LONGEST_MAX, (cycles / UNIT_CYCLES).min(LONGEST_MAX));
        let doubt = word >> LONGEST_BITS & DOUBT_MAX;
        let is_known = word >> (LONGEST_BITS + DOUBT_BITS) == tag(kind);
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
        let known = (tag(kind) << DOUBT_BITS | doubt) << LONGEST_BITS | longest;
        place.store(known, Ordering::Relaxed);
    }
}

/// What tells kinds apart that meet in one place: addresses of functions differ in the lower bits.
fn tag(kind: usize) -> u64 {
    kind as u64 & (u64::MAX >> (LONGEST_BITS + DOUBT_BITS))
}

#[cfg(evenkeel_model)]
pub(crate) use crate::sync::cycles;

/// The time stamp counter; always 0 where there is none, and then no kind is known.
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

/// Whether cycles can be told.
pub(crate) const KNOWN: bool = cfg!(target_arch = "x86_64");

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const KIND: usize = 0x5555_5555_0000;

    #[test]
    fn nothing_is_fine_before_it_was_seen() {
        assert!(!Grains::new().are_fine(KIND));
    }

    #[test]
    fn long_tasks_among_short_ones_are_remembered_for_a_while() {
        let grains = Grains::new();
        grains.took(KIND, 100, false);
        assert!(grains.are_fine(KIND));
        grains.took(KIND, 1_000_000, false);
        assert!(grains.are_fine(KIND));
        (0..100).for_each(|_| grains.took(KIND, 100, false));
        grains.took(KIND, 1_000_000, false);
        grains.took(KIND, 100, true);
        assert!(!grains.are_fine(KIND));
        (0..20).for_each(|_| grains.took(KIND, 100, true));
        assert!(grains.are_fine(KIND));
    }

    #[test]
    fn a_single_long_task_now_and_then_may_have_been_interrupted() {
        let grains = Grains::new();
        for _ in 0..10 {
            (0..10).for_each(|_| grains.took(KIND, 100, true));
            grains.took(KIND, 1_000_000, false);
            assert!(grains.are_fine(KIND));
        }
    }

    #[test]
    fn another_kind_in_the_same_place_is_not_taken_for_it() {
        let grains = Grains::new();
        grains.took(KIND, 100, false);
        let same = (1..100_000)
            .map(|n| KIND + n)
            .find(|&kind| std::ptr::eq(grains.place(kind), grains.place(KIND)));
        assert!(!grains.are_fine(same.unwrap()));
    }
}

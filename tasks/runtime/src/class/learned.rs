//! Which functions are wide, learned from the registers that their tasks leave in use.
//!
//! A function has a score: up by four for a task that used wide registers, down by one for a task
//! that did not. Wide tasks clear the registers now and then, and scalar tasks may call a wide
//! routine once: so several tasks of the same sort are needed to change the verdict.

use crate::hash;
use crate::sync::{AtomicU64, Ordering};

/// Slots of the table; of two functions with the same slot, each forgets the other.
const SLOTS: usize = 256;
const SCORE_BITS: u32 = 8;
const UP: u64 = 4;
const SCORE_MAX: u64 = 15;
/// From here on a function is wide,
const WIDE_FROM: u64 = 8;
/// and until its score is as low as this.
const WIDE_UNTIL: u64 = 2;
/// The bit above the score.
const IS_WIDE: u64 = 1 << 7;

/// The scores of functions. Each word has an address, the verdict, and the score.
pub(super) struct Learned {
    slots: Box<[AtomicU64]>,
}

impl Learned {
    pub(super) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }

    fn slot(&self, function: usize) -> &AtomicU64 {
        &self.slots[hash::slot::<SLOTS>(function)]
    }

    /// Whether tasks of this function count as wide.
    #[inline]
    pub(super) fn are_wide(&self, function: usize) -> bool {
        let word = self.slot(function).load(Ordering::Relaxed);
        word >> SCORE_BITS == tag(function) && word & IS_WIDE != 0
    }

    /// Records whether a task of this function used wide registers. Of two records at the same
    /// time, one may be lost.
    pub(super) fn saw(&self, function: usize, was_wide: bool) {
        let slot = self.slot(function);
        let word = slot.load(Ordering::Relaxed);
        let known = if word >> SCORE_BITS == tag(function) { word & 0xff } else { 0 };
        let new = after(known, was_wide);
        if new != known || word >> SCORE_BITS != tag(function) {
            slot.store(tag(function) << SCORE_BITS | new, Ordering::Relaxed);
        }
    }
}

/// Score and verdict after one more task.
fn after(known: u64, was_wide: bool) -> u64 {
    let score = known & !IS_WIDE;
    let score = if was_wide { (score + UP).min(SCORE_MAX) } else { score.saturating_sub(1) };
    let is_wide = match known & IS_WIDE {
        0 => score >= WIDE_FROM,
        _ => score > WIDE_UNTIL,
    };
    score | if is_wide { IS_WIDE } else { 0 }
}

fn tag(function: usize) -> u64 {
    function as u64 & (u64::MAX >> SCORE_BITS)
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    const FUNCTION: usize = 0x5555_5555_0000;

    fn after_all(seen: &[bool]) -> bool {
        let learned = Learned::new();
        seen.iter().for_each(|&was_wide| learned.saw(FUNCTION, was_wide));
        learned.are_wide(FUNCTION)
    }

    #[test]
    fn one_wide_task_does_not_make_its_function_wide_and_two_do() {
        assert!(!after_all(&[]));
        assert!(!after_all(&[true]));
        assert!(after_all(&[true, true]));
        assert!(!Learned::new().are_wide(FUNCTION + 64));
    }

    #[test]
    fn a_wide_function_stays_so_through_some_others_and_not_through_many() {
        let mut seen = vec![true; 10];
        seen.extend([false; 12]);
        assert!(after_all(&seen));
        seen.push(false);
        assert!(!after_all(&seen));
    }

    #[test]
    fn a_function_that_is_wide_in_one_of_ten_tasks_is_not() {
        let seen: Vec<bool> = (0..1000).map(|number| number % 10 == 0).collect();
        assert!(!after_all(&seen));
    }
}

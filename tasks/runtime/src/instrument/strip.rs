//! The times of a thread: a fixed number of bins, which get wider as time goes on.
//!
//! So a strip covers a recording of any length, exactly in the sum, and to a bin in place.

/// Outside of any runtime: in the program's own code, or waiting for its next region.
pub const SLOT_OUTSIDE: usize = 0;
/// In the runtime itself, between two tasks.
pub const SLOT_RUNTIME: usize = 1;
/// Looking for a task, or waiting for children with none to run.
pub const SLOT_LOOKS: usize = 2;
/// Asleep.
pub const SLOT_SLEEPS: usize = 3;
/// In code around tasks: scopes, and the threads' parts of parallel regions.
pub const SLOT_CODE: usize = 4;
/// In tasks: each of the first functions has a slot, the rest share one.
pub const SLOT_TASKS: usize = 5;
/// The one that they share.
pub const SLOT_OTHERS: usize = 11;
/// The number of slots.
pub const SLOTS: usize = SLOT_OTHERS + 1;

/// Bins; between half of them and all are in use.
const BINS: usize = 384;
/// How wide they are at first, in ticks: some 20 us.
const WIDTH_FIRST: u64 = 1 << 16;

/// Ticks by slot.
pub type Slots = [u64; SLOTS];

/// Ticks by slot, from the begin on.
#[derive(Clone, Debug)]
pub struct Strip {
    /// How wide a bin is.
    pub width_ticks: u64,
    /// Ticks by slot of each bin, from the begin of the recording on.
    pub bins: Vec<Slots>,
}

impl Strip {
    pub(super) fn new() -> Self {
        Self { width_ticks: WIDTH_FIRST, bins: Vec::new() }
    }

    /// Makes bins as wide as that, if they are not.
    pub fn widen(&mut self, width_ticks: u64) {
        while self.width_ticks < width_ticks {
            self.width_ticks *= 2;
            self.bins = self
                .bins
                .chunks(2)
                .map(|pair| std::array::from_fn(|slot| pair.iter().map(|bin| bin[slot]).sum()))
                .collect();
        }
    }

    /// Adds the ticks from `begin` to `end`, in ticks since the begin of the recording, evenly.
    pub(super) fn add(&mut self, begin: u64, end: u64, done: &Slots) {
        if done.iter().all(|&ticks| ticks == 0) {
            return;
        }
        let end = end.max(begin + 1);
        while (end - 1) / self.width_ticks >= BINS as u64 {
            self.widen(self.width_ticks * 2);
        }
        let last = ((end - 1) / self.width_ticks) as usize;
        if self.bins.len() <= last {
            self.bins.resize(last + 1, [0; SLOTS]);
        }
        let mut left = *done;
        let mut at = begin;
        while at < end {
            let bin = at / self.width_ticks;
            let until = ((bin + 1) * self.width_ticks).min(end);
            for (slot, left) in left.iter_mut().enumerate() {
                let part = u128::from(*left) * u128::from(until - at) / u128::from(end - at);
                self.bins[bin as usize][slot] += part as u64;
                *left -= part as u64;
            }
            at = until;
        }
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(strip: &Strip) -> Slots {
        std::array::from_fn(|slot| strip.bins.iter().map(|bin| bin[slot]).sum())
    }

    proptest! {
        #[test]
        fn a_strip_keeps_the_sum_of_times_of_any_length(
            steps in prop::collection::vec((1_u64..1 << 34, 0_u64..100), 1..200),
        ) {
            let mut strip = Strip::new();
            let (mut at, mut wanted) = (0, [0; SLOTS]);
            for (length, percent) in steps {
                let mut done = [0; SLOTS];
                done[SLOT_TASKS] = length * percent / 100;
                done[SLOT_LOOKS] = length - done[SLOT_TASKS];
                strip.add(at, at + length, &done);
                at += length;
                (0..SLOTS).for_each(|slot| wanted[slot] += done[slot]);
            }
            prop_assert_eq!(sum(&strip), wanted);
            prop_assert!(strip.bins.len() <= BINS);
        }
    }

    #[test]
    fn time_is_added_to_the_bins_in_which_it_passed() {
        let mut strip = Strip::new();
        let mut done = [0; SLOTS];
        done[SLOT_CODE] = WIDTH_FIRST;
        strip.add(WIDTH_FIRST / 2, WIDTH_FIRST * 3 / 2, &done);
        let code: Vec<u64> = strip.bins.iter().map(|bin| bin[SLOT_CODE]).collect();
        assert_eq!(code, [WIDTH_FIRST / 2; 2]);
    }
}

//! Which iterations of a loop does each thread run?
//!
//! A loop is counted first: its iterations are the numbers from 0. All functions here are pure, and
//! ends never overflow. Of 2^64 iterations, which only a loop over all numbers of 64 bits has, the
//! last is not counted.

use std::ops::Range;

/// A loop's bounds, as bits of 64; narrower ones are extended as their type says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: u64,
    /// Of which a multiple is added; wraps where it is negative.
    pub step: u64,
    pub trips: u64,
    /// The bound of the program's loop.
    pub end: u64,
}

/// Numbers that a loop may count with.
pub(crate) trait Index: Copy + Ord {
    /// Extended as the type says.
    fn bits(self) -> u64;
    /// Its lowest bits.
    fn of(bits: u64) -> Self;
}

macro_rules! index {
    ($($of_type:ty)*) => {$(
        impl Index for $of_type {
            fn bits(self) -> u64 {
                self as u64
            }

            fn of(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}

index!(i32 u32 i64 u64);

/// How often one steps from one number to another at most; `step` is not 0.
fn steps(from: u64, to: u64, step: u64, is_up: bool) -> u64 {
    match (is_up, step) {
        (_, 0) => 0,
        (true, _) => to.wrapping_sub(from) / step,
        (false, _) => from.wrapping_sub(to) / step.wrapping_neg(),
    }
}

impl Span {
    /// From `first` to `last`, which counts if a step leads to that number.
    pub(crate) fn through<T: Index>(first: T, last: T, step: i64) -> Self {
        let is_up = step > 0;
        let is_empty = if is_up { first > last } else { first < last };
        let steps = || steps(first.bits(), last.bits(), step as u64, is_up);
        let trips = if is_empty || step == 0 { 0 } else { steps().saturating_add(1) };
        Self { first: first.bits(), step: step as u64, trips, end: last.bits() }
    }

    /// From `first` to before `end`; a negative `step` wraps.
    pub(crate) fn before<T: Index>(first: T, end: T, step: u64, is_up: bool) -> Self {
        let is_empty = if is_up { first >= end } else { first <= end };
        let one = if is_up { 1 } else { u64::MAX };
        let steps = || steps(first.bits(), end.bits().wrapping_sub(one), step, is_up);
        let trips = if is_empty || step == 0 { 0 } else { steps() + 1 };
        Self { first: first.bits(), step, trips, end: end.bits() }
    }

    /// Which iteration has a number; nothing if none does.
    pub(crate) fn iteration(&self, number: u64) -> Option<u64> {
        let is_up = self.step as i64 >= 0;
        let iteration = steps(self.first, number, self.step, is_up);
        (iteration < self.trips).then_some(iteration)
    }

    /// The number of an iteration.
    pub(crate) fn at(&self, iteration: u64) -> u64 {
        self.first.wrapping_add(self.step.wrapping_mul(iteration))
    }
}

/// The iterations of part `part`, where `parts` parts get the same number of them, or one more.
pub(crate) fn block(trips: u64, parts: impl Into<u64>, part: impl Into<u64>) -> Range<u64> {
    let (parts, part) = (parts.into().max(1), part.into());
    let (each, more) = (trips / parts, trips % parts);
    let begin = each * part + part.min(more);
    begin..begin + each + u64::from(part < more)
}

/// The iterations of chunk `number`, where each has `size` of them; empty behind the end.
pub(crate) fn chunk(trips: u64, size: u64, number: u64) -> Range<u64> {
    let begin = number.saturating_mul(size).min(trips);
    begin..begin.saturating_add(size).min(trips)
}

/// Like [`block`], of multiples of `size` but for the last.
pub(crate) fn balanced_block(trips: u64, parts: u32, part: u32, size: u64) -> Range<u64> {
    let each = trips.div_ceil(u64::from(parts.max(1)));
    let each = each.checked_next_multiple_of(size.max(1)).unwrap_or(u64::MAX);
    chunk(trips, each, u64::from(part))
}

/// How many of the iterations that are left a thread takes of a `guided` loop: half of its share,
/// so that the last chunks are small, and at least `least`.
pub(crate) fn guided(left: u64, parts: u32, least: u64) -> u64 {
    left.div_ceil(2 * u64::from(parts.max(1))).max(least.max(1)).min(left)
}

/// The size of [`guided`] as a multiple of `least`, except for the last chunk.
pub(crate) fn guided_whole(left: u64, parts: u32, least: u64) -> u64 {
    let size = guided(left, parts, least);
    size.checked_next_multiple_of(least.max(1)).unwrap_or(left).min(left)
}

#[cfg(test)]
mod tests;

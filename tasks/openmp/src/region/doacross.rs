//! `ordered(n)` loops with `doacross` dependences: each iteration has a bit, which is set when no
//! other iteration has to wait for this one.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Member;
use crate::iterations::Span;
use crate::ompt;
use crate::team::share::Share;
use crate::unsupported::abort_with;
use crate::wait;

/// The state of a thread in such a loop.
#[derive(Default)]
pub(crate) struct Doacross {
    /// Null outside of such a loop, and in a region of one thread, which runs all in order.
    share: Cell<*const Share>,
    bits: Cell<*const AtomicU64>,
    /// The loops that are nested in each other, the outermost first.
    loops: RefCell<Vec<Span>>,
}

/// The number of the iteration whose loops have the variables that `at` returns; `None` outside of
/// the loops.
fn number(loops: &[Span], at: impl Fn(usize) -> u64) -> Option<u64> {
    loops.iter().enumerate().try_fold(0, |number, (depth, one)| {
        one.iteration(at(depth)).map(|iteration| number * one.trips + iteration)
    })
}

impl Doacross {
    fn bit(&self, at: impl Fn(usize) -> u64) -> Option<(&AtomicU64, u64)> {
        if self.share.get().is_null() {
            return None;
        }
        let number = number(&self.loops.borrow(), at)?;
        // SAFETY: the share has a bit for each iteration until this thread leaves the loop.
        let word = unsafe { &*self.bits.get().add((number / 64) as usize) };
        Some((word, 1 << (number % 64)))
    }
}

impl Member {
    /// The number of nested loops.
    fn depth(&self) -> usize {
        self.doacross.loops.borrow().len()
    }

    /// The thread comes to loops with `doacross` dependences.
    pub(crate) fn enter_doacross(&self, loops: impl Iterator<Item = Span>) {
        self.leave_doacross();
        if self.region().size == 1 {
            return;
        }
        let across = &self.doacross;
        let mut own = across.loops.borrow_mut();
        own.clear();
        own.extend(loops);
        let all = own.iter().try_fold(1_u64, |all, one| all.checked_mul(one.trips));
        let bytes = all.and_then(|all| usize::try_from(all.div_ceil(64) * 8).ok());
        let Some(bytes) = bytes else {
            abort_with(b"evenkeel: a loop has too many iterations that others wait for\n")
        };
        let share = self.meet();
        // SAFETY: a share lives until this thread has left.
        if let Some(one) = unsafe { share.as_ref() } {
            across.bits.set(one.zeros(bytes).cast_const().cast());
        }
        across.share.set(share);
    }

    /// `depend(source)`: no iteration has to wait for this one any more.
    pub(crate) fn post(&self, at: impl Fn(usize) -> u64) {
        if let Some((word, bit)) = self.doacross.bit(&at) {
            if ompt::is_on() {
                ompt::doacross_posts((0..self.depth()).map(&at));
            }
            // Pairs with the load of `wait_for`.
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// `depend(sink)`: waits for an iteration, if the loops have this one.
    pub(crate) fn wait_for(&self, at: impl Fn(usize) -> u64) {
        if let Some((word, bit)) = self.doacross.bit(&at) {
            if ompt::is_on() {
                ompt::doacross_waits((0..self.depth()).map(&at));
            }
            wait::until(|| word.load(Ordering::Acquire) & bit != 0 || self.gives_up());
        }
    }

    /// The thread leaves such loops, if any.
    pub(crate) fn leave_doacross(&self) {
        // SAFETY: a share lives until this thread has left.
        if let Some(share) = unsafe { self.doacross.share.replace(ptr::null()).as_ref() } {
            share.leave(self.region().size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_of_nested_loops_are_counted_in_order() {
        let loops = [Span::through(10, 20, 5), Span::through(3, 0, -1)];
        let at = |outer: i32, inner: i32| number(&loops, |depth| [outer, inner][depth] as u64);
        assert_eq!((at(10, 3), at(10, 0), at(15, 3)), (Some(0), Some(3), Some(4)));
        assert_eq!(at(20, 0), Some(11));
        assert_eq!((at(5, 3), at(25, 3), at(10, 4), at(10, -1)), (None, None, None, None));
    }
}

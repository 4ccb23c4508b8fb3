//! Iterations that wait for others of the same loop: each has a bit that says that it may be
//! waited for no longer.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Member;
use crate::iterations::Span;
use crate::ompt;
use crate::team::share::Share;
use crate::unsupported::abort_with;
use crate::wait;

/// What a thread knows of a loop with such iterations.
#[derive(Default)]
pub(crate) struct Across {
    /// Null outside of such a loop, and in a region of one thread, which runs all in order.
    share: Cell<*const Share>,
    bits: Cell<*const AtomicU64>,
    /// The loops that are nested in each other, the outermost first.
    loops: RefCell<Vec<Span>>,
}

/// Which of all iterations one is, whose loops have the variables that `at` gives; nothing if
/// there is none.
fn number(loops: &[Span], at: impl Fn(usize) -> u64) -> Option<u64> {
    loops.iter().enumerate().try_fold(0, |number, (depth, one)| {
        one.iteration(at(depth)).map(|iteration| number * one.trips + iteration)
    })
}

impl Across {
    fn bit(&self, at: impl Fn(usize) -> u64) -> Option<(&AtomicU64, u64)> {
        if self.share.get().is_null() {
            return None;
        }
        let number = number(&self.loops.borrow(), at)?;
        // SAFETY: there is a bit for each iteration until this thread leaves the loop.
        let word = unsafe { &*self.bits.get().add((number / 64) as usize) };
        Some((word, 1 << (number % 64)))
    }
}

impl Member {
    /// How many loops are nested in each other, of which iterations wait for others.
    fn depth(&self) -> usize {
        self.across.loops.borrow().len()
    }

    /// The thread comes to loops whose iterations wait for others.
    pub(crate) fn enter_across(&self, loops: impl Iterator<Item = Span>) {
        self.leave_across();
        if self.region().size == 1 {
            return;
        }
        let across = &self.across;
        let mut own = across.loops.borrow_mut();
        own.clear();
        own.extend(loops);
        let all = own.iter().try_fold(1_u64, |all, one| all.checked_mul(one.trips));
        let bytes = all.and_then(|all| usize::try_from(all.div_ceil(64) * 8).ok());
        let Some(bytes) = bytes else {
            abort_with(b"evenkeel: a loop has too many iterations that others wait for\n")
        };
        let share = self.meet();
        // SAFETY: a share lives until this thread has left it.
        if let Some(one) = unsafe { share.as_ref() } {
            across.bits.set(one.zeros(bytes).cast_const().cast());
        }
        across.share.set(share);
    }

    /// Others need not wait for this iteration any more.
    pub(crate) fn post(&self, at: impl Fn(usize) -> u64) {
        if let Some((word, bit)) = self.across.bit(&at) {
            if ompt::is_on() {
                ompt::doacross_posts((0..self.depth()).map(&at));
            }
            // Pairs with whoever waits.
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// Waits for an iteration; not for one that there is not.
    pub(crate) fn wait_for(&self, at: impl Fn(usize) -> u64) {
        if let Some((word, bit)) = self.across.bit(&at) {
            if ompt::is_on() {
                ompt::doacross_waits((0..self.depth()).map(&at));
            }
            wait::until(|| word.load(Ordering::Acquire) & bit != 0 || self.gives_up());
        }
    }

    /// The thread leaves such loops, if it is in any.
    pub(crate) fn leave_across(&self) {
        // SAFETY: a share lives until this thread has left it.
        if let Some(share) = unsafe { self.across.share.replace(ptr::null()).as_ref() } {
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

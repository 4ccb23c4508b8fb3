//! gcc's calls that say all of a loop at once, and what its threads share besides.

use std::ffi::{c_long, c_ulonglong, c_void};

use super::gomp;
use crate::flag::Flag;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::Asked;
use crate::registration::member;
use crate::task::reduction_gomp;

/// What a loop's threads share besides its iterations.
#[derive(Clone, Copy)]
pub(super) struct Besides {
    /// Task reductions; null if there are none.
    pub reductions: *mut usize,
    /// How many bytes of zeros are wanted, and then where they are; null if none are.
    pub zeros: *mut *mut c_void,
}

impl Besides {
    /// What is asked with that.
    pub(super) fn asked(&self, asked: Asked) -> Asked {
        let shares = !self.reductions.is_null() || !self.zeros.is_null();
        Asked { shares, ..asked }
    }

    /// The thread has come to the loop.
    ///
    /// # Safety
    /// Both are as the compiler makes them.
    pub(super) unsafe fn share(&self, member: &Member) {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.reductions.is_null() {
                reduction_gomp::share(member, member.work.share(), self.reductions);
            }
            if let Some(zeros) = self.zeros.as_mut() {
                *zeros = member.zeros(zeros.addr());
            }
        }
    }
}

/// # Safety
/// Everything is as the compiler makes it; `from` is null where the program finds the chunks.
unsafe fn start<T: Index>(
    span: Span,
    asked: Asked,
    (from, to): (*mut T, *mut T),
    besides: Besides,
) -> bool {
    let member = member();
    member.enter_loop(span, besides.asked(asked));
    ompt::works(At::Begin, || (Work::Loop, span.trips));
    // SAFETY: the caller's promise.
    unsafe {
        besides.share(member);
        from.is_null() || gomp::give(member, from, to)
    }
}

/// Functions that begin a loop of which a number says how.
macro_rules! starts {
    ($($name:ident $ull:ident $is_ordered:expr;)*) => {$(
        /// A loop begins.
        ///
        /// # Safety
        /// Everything is as the compiler makes it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: c_long,
            end: c_long,
            step: c_long,
            schedule: c_long,
            chunk: c_long,
            from: *mut c_long,
            to: *mut c_long,
            reductions: *mut usize,
            zeros: *mut *mut c_void,
        ) -> bool {
            let span = Span::before(start, end, step as u64, step > 0);
            let asked = gomp::asked(schedule, u64::try_from(chunk).unwrap_or_default());
            let asked = Asked { is_ordered: $is_ordered, ..asked };
            // SAFETY: the caller's promise.
            unsafe { self::start(span, asked, (from, to), Besides { reductions, zeros }) }
        }

        /// The same.
        ///
        /// # Safety
        /// Everything is as the compiler makes it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(
            is_up: Flag,
            start: c_ulonglong,
            end: c_ulonglong,
            step: c_ulonglong,
            schedule: c_long,
            chunk: c_ulonglong,
            from: *mut c_ulonglong,
            to: *mut c_ulonglong,
            reductions: *mut usize,
            zeros: *mut *mut c_void,
        ) -> bool {
            let span = Span::before(start, end, step, is_up.is_set());
            let asked = Asked { is_ordered: $is_ordered, ..gomp::asked(schedule, chunk) };
            // SAFETY: the caller's promise.
            unsafe { self::start(span, asked, (from, to), Besides { reductions, zeros }) }
        }
    )*};
}

starts! {
    GOMP_loop_start GOMP_loop_ull_start false;
    GOMP_loop_ordered_start GOMP_loop_ull_ordered_start true;
}

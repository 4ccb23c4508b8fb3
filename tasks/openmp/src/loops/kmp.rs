//! clang's calls for loops whose chunks are given out one by one.

use super::runtime;
use crate::ident::Ident;
use crate::iterations::{self, Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::{LoopOptions, LoopSchedule};
use crate::registration::member;

/// `sched_type` without the flags.
const STATIC_CHUNKED: i32 = 33;
const STATIC: i32 = 34;
const DYNAMIC: i32 = 35;
const GUIDED: i32 = 36;
const RUNTIME: i32 = 37;
const TRAPEZOIDAL: i32 = 39;
const GUIDED_ITERATIVE: i32 = 42;
const GUIDED_ANALYTICAL: i32 = 43;
const STATIC_STEAL: i32 = 44;
const STATIC_BALANCED_CHUNKED: i32 = 45;
const GUIDED_SIMD: i32 = 46;
const RUNTIME_SIMD: i32 = 47;
/// The offset of `ordered` loops.
const ORDERED: i32 = 32;
/// The numbers of ordered loops.
const ORDERED_ALL: std::ops::Range<i32> = 64..80;
/// The offset of loops whose chunks may be given out in any order.
const UNMERGED: i32 = 128;
/// From this number on that was added.
const UNMERGED_FIRST: i32 = 160;
/// The flags `monotonic` and `nonmonotonic`.
const MODIFIERS: i32 = 1 << 29 | 1 << 30;

/// The schedule of clang's number.
pub(super) fn asked(schedule: i32, chunk: u64) -> LoopOptions {
    let mut kind = schedule & !MODIFIERS;
    if kind >= UNMERGED_FIRST {
        kind -= UNMERGED;
    }
    let is_ordered = ORDERED_ALL.contains(&kind);
    if is_ordered {
        kind -= ORDERED;
    }
    let (how, chunk) = match kind {
        STATIC_CHUNKED => (LoopSchedule::Static, chunk.max(1)),
        STATIC_BALANCED_CHUNKED => (LoopSchedule::Balanced, chunk),
        DYNAMIC | STATIC_STEAL => (LoopSchedule::Dynamic, chunk),
        GUIDED | TRAPEZOIDAL | GUIDED_ITERATIVE | GUIDED_ANALYTICAL => {
            (LoopSchedule::Guided, chunk)
        }
        GUIDED_SIMD => (LoopSchedule::GuidedWhole, chunk),
        RUNTIME_SIMD => of_vectors(runtime(), chunk.max(1)),
        RUNTIME => {
            let LoopOptions { how, chunk, .. } = runtime();
            (how, chunk)
        }
        // Also `auto`.
        _ => (LoopSchedule::Static, 0),
    };
    let chunk = if kind == STATIC { 0 } else { chunk };
    LoopOptions { how, chunk, is_ordered, shares: false }
}

/// The schedule of a `simd` loop, whose chunks are multiples of the vector width.
fn of_vectors(asked: LoopOptions, width: u64) -> (LoopSchedule, u64) {
    match asked.how {
        LoopSchedule::Static | LoopSchedule::Balanced => (LoopSchedule::Balanced, width),
        LoopSchedule::Dynamic => (LoopSchedule::Dynamic, asked.chunk.max(1).saturating_mul(width)),
        _ => (LoopSchedule::GuidedWhole, asked.chunk.max(1).saturating_mul(width)),
    }
}

/// The next chunk.
///
/// # Safety
/// Each pointer is null, or leads to a variable that may be written.
unsafe fn next<T: Index>(
    member: &Member,
    last: *mut i32,
    lower: *mut T,
    upper: *mut T,
    stride: *mut i64,
) -> bool {
    let Some(chunk) = member.next_chunk() else {
        member.leave_loop();
        ompt::works(At::End, || (Work::Loop, 0));
        return false;
    };
    let (work, span) = (&member.work, member.work.span());
    // SAFETY: each pointer is null, or leads to a variable that may be written.
    unsafe {
        if let Some(last) = last.as_mut() {
            *last = work.has_last().into();
        }
        if let Some(lower) = lower.as_mut() {
            *lower = T::of(span.at(chunk.start));
        }
        if let Some(upper) = upper.as_mut() {
            *upper = T::of(span.at(chunk.end - 1));
        }
        if let Some(stride) = stride.as_mut() {
            *stride = span.step as i64;
        }
    }
    true
}

/// The part of a loop that the league's current team has.
pub(super) fn of_team<T: Index>(member: &Member, lower: T, upper: T, step: i64) -> (Span, bool) {
    let whole = Span::through(lower, upper, step);
    let league = member.region().league.get();
    let part = iterations::block(whole.trips, league.teams, league.number);
    let has_last = part.end == whole.trips && !part.is_empty();
    let trips = part.end - part.start;
    (Span { first: whole.at(part.start), trips, ..whole }, has_last)
}

/// The functions for one type of numbers.
macro_rules! dispatch {
    ($of_type:ty, $step:ty, $init:ident, $dist:ident, $next:ident, $fini:ident) => {
        /// The thread comes to a loop.
        #[unsafe(no_mangle)]
        pub extern "C" fn $init(
            _where: *mut Ident,
            _thread: i32,
            schedule: i32,
            lower: $of_type,
            upper: $of_type,
            step: $step,
            chunk: $step,
        ) {
            let span = Span::through(lower, upper, step.into());
            let asked = asked(schedule, u64::try_from(chunk).unwrap_or_default());
            member().enter_loop(span, asked);
            ompt::works(At::Begin, || (Work::Loop, span.trips));
        }

        /// The thread comes to a loop that the league's teams divide first.
        ///
        /// # Safety
        /// `last` is null, or points to a variable that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dist(
            _where: *mut Ident,
            _thread: i32,
            schedule: i32,
            last: *mut i32,
            lower: $of_type,
            upper: $of_type,
            step: $step,
            chunk: $step,
        ) {
            let member = member();
            let (span, has_last) = of_team(member, lower, upper, step.into());
            // SAFETY: `last` is null, or points to a variable that may be written.
            if let Some(last) = unsafe { last.as_mut() } {
                *last = has_last.into();
            }
            let asked = asked(schedule, u64::try_from(chunk).unwrap_or_default());
            member.enter_loop(span, asked);
            ompt::works(At::Begin, || (Work::Loop, span.trips));
        }

        /// The thread's next chunk, both ends included. Returns whether the loop had one left.
        ///
        /// # Safety
        /// Each pointer is null, or leads to a variable that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $next(
            _where: *mut Ident,
            _thread: i32,
            last: *mut i32,
            lower: *mut $of_type,
            upper: *mut $of_type,
            stride: *mut $step,
        ) -> i32 {
            let mut wide = 0;
            // SAFETY: each pointer is null, or leads to a variable that may be written.
            unsafe {
                let is_more = next(member(), last, lower, upper, &raw mut wide);
                if let (true, Some(stride)) = (is_more, stride.as_mut()) {
                    *stride = wide as $step;
                }
                is_more.into()
            }
        }

        /// An iteration of an ordered loop has ended.
        #[unsafe(no_mangle)]
        pub extern "C" fn $fini(_where: *mut Ident, _thread: i32) {
            member().end_iteration();
        }
    };
}

dispatch!(
    i32,
    i32,
    __kmpc_dispatch_init_4,
    __kmpc_dist_dispatch_init_4,
    __kmpc_dispatch_next_4,
    __kmpc_dispatch_fini_4
);
dispatch!(
    u32,
    i32,
    __kmpc_dispatch_init_4u,
    __kmpc_dist_dispatch_init_4u,
    __kmpc_dispatch_next_4u,
    __kmpc_dispatch_fini_4u
);
dispatch!(
    i64,
    i64,
    __kmpc_dispatch_init_8,
    __kmpc_dist_dispatch_init_8,
    __kmpc_dispatch_next_8,
    __kmpc_dispatch_fini_8
);
dispatch!(
    u64,
    i64,
    __kmpc_dispatch_init_8u,
    __kmpc_dist_dispatch_init_8u,
    __kmpc_dispatch_next_8u,
    __kmpc_dispatch_fini_8u
);

/// The thread has left the loop.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_dispatch_deinit(_where: *mut Ident, _thread: i32) {
    member().leave_loop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_schedules_are_understood() {
        let (ordered, shares) = (false, false);
        let plain = |how, chunk| LoopOptions { how, chunk, is_ordered: ordered, shares };
        assert_eq!(asked(33, 4), plain(LoopSchedule::Static, 4));
        assert_eq!(asked(34, 1), plain(LoopSchedule::Static, 0));
        assert_eq!(asked(35 | 1 << 30, 2), plain(LoopSchedule::Dynamic, 2));
        assert_eq!(asked(36 | 1 << 29, 0), plain(LoopSchedule::Guided, 0));
        assert_eq!(asked(45, 8), plain(LoopSchedule::Balanced, 8));
        assert_eq!(
            asked(66, 1),
            LoopOptions { is_ordered: true, ..plain(LoopSchedule::Static, 0) }
        );
        assert_eq!(
            asked(67, 3),
            LoopOptions { is_ordered: true, ..plain(LoopSchedule::Dynamic, 3) }
        );
        assert_eq!(asked(163, 3), plain(LoopSchedule::Dynamic, 3));
        assert_eq!(
            asked(195, 3),
            LoopOptions { is_ordered: true, ..plain(LoopSchedule::Dynamic, 3) }
        );
    }
}

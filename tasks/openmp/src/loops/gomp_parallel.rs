//! gcc's calls for a region that is nothing but a loop or sections, and the ends of these.

use std::ffi::{c_long, c_uint, c_void};

use super::{runtime, sections};
use crate::iterations::Span;
use crate::ompt::{self, At, Wait, Work};
use crate::parallel::{Wanted, run_loop_region, start_combined};
use crate::region::Member;
use crate::region::job::{CombinedLoop, Function};
use crate::region::work::{LoopOptions, LoopSchedule};
use crate::registration::member;

fn loop_of(start: c_long, end: c_long, step: c_long, asked: LoopOptions) -> CombinedLoop {
    let span = Span::before(start, end, step as u64, step > 0);
    CombinedLoop { span, asked, work: Work::Loop }
}

fn chunked(how: LoopSchedule, chunk: c_long) -> LoopOptions {
    LoopOptions { how, chunk: u64::try_from(chunk).unwrap_or_default(), ..LoopOptions::default() }
}

/// Functions that run a region whose loop's chunk the program says.
macro_rules! regions {
    ($($name:ident = $how:expr;)*) => {$(
        /// Runs a region that is a loop.
        ///
        /// # Safety
        /// `function` may be called with `data` in any thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            function: Function,
            data: *mut c_void,
            threads: c_uint,
            start: c_long,
            end: c_long,
            step: c_long,
            chunk: c_long,
            flags: c_uint,
        ) {
            let combined = loop_of(start, end, step, chunked($how, chunk));
            // SAFETY: `function` may be called with `data` in any thread.
            unsafe { run_loop_region(function, data, Wanted::of_gomp(threads, flags), combined) };
        }
    )*};
}

/// Functions that run regions with a loop of `schedule(runtime)`.
macro_rules! runtime_regions {
    ($($name:ident)*) => {$(
        /// Runs a region that is a loop.
        ///
        /// # Safety
        /// `function` may be called with `data` in any thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            function: Function,
            data: *mut c_void,
            threads: c_uint,
            start: c_long,
            end: c_long,
            step: c_long,
            flags: c_uint,
        ) {
            let combined = loop_of(start, end, step, runtime());
            // SAFETY: `function` may be called with `data` in any thread.
            unsafe { run_loop_region(function, data, Wanted::of_gomp(threads, flags), combined) };
        }
    )*};
}

/// Before 4.9: functions that only begin such a region.
macro_rules! region_starts {
    ($($name:ident = $how:expr;)*) => {$(
        /// A region that is a loop begins; `GOMP_parallel_end` ends it.
        ///
        /// # Safety
        /// `function` may be called with `data` in any thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            function: Function,
            data: *mut c_void,
            threads: c_uint,
            start: c_long,
            end: c_long,
            step: c_long,
            chunk: c_long,
        ) {
            let combined = loop_of(start, end, step, chunked($how, chunk));
            // SAFETY: `function` may be called with `data` in any thread.
            unsafe { start_combined(function, data, threads, Some(combined)) };
        }
    )*};
}

regions! {
    GOMP_parallel_loop_static = LoopSchedule::Static;
    GOMP_parallel_loop_dynamic = LoopSchedule::Dynamic;
    GOMP_parallel_loop_guided = LoopSchedule::Guided;
    GOMP_parallel_loop_nonmonotonic_dynamic = LoopSchedule::Dynamic;
    GOMP_parallel_loop_nonmonotonic_guided = LoopSchedule::Guided;
}

runtime_regions! {
    GOMP_parallel_loop_runtime
    GOMP_parallel_loop_nonmonotonic_runtime
    GOMP_parallel_loop_maybe_nonmonotonic_runtime
}

region_starts! {
    GOMP_parallel_loop_static_start = LoopSchedule::Static;
    GOMP_parallel_loop_dynamic_start = LoopSchedule::Dynamic;
    GOMP_parallel_loop_guided_start = LoopSchedule::Guided;
}

/// gcc, before 4.9: begins a region that is a loop with `schedule(runtime)`.
///
/// # Safety
/// `function` may be called with `data` in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_loop_runtime_start(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    start: c_long,
    end: c_long,
    step: c_long,
) {
    let combined = loop_of(start, end, step, runtime());
    // SAFETY: `function` may be called with `data` in any thread.
    unsafe { start_combined(function, data, threads, Some(combined)) };
}

/// Runs a region that is a `sections` construct.
///
/// # Safety
/// `function` may be called with `data` in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_sections(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    number: c_uint,
    flags: c_uint,
) {
    // SAFETY: `function` may be called with `data` in any thread.
    unsafe {
        run_loop_region(function, data, Wanted::of_gomp(threads, flags), sections::combined(number))
    };
}

/// gcc, before 4.9: begins a region that is a loop.
///
/// # Safety
/// `function` may be called with `data` in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_sections_start(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    number: c_uint,
) {
    // SAFETY: `function` may be called with `data` in any thread.
    unsafe { start_combined(function, data, threads, Some(sections::combined(number))) };
}

fn leave(member: &Member, work: Work) {
    member.leave_constructs();
    ompt::works(At::End, || (work, 0));
}

/// Functions that end a loop or sections.
macro_rules! ends {
    ($($end:ident $no_wait:ident $cancel:ident = $work:expr;)*) => {$(
        /// The thread has left the construct, and waits for the other threads.
        #[unsafe(no_mangle)]
        pub extern "C" fn $end() {
            leave(member(), $work);
            ompt::waits(|| Wait::Implicit, || member().barrier());
        }

        /// The thread has left the construct.
        #[unsafe(no_mangle)]
        pub extern "C" fn $no_wait() {
            leave(member(), $work);
        }

        /// The thread has left the construct, and waits for the other threads. Returns whether the
        /// region is cancelled.
        #[unsafe(no_mangle)]
        pub extern "C" fn $cancel() -> bool {
            leave(member(), $work);
            ompt::waits(|| Wait::Implicit, || member().barrier())
        }
    )*};
}

ends! {
    GOMP_loop_end GOMP_loop_end_nowait GOMP_loop_end_cancel = Work::Loop;
    GOMP_sections_end GOMP_sections_end_nowait GOMP_sections_end_cancel = Work::Sections;
}

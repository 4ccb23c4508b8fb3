//! gcc's calls for a region that is nothing but a loop or sections, and the ends of these.

use std::ffi::{c_long, c_uint, c_void};

use super::{runtime, sections};
use crate::iterations::Span;
use crate::ompt::{self, At, Wait, Work};
use crate::parallel::{Wanted, fork_filled, start_filled};
use crate::region::Member;
use crate::region::job::{Filled, Function};
use crate::region::work::{Asked, How};
use crate::registration::member;

fn loop_of(start: c_long, end: c_long, step: c_long, asked: Asked) -> Filled {
    let span = Span::before(start, end, step as u64, step > 0);
    Filled { span, asked, work: Work::Loop }
}

fn chunked(how: How, chunk: c_long) -> Asked {
    Asked { how, chunk: u64::try_from(chunk).unwrap_or_default(), ..Asked::default() }
}

/// Functions that run a region whose loop's chunk the program says.
macro_rules! regions {
    ($($name:ident = $how:expr;)*) => {$(
        /// Runs a region that is a loop.
        ///
        /// # Safety
        /// `function` takes `data`, in any thread.
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
            let filled = loop_of(start, end, step, chunked($how, chunk));
            // SAFETY: the caller's promise.
            unsafe { fork_filled(function, data, Wanted::of_gomp(threads, flags), filled) };
        }
    )*};
}

/// The same, as `schedule(runtime)` says.
macro_rules! runtime_regions {
    ($($name:ident)*) => {$(
        /// Runs a region that is a loop.
        ///
        /// # Safety
        /// `function` takes `data`, in any thread.
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
            let filled = loop_of(start, end, step, runtime());
            // SAFETY: the caller's promise.
            unsafe { fork_filled(function, data, Wanted::of_gomp(threads, flags), filled) };
        }
    )*};
}

/// Before 4.9: functions that only begin such a region.
macro_rules! region_starts {
    ($($name:ident = $how:expr;)*) => {$(
        /// A region that is a loop begins; `GOMP_parallel_end` ends it.
        ///
        /// # Safety
        /// `function` takes `data`, in any thread.
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
            let filled = loop_of(start, end, step, chunked($how, chunk));
            // SAFETY: the caller's promise.
            unsafe { start_filled(function, data, threads, Some(filled)) };
        }
    )*};
}

regions! {
    GOMP_parallel_loop_static = How::Static;
    GOMP_parallel_loop_dynamic = How::Dynamic;
    GOMP_parallel_loop_guided = How::Guided;
    GOMP_parallel_loop_nonmonotonic_dynamic = How::Dynamic;
    GOMP_parallel_loop_nonmonotonic_guided = How::Guided;
}

runtime_regions! {
    GOMP_parallel_loop_runtime
    GOMP_parallel_loop_nonmonotonic_runtime
    GOMP_parallel_loop_maybe_nonmonotonic_runtime
}

region_starts! {
    GOMP_parallel_loop_static_start = How::Static;
    GOMP_parallel_loop_dynamic_start = How::Dynamic;
    GOMP_parallel_loop_guided_start = How::Guided;
}

/// As above, as `schedule(runtime)` says.
///
/// # Safety
/// `function` takes `data`, in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_loop_runtime_start(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    start: c_long,
    end: c_long,
    step: c_long,
) {
    let filled = loop_of(start, end, step, runtime());
    // SAFETY: the caller's promise.
    unsafe { start_filled(function, data, threads, Some(filled)) };
}

/// Runs a region that is so many sections.
///
/// # Safety
/// `function` takes `data`, in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_sections(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    number: c_uint,
    flags: c_uint,
) {
    // SAFETY: the caller's promise.
    unsafe {
        fork_filled(function, data, Wanted::of_gomp(threads, flags), sections::filled(number))
    };
}

/// Before 4.9: it begins.
///
/// # Safety
/// `function` takes `data`, in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_sections_start(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    number: c_uint,
) {
    // SAFETY: the caller's promise.
    unsafe { start_filled(function, data, threads, Some(sections::filled(number))) };
}

fn leave(member: &Member, work: Work) {
    member.leave_constructs();
    ompt::works(At::End, || (work, 0));
}

/// Functions that end a loop or sections.
macro_rules! ends {
    ($($end:ident $no_wait:ident $cancel:ident = $work:expr;)*) => {$(
        /// The thread has left them, and waits for the others.
        #[unsafe(no_mangle)]
        pub extern "C" fn $end() {
            leave(member(), $work);
            ompt::waits(|| Wait::Implicit, || member().barrier());
        }

        /// It has left them.
        #[unsafe(no_mangle)]
        pub extern "C" fn $no_wait() {
            leave(member(), $work);
        }

        /// It has left them, and waits for the others. Returns whether the region is cancelled.
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

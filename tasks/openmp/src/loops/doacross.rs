//! `ordered(n)` loops, whose iterations wait for each other (`depend(sink: …)` and `doacross`).

use std::ffi::{c_long, c_uint, c_ulonglong, c_void};
use std::slice;

use super::gomp_whole::Besides;
use super::{gomp, runtime};
use crate::ident::Ident;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::work::{LoopOptions, LoopSchedule};
use crate::registration::member;

/// gcc: the thread comes to nested loops, of which the threads share the outermost. Returns whether
/// the thread got a chunk.
///
/// # Safety
/// `counts` has `number` numbers; the other arguments are those that the compiler passes.
unsafe fn start<T: Index>(
    (number, counts): (c_uint, *const T),
    asked: LoopOptions,
    (from, to): (*mut T, *mut T),
    besides: Besides,
) -> bool {
    let member = member();
    // SAFETY: `counts` has `number` numbers; the other arguments are the compiler's.
    let counts = unsafe { slice::from_raw_parts(counts, number as usize) };
    let loops = || counts.iter().map(|&count| Span::before(T::of(0), count, 1, true));
    member.enter_doacross(loops());
    let Some(outermost) = loops().next() else { return false };
    member.enter_loop(outermost, besides.asked(asked));
    ompt::works(At::Begin, || (Work::Loop, outermost.trips));
    // SAFETY: `counts` has `number` numbers; the other arguments are the compiler's.
    unsafe {
        besides.share(member);
        from.is_null() || gomp::give(member, from, to)
    }
}

/// The clauses of loops whose threads share only iterations.
const NOTHING: Besides = Besides { reductions: std::ptr::null_mut(), zeros: std::ptr::null_mut() };

fn chunked<T: Index>(how: LoopSchedule, chunk: T) -> LoopOptions {
    // A number below 0 is none.
    let chunk = if chunk < T::of(0) { 0 } else { chunk.bits() };
    LoopOptions { how, chunk, ..LoopOptions::default() }
}

/// The functions for one type of numbers.
macro_rules! starts {
    ($of_type:ty, $whole:ident, $runtime:ident; $($name:ident = $how:expr;)*) => {
        $(
            /// Such a loop begins.
            ///
            /// # Safety
            /// The arguments are those that the compiler passes for this construct.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                number: c_uint,
                counts: *const $of_type,
                chunk: $of_type,
                from: *mut $of_type,
                to: *mut $of_type,
            ) -> bool {
                // SAFETY: the arguments are those that the compiler passes.
                unsafe { start((number, counts), chunked($how, chunk), (from, to), NOTHING) }
            }
        )*

        /// gcc: loops with `schedule(runtime)`.
        ///
        /// # Safety
        /// The arguments are those that the compiler passes for this construct.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $runtime(
            number: c_uint,
            counts: *const $of_type,
            from: *mut $of_type,
            to: *mut $of_type,
        ) -> bool {
            // SAFETY: the arguments are those that the compiler passes.
            unsafe { start((number, counts), runtime(), (from, to), NOTHING) }
        }

        /// gcc: loops whose schedule is a number, with data that the threads share.
        ///
        /// # Safety
        /// The arguments are those that the compiler passes for this construct.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $whole(
            number: c_uint,
            counts: *const $of_type,
            schedule: c_long,
            chunk: $of_type,
            from: *mut $of_type,
            to: *mut $of_type,
            reductions: *mut usize,
            zeros: *mut *mut c_void,
        ) -> bool {
            let asked = gomp::asked(schedule, chunked(LoopSchedule::Static, chunk).chunk);
            let besides = Besides { reductions, zeros };
            // SAFETY: the arguments are those that the compiler passes.
            unsafe { start((number, counts), asked, (from, to), besides) }
        }
    };
}

starts! {
    c_long, GOMP_loop_doacross_start, GOMP_loop_doacross_runtime_start;
    GOMP_loop_doacross_static_start = LoopSchedule::Static;
    GOMP_loop_doacross_dynamic_start = LoopSchedule::Dynamic;
    GOMP_loop_doacross_guided_start = LoopSchedule::Guided;
}

starts! {
    c_ulonglong, GOMP_loop_ull_doacross_start, GOMP_loop_ull_doacross_runtime_start;
    GOMP_loop_ull_doacross_static_start = LoopSchedule::Static;
    GOMP_loop_ull_doacross_dynamic_start = LoopSchedule::Dynamic;
    GOMP_loop_ull_doacross_guided_start = LoopSchedule::Guided;
}

/// gcc: `depend(source)`.
///
/// # Safety
/// The array has one number for each of the nested loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_doacross_post(at: *const c_long) {
    // SAFETY: the array has one number for each of the nested loops.
    member().post(|depth| unsafe { *at.add(depth) } as u64);
}

/// gcc: `depend(source)` in loops that count with `unsigned long long`.
///
/// # Safety
/// The array has one number for each of the nested loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_doacross_ull_post(at: *const c_ulonglong) {
    // SAFETY: the array has one number for each of the nested loops.
    member().post(|depth| unsafe { *at.add(depth) });
}

/// Arguments that a call has in registers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: usize = 6;
/// Arguments that a call has in registers.
#[cfg(target_arch = "aarch64")]
const REGISTERS: usize = 8;

/// gcc: `depend(sink)`, for the assembly of `GOMP_doacross_wait`: waits for the iteration whose
/// numbers are the arguments.
///
/// # Safety
/// Each of the nested loops has an argument, first in `registers`, then on the stack.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_doacross_wait(registers: *const u64, stack: *const u64) {
    member().wait_for(|depth| {
        // SAFETY: each of the nested loops has an argument, first in `registers`, then on the
        // stack.
        unsafe {
            match depth.checked_sub(REGISTERS) {
                None => *registers.add(depth),
                Some(place) => *stack.add(place),
            }
        }
    });
}

/// `kmp_dim`: one of the nested loops.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KmpLoop {
    lower: i64,
    upper: i64,
    step: i64,
}

/// clang: the thread comes to a nest of `number` loops.
///
/// # Safety
/// `loops` has an entry for each of the nested loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_init(
    _where: *mut Ident,
    _thread: i32,
    number: i32,
    loops: *const KmpLoop,
) {
    // SAFETY: `loops` has an entry for each of the nested loops.
    let loops = unsafe { slice::from_raw_parts(loops, usize::try_from(number).unwrap_or(0)) };
    member().enter_doacross(loops.iter().map(|one| Span::through(one.lower, one.upper, one.step)));
}

/// clang: waits for an iteration.
///
/// # Safety
/// The array has one number for each of the nested loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_wait(_where: *mut Ident, _thread: i32, at: *const i64) {
    // SAFETY: the array has one number for each of the nested loops.
    member().wait_for(|depth| unsafe { *at.add(depth) } as u64);
}

/// clang: `depend(source)`.
///
/// # Safety
/// The array has one number for each of the nested loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_post(_where: *mut Ident, _thread: i32, at: *const i64) {
    // SAFETY: the array has one number for each of the nested loops.
    member().post(|depth| unsafe { *at.add(depth) } as u64);
}

/// clang: the thread has left the loops.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_doacross_fini(_where: *mut Ident, _thread: i32) {
    member().leave_doacross();
}

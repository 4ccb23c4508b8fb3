//! `ordered` with a number of loops, whose iterations wait for others (`depend(sink: …)` and
//! `doacross`).

use std::ffi::{c_long, c_uint, c_ulonglong, c_void};
use std::slice;

use super::gomp_whole::Besides;
use super::{gomp, runtime};
use crate::ident::Ident;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::work::{Asked, How};
use crate::registration::member;

/// gcc: the thread comes to loops with so many iterations, of which the outermost is shared.
/// Returns whether there is a chunk.
///
/// # Safety
/// There are `number` of `counts`; the rest is as the compiler makes it.
unsafe fn start<T: Index>(
    (number, counts): (c_uint, *const T),
    asked: Asked,
    (from, to): (*mut T, *mut T),
    besides: Besides,
) -> bool {
    let member = member();
    // SAFETY: the caller's promise.
    let counts = unsafe { slice::from_raw_parts(counts, number as usize) };
    let loops = || counts.iter().map(|&count| Span::before(T::of(0), count, 1, true));
    member.enter_across(loops());
    let Some(outermost) = loops().next() else { return false };
    member.enter_loop(outermost, besides.asked(asked));
    ompt::works(At::Begin, || (Work::Loop, outermost.trips));
    // SAFETY: the caller's promise.
    unsafe {
        besides.share(member);
        from.is_null() || gomp::give(member, from, to)
    }
}

/// What loops that share nothing but iterations say.
const NOTHING: Besides = Besides { reductions: std::ptr::null_mut(), zeros: std::ptr::null_mut() };

fn chunked<T: Index>(how: How, chunk: T) -> Asked {
    // A number below 0 is none.
    let chunk = if chunk < T::of(0) { 0 } else { chunk.bits() };
    Asked { how, chunk, ..Asked::default() }
}

/// The functions for one type of numbers.
macro_rules! starts {
    ($of_type:ty, $whole:ident, $runtime:ident; $($name:ident = $how:expr;)*) => {
        $(
            /// Such a loop begins.
            ///
            /// # Safety
            /// Everything is as the compiler makes it.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                number: c_uint,
                counts: *const $of_type,
                chunk: $of_type,
                from: *mut $of_type,
                to: *mut $of_type,
            ) -> bool {
                // SAFETY: the caller's promise.
                unsafe { start((number, counts), chunked($how, chunk), (from, to), NOTHING) }
            }
        )*

        /// The same, as `schedule(runtime)` says.
        ///
        /// # Safety
        /// Everything is as the compiler makes it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $runtime(
            number: c_uint,
            counts: *const $of_type,
            from: *mut $of_type,
            to: *mut $of_type,
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe { start((number, counts), runtime(), (from, to), NOTHING) }
        }

        /// The same, where a number says how.
        ///
        /// # Safety
        /// Everything is as the compiler makes it.
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
            let asked = gomp::asked(schedule, chunked(How::Static, chunk).chunk);
            let besides = Besides { reductions, zeros };
            // SAFETY: the caller's promise.
            unsafe { start((number, counts), asked, (from, to), besides) }
        }
    };
}

starts! {
    c_long, GOMP_loop_doacross_start, GOMP_loop_doacross_runtime_start;
    GOMP_loop_doacross_static_start = How::Static;
    GOMP_loop_doacross_dynamic_start = How::Dynamic;
    GOMP_loop_doacross_guided_start = How::Guided;
}

starts! {
    c_ulonglong, GOMP_loop_ull_doacross_start, GOMP_loop_ull_doacross_runtime_start;
    GOMP_loop_ull_doacross_static_start = How::Static;
    GOMP_loop_ull_doacross_dynamic_start = How::Dynamic;
    GOMP_loop_ull_doacross_guided_start = How::Guided;
}

/// gcc: this iteration is done, as far as others wait for it.
///
/// # Safety
/// There are as many numbers as loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_doacross_post(at: *const c_long) {
    // SAFETY: the caller's promise.
    member().post(|depth| unsafe { *at.add(depth) } as u64);
}

/// The same.
///
/// # Safety
/// There are as many numbers as loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_doacross_ull_post(at: *const c_ulonglong) {
    // SAFETY: the caller's promise.
    member().post(|depth| unsafe { *at.add(depth) });
}

/// Arguments that a call has in registers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: usize = 6;
/// As above.
#[cfg(target_arch = "aarch64")]
const REGISTERS: usize = 8;

/// What `GOMP_doacross_wait` becomes: waits for the iteration whose numbers are the arguments.
///
/// # Safety
/// There are as many arguments as loops, first in `registers`, then on the stack.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_doacross_wait(registers: *const u64, stack: *const u64) {
    member().wait_for(|depth| {
        // SAFETY: the caller's promise.
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

/// clang: the thread comes to so many nested loops.
///
/// # Safety
/// There are as many loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_init(
    _where: *mut Ident,
    _thread: i32,
    number: i32,
    loops: *const KmpLoop,
) {
    // SAFETY: the caller's promise.
    let loops = unsafe { slice::from_raw_parts(loops, usize::try_from(number).unwrap_or(0)) };
    member().enter_across(loops.iter().map(|one| Span::through(one.lower, one.upper, one.step)));
}

/// clang: waits for an iteration.
///
/// # Safety
/// There are as many numbers as loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_wait(_where: *mut Ident, _thread: i32, at: *const i64) {
    // SAFETY: the caller's promise.
    member().wait_for(|depth| unsafe { *at.add(depth) } as u64);
}

/// clang: this iteration is done, as far as others wait for it.
///
/// # Safety
/// There are as many numbers as loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_post(_where: *mut Ident, _thread: i32, at: *const i64) {
    // SAFETY: the caller's promise.
    member().post(|depth| unsafe { *at.add(depth) } as u64);
}

/// clang: the thread has left the loops.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_doacross_fini(_where: *mut Ident, _thread: i32) {
    member().leave_across();
}

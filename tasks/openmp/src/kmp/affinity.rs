//! libomp's masks of CPUs: a thread can be bound by them, apart from OpenMP's places.

use std::ffi::c_int;
use std::ptr;

use crate::affinity;
use crate::place::NOWHERE;
use crate::processors::{self, Mask};
use crate::registration::current_thread;

/// libomp's answer for a number that no CPU can have.
const NO_NUMBER: c_int = -1;
/// libomp's answer for a CPU that this process may not use.
const NOT_HERE: c_int = -2;

/// `kmp_affinity_mask_t`.
type Handle = *mut Mask;

/// Makes an empty mask.
///
/// # Safety
/// `handle` points to a variable that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_create_affinity_mask(handle: *mut Handle) {
    // SAFETY: `handle` points to a variable that may be written.
    unsafe { handle.write(Box::into_raw(Box::new(Mask::of(&[])))) };
}

/// Ends a mask.
///
/// # Safety
/// The program has made the mask, which is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_destroy_affinity_mask(handle: *mut Handle) {
    // SAFETY: the program has made the mask, which is used no more.
    unsafe {
        drop(Box::from_raw(*handle));
        *handle = ptr::null_mut();
    }
}

/// Binds the calling thread to the CPUs of a mask. Returns 0, or the kernel's error.
///
/// # Safety
/// The program has made the mask with [`kmp_create_affinity_mask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_set_affinity(handle: *const Handle) -> c_int {
    current_thread().place.set(NOWHERE);
    // SAFETY: the program has made the mask with `kmp_create_affinity_mask`.
    unsafe { (**handle).allow() }
}

/// Makes a mask that of the calling thread.
///
/// # Safety
/// The program has made the mask with [`kmp_create_affinity_mask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_get_affinity(handle: *const Handle) -> c_int {
    affinity::find(current_thread());
    // SAFETY: the program has made the mask with `kmp_create_affinity_mask`.
    unsafe { **handle = Mask::of(&processors::allowed()) };
    0
}

/// One more than the highest number of a CPU.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_affinity_max_proc() -> c_int {
    processors::available().last().map_or(0, |&last| last as c_int + 1)
}

/// A CPU that the process may use, or libomp's answer for all other numbers.
fn here(cpu: c_int) -> Result<u32, c_int> {
    let number = u32::try_from(cpu).map_err(|_| NO_NUMBER)?;
    if cpu >= kmp_get_affinity_max_proc() {
        return Err(NO_NUMBER);
    }
    if processors::available().contains(&number) { Ok(number) } else { Err(NOT_HERE) }
}

/// Adds a CPU to a mask.
///
/// # Safety
/// The program has made the mask with [`kmp_create_affinity_mask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_set_affinity_mask_proc(cpu: c_int, handle: *const Handle) -> c_int {
    // SAFETY: the program has made the mask with `kmp_create_affinity_mask`.
    here(cpu).map_or_else(|answer| answer, |cpu| unsafe { (**handle).put(cpu, true) })
}

/// Takes a CPU out of a mask.
///
/// # Safety
/// The program has made the mask with [`kmp_create_affinity_mask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_unset_affinity_mask_proc(cpu: c_int, handle: *const Handle) -> c_int {
    // SAFETY: the program has made the mask with `kmp_create_affinity_mask`.
    here(cpu).map_or_else(|answer| answer, |cpu| unsafe { (**handle).put(cpu, false) })
}

/// Whether a CPU is in a mask.
///
/// # Safety
/// The program has made the mask with [`kmp_create_affinity_mask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_get_affinity_mask_proc(cpu: c_int, handle: *const Handle) -> c_int {
    // SAFETY: the program has made the mask with `kmp_create_affinity_mask`.
    here(cpu).map_or_else(|answer| answer, |cpu| unsafe { (**handle).has(cpu).into() })
}

/// Fortran's names of functions that take a mask, by address as in C.
macro_rules! of_a_mask {
    ($($name:ident = $function:ident -> $result:ty;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// The program has made the mask.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: *mut Handle) -> $result {
            // SAFETY: the program has made the mask.
            unsafe { $function(handle) }
        }
    )*};
}

of_a_mask! {
    kmp_create_affinity_mask_ = kmp_create_affinity_mask -> ();
    kmp_destroy_affinity_mask_ = kmp_destroy_affinity_mask -> ();
    kmp_set_affinity_ = kmp_set_affinity -> c_int;
    kmp_get_affinity_ = kmp_get_affinity -> c_int;
}

/// Fortran's and flang's names of functions that take a CPU and a mask.
macro_rules! of_a_cpu {
    ($($fortran:ident $flang:ident = $function:ident;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// The program has made the mask; `cpu` points to a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran(cpu: *const c_int, handle: *const Handle) -> c_int {
            // SAFETY: the program has made the mask; `cpu` points to a number.
            unsafe { $function(*cpu, handle) }
        }

        #[doc = concat!("flang's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// The program has made the mask.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $flang(cpu: c_int, handle: *const Handle) -> c_int {
            // SAFETY: the program has made the mask.
            unsafe { $function(cpu, handle) }
        }
    )*};
}

of_a_cpu! {
    kmp_set_affinity_mask_proc_ kmpc_set_affinity_mask_proc = kmp_set_affinity_mask_proc;
    kmp_unset_affinity_mask_proc_ kmpc_unset_affinity_mask_proc = kmp_unset_affinity_mask_proc;
    kmp_get_affinity_mask_proc_ kmpc_get_affinity_mask_proc = kmp_get_affinity_mask_proc;
}

/// Fortran's `kmp_get_affinity_max_proc`.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_affinity_max_proc_() -> c_int {
    kmp_get_affinity_max_proc()
}

/// Lets the calling thread run where the process could at the start.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_set_thread_affinity_mask_initial() -> c_int {
    processors::allow(processors::available());
    current_thread().place.set(NOWHERE);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_where_its_mask_says() {
        std::thread::spawn(|| {
            let mut mask = ptr::null_mut();
            let cpu = processors::available()[0] as c_int;
            // SAFETY: the mask is made first and ended last.
            unsafe {
                kmp_create_affinity_mask(&mut mask);
                assert_eq!(kmp_get_affinity_mask_proc(cpu, &mask), 0);
                assert_eq!(kmp_set_affinity_mask_proc(cpu, &mask), 0);
                assert_eq!(kmp_set_affinity_mask_proc(-1, &mask), NO_NUMBER);
                assert_eq!(
                    (kmp_get_affinity_mask_proc(cpu, &mask), kmp_set_affinity(&mask)),
                    (1, 0)
                );
                assert_eq!(processors::allowed(), [cpu as u32]);
                kmp_destroy_affinity_mask(&mut mask);
            }
        })
        .join()
        .unwrap();
    }
}

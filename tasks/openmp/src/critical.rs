//! Critical sections, and gcc's atomic operations that no instruction does.
//!
//! Compilers give a named section some zero bytes of the program: 8 (gcc) or 32 (clang). A free
//! lock is zero, so these bytes are the lock.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{Ordering, fence};

use crate::ident::Ident;
use crate::lock::Lock;
use crate::ompt;
use crate::registration::current_thread;
use crate::tool::mutexes::{self, Mutex};

/// Of sections without a name.
static NAMELESS: Lock = Lock::new();
/// Of atomic operations.
static ATOMIC: Lock = Lock::new();

/// Takes a lock that the program has not made.
///
/// # Safety
/// `lock` points to 4 bytes that only locks of this library use.
unsafe fn begin(mutex: Mutex, lock: *const Lock) {
    // SAFETY: `lock` points to 4 bytes that only locks of this library use; zero is a free lock.
    mutexes::taken(mutex, lock, || unsafe { (*lock).set() });
}

/// Releases a lock that the program has not made.
///
/// # Safety
/// `lock` points to 4 bytes that only locks of this library use.
unsafe fn end(mutex: Mutex, lock: *const Lock) {
    // SAFETY: `lock` points to 4 bytes that only locks of this library use.
    mutexes::given(mutex, lock, || unsafe { (*lock).unset() });
}

/// gcc: a section without a name begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_critical_start() {
    // SAFETY: The lock is made.
    unsafe { begin(Mutex::Critical, &NAMELESS) };
}

/// gcc: a section without a name ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_critical_end() {
    // SAFETY: The lock is made.
    unsafe { end(Mutex::Critical, &NAMELESS) };
}

/// gcc: a section with a name begins.
///
/// # Safety
/// `name` points to the 8 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_critical_name_start(name: *mut *mut c_void) {
    // SAFETY: `name` points to the 8 bytes of the section's name; zero is a free lock.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// gcc: a section with a name ends.
///
/// # Safety
/// `name` points to the 8 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_critical_name_end(name: *mut *mut c_void) {
    // SAFETY: `name` points to the 8 bytes of the section's name.
    unsafe { end(Mutex::Critical, name.cast()) };
}

/// gcc: an atomic operation begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_atomic_start() {
    // SAFETY: The lock is made.
    unsafe { begin(Mutex::Atomic, &ATOMIC) };
}

/// gcc: an atomic operation ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_atomic_end() {
    // SAFETY: The lock is made.
    unsafe { end(Mutex::Atomic, &ATOMIC) };
}

/// clang: a section begins.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_critical(_where: *mut Ident, _thread: c_int, name: *mut [i32; 8]) {
    // SAFETY: `name` points to the 32 bytes of the section's name; zero is a free lock.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// clang: a section with a hint begins; the hint changes nothing.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_critical_with_hint(
    _where: *mut Ident,
    _thread: c_int,
    name: *mut [i32; 8],
    _hint: u32,
) {
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// clang: a section ends.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_critical(
    _where: *mut Ident,
    _thread: c_int,
    name: *mut [i32; 8],
) {
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { end(Mutex::Critical, name.cast()) };
}

/// clang: memory is the same for all threads here.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_flush(_where: *mut Ident) {
    fence(Ordering::SeqCst);
    if ompt::is_on() {
        current_thread();
        ompt::flushed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::omp_test_lock;

    #[test]
    fn a_name_of_zeros_is_a_free_lock() {
        let mut name = [0; 8];
        let lock: *const Lock = (&raw mut name).cast();
        // SAFETY: The name is ours.
        unsafe { __kmpc_critical(std::ptr::null_mut(), 0, &mut name) };
        // SAFETY: the name is ours, and the lock is the name.
        assert_eq!(unsafe { omp_test_lock(lock) }, 0);
        // SAFETY: the name is ours.
        unsafe { __kmpc_end_critical(std::ptr::null_mut(), 0, &mut name) };
        assert_eq!(name, [0; 8]);
    }
}

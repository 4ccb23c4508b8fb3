//! Critical sections, and gcc's atomic operations that no instruction does.
//!
//! Compilers give a named section some zero bytes of the program: 8 (gcc) or 32 (clang). A lock
//! that is free is zero, so it lives there.

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
/// It points to 4 bytes of the program's, or is ours.
unsafe fn begin(mutex: Mutex, lock: *const Lock) {
    // SAFETY: As the caller promises; zero is a free lock.
    mutexes::taken(mutex, lock, || unsafe { (*lock).set() });
}

/// Lets go of it.
///
/// # Safety
/// As of [`begin`].
unsafe fn end(mutex: Mutex, lock: *const Lock) {
    // SAFETY: As the caller promises.
    mutexes::given(mutex, lock, || unsafe { (*lock).unset() });
}

/// gcc: a section without a name begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_critical_start() {
    // SAFETY: The lock is made.
    unsafe { begin(Mutex::Critical, &NAMELESS) };
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_critical_end() {
    // SAFETY: The lock is made.
    unsafe { end(Mutex::Critical, &NAMELESS) };
}

/// gcc: a section with a name begins.
///
/// # Safety
/// `name` points to the name's 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_critical_name_start(name: *mut *mut c_void) {
    // SAFETY: As the caller promises; zero is a free lock.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// It ends.
///
/// # Safety
/// As of [`GOMP_critical_name_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_critical_name_end(name: *mut *mut c_void) {
    // SAFETY: As the caller promises.
    unsafe { end(Mutex::Critical, name.cast()) };
}

/// gcc: an atomic operation begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_atomic_start() {
    // SAFETY: The lock is made.
    unsafe { begin(Mutex::Atomic, &ATOMIC) };
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_atomic_end() {
    // SAFETY: The lock is made.
    unsafe { end(Mutex::Atomic, &ATOMIC) };
}

/// clang: a section begins.
///
/// # Safety
/// `name` points to the name's 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_critical(_where: *mut Ident, _thread: c_int, name: *mut [i32; 8]) {
    // SAFETY: As the caller promises; zero is a free lock.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// The same; what the program expects of it makes no difference.
///
/// # Safety
/// As of [`__kmpc_critical`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_critical_with_hint(
    _where: *mut Ident,
    _thread: c_int,
    name: *mut [i32; 8],
    _hint: u32,
) {
    // SAFETY: As the caller promises.
    unsafe { begin(Mutex::Critical, name.cast()) };
}

/// It ends.
///
/// # Safety
/// As of [`__kmpc_critical`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_critical(
    _where: *mut Ident,
    _thread: c_int,
    name: *mut [i32; 8],
) {
    // SAFETY: As the caller promises.
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
        // SAFETY: As above; the lock is the name.
        assert_eq!(unsafe { omp_test_lock(lock) }, 0);
        // SAFETY: As above.
        unsafe { __kmpc_end_critical(std::ptr::null_mut(), 0, &mut name) };
        assert_eq!(name, [0; 8]);
    }
}

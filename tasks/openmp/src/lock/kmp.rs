//! Locks as some compilers call them, with the place in the program and the thread before.

use std::ffi::{c_int, c_uint};

use super::{Lock, NestLock};
use crate::ident::Ident;

/// Functions of a lock.
macro_rules! of_a_lock {
    ($($name:ident($of_type:ty) = $function:ident -> $result:ty;)*) => {$(
        #[doc = concat!("clang's name of `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// `lock` points to a lock in the state that the OpenMP function needs.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "to end a lock is safe")]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: c_int,
            lock: *mut $of_type,
        ) -> $result {
            // SAFETY: `lock` points to a lock in the state that the OpenMP function needs.
            unsafe { super::$function(lock) }
        }
    )*};
}

of_a_lock! {
    __kmpc_init_lock(Lock) = omp_init_lock -> ();
    __kmpc_destroy_lock(Lock) = omp_destroy_lock -> ();
    __kmpc_set_lock(Lock) = omp_set_lock -> ();
    __kmpc_unset_lock(Lock) = omp_unset_lock -> ();
    __kmpc_test_lock(Lock) = omp_test_lock -> c_int;
    __kmpc_init_nest_lock(NestLock) = omp_init_nest_lock -> ();
    __kmpc_destroy_nest_lock(NestLock) = omp_destroy_nest_lock -> ();
    __kmpc_set_nest_lock(NestLock) = omp_set_nest_lock -> ();
    __kmpc_unset_nest_lock(NestLock) = omp_unset_nest_lock -> ();
    __kmpc_test_nest_lock(NestLock) = omp_test_nest_lock -> c_int;
}

/// `omp_init_lock` with a hint, which changes nothing.
///
/// # Safety
/// `lock` points to a lock in the state that the OpenMP function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_init_lock_with_hint(
    _where: *mut Ident,
    _thread: c_int,
    lock: *mut Lock,
    _hint: c_uint,
) {
    // SAFETY: `lock` points to a lock in the state that the OpenMP function needs.
    unsafe { super::omp_init_lock(lock) };
}

/// `omp_init_nest_lock` with a hint, which changes nothing.
///
/// # Safety
/// `lock` points to a lock in the state that the OpenMP function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_init_nest_lock_with_hint(
    _where: *mut Ident,
    _thread: c_int,
    lock: *mut NestLock,
    _hint: c_uint,
) {
    // SAFETY: `lock` points to a lock in the state that the OpenMP function needs.
    unsafe { super::omp_init_nest_lock(lock) };
}

//! Atomic operations that the program does itself, on a copy or under a lock.

use std::ffi::c_void;

use super::Word;
use crate::critical::{GOMP_atomic_end, GOMP_atomic_start};
use crate::parallel::Ident;

/// Computes the first from the second and the third.
type Change = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void);

/// The functions for types that can be changed at once.
macro_rules! words {
    ($($of_type:ty: $name:ident;)*) => {$(
        /// Changes what is at a place to what `change` makes of it.
        ///
        /// # Safety
        /// It is there, and aligned; `change` takes such.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            operand: *mut c_void,
            change: Change,
        ) {
            let changed = |mut old: $of_type| {
                let mut new = old;
                // SAFETY: the caller's promise.
                unsafe { change((&raw mut new).cast(), (&raw mut old).cast(), operand) };
                new
            };
            // SAFETY: the caller's promise.
            unsafe { Word::update(place, changed) };
        }
    )*};
}

words! {
    u8: __kmpc_atomic_1;
    u16: __kmpc_atomic_2;
    u32: __kmpc_atomic_4;
    u64: __kmpc_atomic_8;
}

/// The functions for wider types.
macro_rules! wide {
    ($($name:ident)*) => {$(
        /// Changes what is at a place to what `change` makes of it.
        ///
        /// # Safety
        /// It is there; `change` takes such.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: i32,
            place: *mut c_void,
            operand: *mut c_void,
            change: Change,
        ) {
            GOMP_atomic_start();
            // SAFETY: the caller's promise.
            unsafe { change(place, place, operand) };
            GOMP_atomic_end();
        }
    )*};
}

wide!(__kmpc_atomic_10 __kmpc_atomic_16 __kmpc_atomic_20 __kmpc_atomic_32);

/// Any atomic operation begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_atomic_start() {
    GOMP_atomic_start();
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_atomic_end() {
    GOMP_atomic_end();
}

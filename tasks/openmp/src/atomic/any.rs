//! Atomic operations that the program does itself, on a copy or under a lock.

use std::ffi::c_void;

use super::Word;
use crate::critical::{GOMP_atomic_end, GOMP_atomic_start};
use crate::ident::Ident;

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

/// The functions that write where one value is expected.
macro_rules! swaps {
    ($($of_type:ty: $is:ident $is_kept:ident $was:ident $was_kept:ident;)*) => {$(
        /// Writes, if a value is there. Returns whether it was.
        ///
        /// # Safety
        /// The place is there, and aligned.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $is(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
        ) -> bool {
            let swapped = |old| if old == expected { value } else { old };
            // SAFETY: the caller's promise.
            unsafe { Word::update(place, swapped) }.0 == expected
        }

        /// The same; `kept` gets what was there.
        ///
        /// # Safety
        /// The places are there, and aligned.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $is_kept(
            place_in_program: *mut Ident,
            thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
            kept: *mut $of_type,
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe {
                let old = $was(place_in_program, thread, place, expected, value);
                if old != expected {
                    *kept = old;
                }
                old == expected
            }
        }

        /// Writes, if a value is there. Returns what was.
        ///
        /// # Safety
        /// The place is there, and aligned.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $was(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
        ) -> $of_type {
            let swapped = |old| if old == expected { value } else { old };
            // SAFETY: the caller's promise.
            unsafe { Word::update(place, swapped) }.0
        }

        /// The same; `kept` gets what is there then.
        ///
        /// # Safety
        /// The places are there, and aligned.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $was_kept(
            place_in_program: *mut Ident,
            thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
            kept: *mut $of_type,
        ) -> $of_type {
            // SAFETY: the caller's promise.
            unsafe {
                let old = $was(place_in_program, thread, place, expected, value);
                *kept = if old == expected { value } else { old };
                old
            }
        }
    )*};
}

swaps! {
    u8:
        __kmpc_atomic_bool_1_cas __kmpc_atomic_bool_1_cas_cpt
        __kmpc_atomic_val_1_cas __kmpc_atomic_val_1_cas_cpt;
    u16:
        __kmpc_atomic_bool_2_cas __kmpc_atomic_bool_2_cas_cpt
        __kmpc_atomic_val_2_cas __kmpc_atomic_val_2_cas_cpt;
    u32:
        __kmpc_atomic_bool_4_cas __kmpc_atomic_bool_4_cas_cpt
        __kmpc_atomic_val_4_cas __kmpc_atomic_val_4_cas_cpt;
    u64:
        __kmpc_atomic_bool_8_cas __kmpc_atomic_bool_8_cas_cpt
        __kmpc_atomic_val_8_cas __kmpc_atomic_val_8_cas_cpt;
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

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
        /// Changes the value at a place by `change`.
        ///
        /// # Safety
        /// `place` points to an aligned value, which `change` takes.
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
                // SAFETY: `place` points to an aligned value, which `change` takes.
                unsafe { change((&raw mut new).cast(), (&raw mut old).cast(), operand) };
                new
            };
            // SAFETY: `place` points to an aligned value, which `change` takes.
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
        /// Compares and swaps. Returns whether the place had the expected value.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $is(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
        ) -> bool {
            let swapped = |old| if old == expected { value } else { old };
            // SAFETY: `place` points to an aligned value of this type.
            unsafe { Word::update(place, swapped) }.0 == expected
        }

        /// Compares and swaps; `kept` gets the old value.
        ///
        /// # Safety
        /// The pointers lead to aligned values of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $is_kept(
            place_in_program: *mut Ident,
            thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
            kept: *mut $of_type,
        ) -> bool {
            // SAFETY: the pointers lead to aligned values of this type.
            unsafe {
                let old = $was(place_in_program, thread, place, expected, value);
                if old != expected {
                    *kept = old;
                }
                old == expected
            }
        }

        /// Compares and swaps. Returns the old value.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $was(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
        ) -> $of_type {
            let swapped = |old| if old == expected { value } else { old };
            // SAFETY: `place` points to an aligned value of this type.
            unsafe { Word::update(place, swapped) }.0
        }

        /// Compares and swaps; `kept` gets the new value.
        ///
        /// # Safety
        /// The pointers lead to aligned values of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $was_kept(
            place_in_program: *mut Ident,
            thread: i32,
            place: *mut $of_type,
            expected: $of_type,
            value: $of_type,
            kept: *mut $of_type,
        ) -> $of_type {
            // SAFETY: the pointers lead to aligned values of this type.
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
        /// Changes the value at a place by `change`.
        ///
        /// # Safety
        /// `place` points to a value that `change` takes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: i32,
            place: *mut c_void,
            operand: *mut c_void,
            change: Change,
        ) {
            GOMP_atomic_start();
            // SAFETY: `place` points to a value that `change` takes.
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

/// An atomic operation under the lock ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_atomic_end() {
    GOMP_atomic_end();
}

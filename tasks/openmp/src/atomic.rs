//! Atomic operations that compilers of old left to the runtime; today's programs use instructions.
//!
//! The names say the type, the operation, and in which order the operands are (`rev`); those with
//! `cpt` return the new value, or the old one.

mod any;
mod floats;
mod integers;

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The types that can be changed atomically.
pub(crate) trait Word: Copy {
    /// Changes the value at a place. Returns the old and the new value.
    ///
    /// # Safety
    /// `place` points to an aligned value, which all threads change by such functions alone.
    unsafe fn update(place: *mut Self, change: impl Fn(Self) -> Self) -> (Self, Self);
}

macro_rules! words {
    ($($of_type:ty, $bits:ty, $atomic:ty, $to:expr, $from:expr;)*) => {$(
        impl Word for $of_type {
            unsafe fn update(place: *mut Self, change: impl Fn(Self) -> Self) -> (Self, Self) {
                let (to, from): (fn($of_type) -> $bits, fn($bits) -> $of_type) = ($to, $from);
                // SAFETY: `place` points to an aligned value, which all threads change by such
                // functions alone.
                let word = unsafe { <$atomic>::from_ptr(place.cast()) };
                let mut old = word.load(Ordering::SeqCst);
                loop {
                    let new = to(change(from(old)));
                    let order = (Ordering::SeqCst, Ordering::SeqCst);
                    match word.compare_exchange_weak(old, new, order.0, order.1) {
                        Ok(_) => return (from(old), from(new)),
                        Err(seen) => old = seen,
                    }
                }
            }
        }
    )*};
}

words! {
    i8, u8, AtomicU8, |value| value as u8, |bits| bits as i8;
    u8, u8, AtomicU8, |value| value, |bits| bits;
    i16, u16, AtomicU16, |value| value as u16, |bits| bits as i16;
    u16, u16, AtomicU16, |value| value, |bits| bits;
    i32, u32, AtomicU32, |value| value as u32, |bits| bits as i32;
    u32, u32, AtomicU32, |value| value, |bits| bits;
    i64, u64, AtomicU64, |value| value as u64, |bits| bits as i64;
    u64, u64, AtomicU64, |value| value, |bits| bits;
    f32, u32, AtomicU32, f32::to_bits, f32::from_bits;
    f64, u64, AtomicU64, f64::to_bits, f64::from_bits;
}

/// Functions of one type.
macro_rules! operations {
    ($of_type:ty: $($name:ident $capture:ident = $change:expr;)*) => {$(
        /// Changes the value at a place.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            operand: $of_type,
        ) {
            let change: fn($of_type, $of_type) -> $of_type = $change;
            // SAFETY: `place` points to an aligned value, which all threads change by such
            // functions alone.
            unsafe { Word::update(place, |value| change(value, operand)) };
        }

        /// Changes the value at a place. Returns the new value, or the old one if `is_new` is 0.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $capture(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            operand: $of_type,
            is_new: i32,
        ) -> $of_type {
            let change: fn($of_type, $of_type) -> $of_type = $change;
            // SAFETY: `place` points to an aligned value, which all threads change by such
            // functions alone.
            let (old, new) = unsafe { Word::update(place, |value| change(value, operand)) };
            if is_new == 0 { old } else { new }
        }
    )*};
}

/// Functions that read, write, and change places.
macro_rules! moves {
    ($($of_type:ty: $read:ident $write:ident $swap:ident;)*) => {$(
        /// Reads the value at a place.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $read(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
        ) -> $of_type {
            // SAFETY: `place` points to an aligned value, which all threads change by such
            // functions alone.
            unsafe { Word::update(place, |value| value) }.0
        }

        /// Writes a value.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $write(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            value: $of_type,
        ) {
            // SAFETY: `place` points to an aligned value, which all threads change by such
            // functions alone.
            unsafe { Word::update(place, |_| value) };
        }

        /// Writes a value. Returns the old one.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $swap(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            value: $of_type,
        ) -> $of_type {
            // SAFETY: `place` points to an aligned value, which all threads change by such
            // functions alone.
            unsafe { Word::update(place, |_| value) }.0
        }
    )*};
}

use {moves, operations};

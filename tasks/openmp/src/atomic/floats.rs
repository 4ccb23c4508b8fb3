//! Atomic operations on floating-point numbers, and on integers with such operands.

use super::{Word, moves, operations};
use crate::ident::Ident;

operations! {
    f32:
    __kmpc_atomic_float4_add __kmpc_atomic_float4_add_cpt = |x, y| x + y;
    __kmpc_atomic_float4_sub __kmpc_atomic_float4_sub_cpt = |x, y| x - y;
    __kmpc_atomic_float4_sub_rev __kmpc_atomic_float4_sub_cpt_rev = |x, y| y - x;
    __kmpc_atomic_float4_mul __kmpc_atomic_float4_mul_cpt = |x, y| x * y;
    __kmpc_atomic_float4_div __kmpc_atomic_float4_div_cpt = |x, y| x / y;
    __kmpc_atomic_float4_div_rev __kmpc_atomic_float4_div_cpt_rev = |x, y| y / x;
    __kmpc_atomic_float4_min __kmpc_atomic_float4_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_float4_max __kmpc_atomic_float4_max_cpt = |x, y| x.max(y);
}

operations! {
    f64:
    __kmpc_atomic_float8_add __kmpc_atomic_float8_add_cpt = |x, y| x + y;
    __kmpc_atomic_float8_sub __kmpc_atomic_float8_sub_cpt = |x, y| x - y;
    __kmpc_atomic_float8_sub_rev __kmpc_atomic_float8_sub_cpt_rev = |x, y| y - x;
    __kmpc_atomic_float8_mul __kmpc_atomic_float8_mul_cpt = |x, y| x * y;
    __kmpc_atomic_float8_div __kmpc_atomic_float8_div_cpt = |x, y| x / y;
    __kmpc_atomic_float8_div_rev __kmpc_atomic_float8_div_cpt_rev = |x, y| y / x;
    __kmpc_atomic_float8_min __kmpc_atomic_float8_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_float8_max __kmpc_atomic_float8_max_cpt = |x, y| x.max(y);
}

moves! {
    f32: __kmpc_atomic_float4_rd __kmpc_atomic_float4_wr __kmpc_atomic_float4_swp;
    f64: __kmpc_atomic_float8_rd __kmpc_atomic_float8_wr __kmpc_atomic_float8_swp;
}

/// Functions whose operand is wider than the place.
macro_rules! mixed {
    ($($of_type:ty: $($name:ident = $change:expr),*;)*) => {$($(
        /// Changes the value at a place.
        ///
        /// # Safety
        /// `place` points to an aligned value of this type.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _where: *mut Ident,
            _thread: i32,
            place: *mut $of_type,
            operand: f64,
        ) {
            let change: fn(f64, f64) -> f64 = $change;
            // SAFETY: `place` points to an aligned value of this type.
            unsafe { Word::update(place, |value| change(value as f64, operand) as $of_type) };
        }
    )*)*};
}

mixed! {
    i8:
        __kmpc_atomic_fixed1_mul_float8 = |x, y| x * y,
        __kmpc_atomic_fixed1_div_float8 = |x, y| x / y;
    i16:
        __kmpc_atomic_fixed2_mul_float8 = |x, y| x * y,
        __kmpc_atomic_fixed2_div_float8 = |x, y| x / y;
    i32:
        __kmpc_atomic_fixed4_mul_float8 = |x, y| x * y,
        __kmpc_atomic_fixed4_div_float8 = |x, y| x / y;
    i64:
        __kmpc_atomic_fixed8_mul_float8 = |x, y| x * y,
        __kmpc_atomic_fixed8_div_float8 = |x, y| x / y;
    f32:
        __kmpc_atomic_float4_add_float8 = |x, y| x + y,
        __kmpc_atomic_float4_sub_float8 = |x, y| x - y,
        __kmpc_atomic_float4_mul_float8 = |x, y| x * y,
        __kmpc_atomic_float4_div_float8 = |x, y| x / y;
}

//! Atomic operations on integers.

use super::{Word, moves, operations};
use crate::ident::Ident;

operations! {
    i8:
    __kmpc_atomic_fixed1_add __kmpc_atomic_fixed1_add_cpt = |x, y| x.wrapping_add(y);
    __kmpc_atomic_fixed1_sub __kmpc_atomic_fixed1_sub_cpt = |x, y| x.wrapping_sub(y);
    __kmpc_atomic_fixed1_sub_rev __kmpc_atomic_fixed1_sub_cpt_rev = |x, y| y.wrapping_sub(x);
    __kmpc_atomic_fixed1_mul __kmpc_atomic_fixed1_mul_cpt = |x, y| x.wrapping_mul(y);
    __kmpc_atomic_fixed1_div __kmpc_atomic_fixed1_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed1_div_rev __kmpc_atomic_fixed1_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed1_andb __kmpc_atomic_fixed1_andb_cpt = |x, y| x & y;
    __kmpc_atomic_fixed1_orb __kmpc_atomic_fixed1_orb_cpt = |x, y| x | y;
    __kmpc_atomic_fixed1_xor __kmpc_atomic_fixed1_xor_cpt = |x, y| x ^ y;
    __kmpc_atomic_fixed1_shl __kmpc_atomic_fixed1_shl_cpt = |x, y| x.wrapping_shl(y as u32);
    __kmpc_atomic_fixed1_shl_rev __kmpc_atomic_fixed1_shl_cpt_rev = |x, y| y.wrapping_shl(x as u32);
    __kmpc_atomic_fixed1_shr __kmpc_atomic_fixed1_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed1_shr_rev __kmpc_atomic_fixed1_shr_cpt_rev = |x, y| y.wrapping_shr(x as u32);
    __kmpc_atomic_fixed1_min __kmpc_atomic_fixed1_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_fixed1_max __kmpc_atomic_fixed1_max_cpt = |x, y| x.max(y);
    __kmpc_atomic_fixed1_andl __kmpc_atomic_fixed1_andl_cpt = |x, y| (x != 0 && y != 0).into();
    __kmpc_atomic_fixed1_orl __kmpc_atomic_fixed1_orl_cpt = |x, y| (x != 0 || y != 0).into();
    __kmpc_atomic_fixed1_eqv __kmpc_atomic_fixed1_eqv_cpt = |x, y| x ^ !y;
    __kmpc_atomic_fixed1_neqv __kmpc_atomic_fixed1_neqv_cpt = |x, y| x ^ y;
}

operations! {
    u8:
    __kmpc_atomic_fixed1u_div __kmpc_atomic_fixed1u_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed1u_div_rev __kmpc_atomic_fixed1u_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed1u_shr __kmpc_atomic_fixed1u_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed1u_shr_rev __kmpc_atomic_fixed1u_shr_cpt_rev
        = |x, y| y.wrapping_shr(x as u32);
}

operations! {
    i16:
    __kmpc_atomic_fixed2_add __kmpc_atomic_fixed2_add_cpt = |x, y| x.wrapping_add(y);
    __kmpc_atomic_fixed2_sub __kmpc_atomic_fixed2_sub_cpt = |x, y| x.wrapping_sub(y);
    __kmpc_atomic_fixed2_sub_rev __kmpc_atomic_fixed2_sub_cpt_rev = |x, y| y.wrapping_sub(x);
    __kmpc_atomic_fixed2_mul __kmpc_atomic_fixed2_mul_cpt = |x, y| x.wrapping_mul(y);
    __kmpc_atomic_fixed2_div __kmpc_atomic_fixed2_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed2_div_rev __kmpc_atomic_fixed2_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed2_andb __kmpc_atomic_fixed2_andb_cpt = |x, y| x & y;
    __kmpc_atomic_fixed2_orb __kmpc_atomic_fixed2_orb_cpt = |x, y| x | y;
    __kmpc_atomic_fixed2_xor __kmpc_atomic_fixed2_xor_cpt = |x, y| x ^ y;
    __kmpc_atomic_fixed2_shl __kmpc_atomic_fixed2_shl_cpt = |x, y| x.wrapping_shl(y as u32);
    __kmpc_atomic_fixed2_shl_rev __kmpc_atomic_fixed2_shl_cpt_rev = |x, y| y.wrapping_shl(x as u32);
    __kmpc_atomic_fixed2_shr __kmpc_atomic_fixed2_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed2_shr_rev __kmpc_atomic_fixed2_shr_cpt_rev = |x, y| y.wrapping_shr(x as u32);
    __kmpc_atomic_fixed2_min __kmpc_atomic_fixed2_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_fixed2_max __kmpc_atomic_fixed2_max_cpt = |x, y| x.max(y);
    __kmpc_atomic_fixed2_andl __kmpc_atomic_fixed2_andl_cpt = |x, y| (x != 0 && y != 0).into();
    __kmpc_atomic_fixed2_orl __kmpc_atomic_fixed2_orl_cpt = |x, y| (x != 0 || y != 0).into();
    __kmpc_atomic_fixed2_eqv __kmpc_atomic_fixed2_eqv_cpt = |x, y| x ^ !y;
    __kmpc_atomic_fixed2_neqv __kmpc_atomic_fixed2_neqv_cpt = |x, y| x ^ y;
}

operations! {
    u16:
    __kmpc_atomic_fixed2u_div __kmpc_atomic_fixed2u_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed2u_div_rev __kmpc_atomic_fixed2u_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed2u_shr __kmpc_atomic_fixed2u_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed2u_shr_rev __kmpc_atomic_fixed2u_shr_cpt_rev
        = |x, y| y.wrapping_shr(x as u32);
}

operations! {
    i32:
    __kmpc_atomic_fixed4_add __kmpc_atomic_fixed4_add_cpt = |x, y| x.wrapping_add(y);
    __kmpc_atomic_fixed4_sub __kmpc_atomic_fixed4_sub_cpt = |x, y| x.wrapping_sub(y);
    __kmpc_atomic_fixed4_sub_rev __kmpc_atomic_fixed4_sub_cpt_rev = |x, y| y.wrapping_sub(x);
    __kmpc_atomic_fixed4_mul __kmpc_atomic_fixed4_mul_cpt = |x, y| x.wrapping_mul(y);
    __kmpc_atomic_fixed4_div __kmpc_atomic_fixed4_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed4_div_rev __kmpc_atomic_fixed4_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed4_andb __kmpc_atomic_fixed4_andb_cpt = |x, y| x & y;
    __kmpc_atomic_fixed4_orb __kmpc_atomic_fixed4_orb_cpt = |x, y| x | y;
    __kmpc_atomic_fixed4_xor __kmpc_atomic_fixed4_xor_cpt = |x, y| x ^ y;
    __kmpc_atomic_fixed4_shl __kmpc_atomic_fixed4_shl_cpt = |x, y| x.wrapping_shl(y as u32);
    __kmpc_atomic_fixed4_shl_rev __kmpc_atomic_fixed4_shl_cpt_rev = |x, y| y.wrapping_shl(x as u32);
    __kmpc_atomic_fixed4_shr __kmpc_atomic_fixed4_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed4_shr_rev __kmpc_atomic_fixed4_shr_cpt_rev = |x, y| y.wrapping_shr(x as u32);
    __kmpc_atomic_fixed4_min __kmpc_atomic_fixed4_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_fixed4_max __kmpc_atomic_fixed4_max_cpt = |x, y| x.max(y);
    __kmpc_atomic_fixed4_andl __kmpc_atomic_fixed4_andl_cpt = |x, y| (x != 0 && y != 0).into();
    __kmpc_atomic_fixed4_orl __kmpc_atomic_fixed4_orl_cpt = |x, y| (x != 0 || y != 0).into();
    __kmpc_atomic_fixed4_eqv __kmpc_atomic_fixed4_eqv_cpt = |x, y| x ^ !y;
    __kmpc_atomic_fixed4_neqv __kmpc_atomic_fixed4_neqv_cpt = |x, y| x ^ y;
}

operations! {
    u32:
    __kmpc_atomic_fixed4u_div __kmpc_atomic_fixed4u_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed4u_div_rev __kmpc_atomic_fixed4u_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed4u_shr __kmpc_atomic_fixed4u_shr_cpt = |x, y| x.wrapping_shr(y);
    __kmpc_atomic_fixed4u_shr_rev __kmpc_atomic_fixed4u_shr_cpt_rev = |x, y| y.wrapping_shr(x);
}

operations! {
    i64:
    __kmpc_atomic_fixed8_add __kmpc_atomic_fixed8_add_cpt = |x, y| x.wrapping_add(y);
    __kmpc_atomic_fixed8_sub __kmpc_atomic_fixed8_sub_cpt = |x, y| x.wrapping_sub(y);
    __kmpc_atomic_fixed8_sub_rev __kmpc_atomic_fixed8_sub_cpt_rev = |x, y| y.wrapping_sub(x);
    __kmpc_atomic_fixed8_mul __kmpc_atomic_fixed8_mul_cpt = |x, y| x.wrapping_mul(y);
    __kmpc_atomic_fixed8_div __kmpc_atomic_fixed8_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed8_div_rev __kmpc_atomic_fixed8_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed8_andb __kmpc_atomic_fixed8_andb_cpt = |x, y| x & y;
    __kmpc_atomic_fixed8_orb __kmpc_atomic_fixed8_orb_cpt = |x, y| x | y;
    __kmpc_atomic_fixed8_xor __kmpc_atomic_fixed8_xor_cpt = |x, y| x ^ y;
    __kmpc_atomic_fixed8_shl __kmpc_atomic_fixed8_shl_cpt = |x, y| x.wrapping_shl(y as u32);
    __kmpc_atomic_fixed8_shl_rev __kmpc_atomic_fixed8_shl_cpt_rev = |x, y| y.wrapping_shl(x as u32);
    __kmpc_atomic_fixed8_shr __kmpc_atomic_fixed8_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed8_shr_rev __kmpc_atomic_fixed8_shr_cpt_rev = |x, y| y.wrapping_shr(x as u32);
    __kmpc_atomic_fixed8_min __kmpc_atomic_fixed8_min_cpt = |x, y| x.min(y);
    __kmpc_atomic_fixed8_max __kmpc_atomic_fixed8_max_cpt = |x, y| x.max(y);
    __kmpc_atomic_fixed8_andl __kmpc_atomic_fixed8_andl_cpt = |x, y| (x != 0 && y != 0).into();
    __kmpc_atomic_fixed8_orl __kmpc_atomic_fixed8_orl_cpt = |x, y| (x != 0 || y != 0).into();
    __kmpc_atomic_fixed8_eqv __kmpc_atomic_fixed8_eqv_cpt = |x, y| x ^ !y;
    __kmpc_atomic_fixed8_neqv __kmpc_atomic_fixed8_neqv_cpt = |x, y| x ^ y;
}

operations! {
    u64:
    __kmpc_atomic_fixed8u_div __kmpc_atomic_fixed8u_div_cpt = |x, y| x.wrapping_div(y);
    __kmpc_atomic_fixed8u_div_rev __kmpc_atomic_fixed8u_div_cpt_rev = |x, y| y.wrapping_div(x);
    __kmpc_atomic_fixed8u_shr __kmpc_atomic_fixed8u_shr_cpt = |x, y| x.wrapping_shr(y as u32);
    __kmpc_atomic_fixed8u_shr_rev __kmpc_atomic_fixed8u_shr_cpt_rev
        = |x, y| y.wrapping_shr(x as u32);
}

moves! {
    i8: __kmpc_atomic_fixed1_rd __kmpc_atomic_fixed1_wr __kmpc_atomic_fixed1_swp;
    i16: __kmpc_atomic_fixed2_rd __kmpc_atomic_fixed2_wr __kmpc_atomic_fixed2_swp;
    i32: __kmpc_atomic_fixed4_rd __kmpc_atomic_fixed4_wr __kmpc_atomic_fixed4_swp;
    i64: __kmpc_atomic_fixed8_rd __kmpc_atomic_fixed8_wr __kmpc_atomic_fixed8_swp;
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn operands_are_in_their_order_and_one_of_two_values_returns() {
        let mut value = 7;
        let (place, nowhere) = (&raw mut value, ptr::null_mut());
        // SAFETY: the place is a variable.
        let seen = unsafe {
            [
                __kmpc_atomic_fixed4_sub_cpt(nowhere, 0, place, 10, 1),
                __kmpc_atomic_fixed4_sub_cpt_rev(nowhere, 0, place, 10, 0),
                __kmpc_atomic_fixed4_rd(nowhere, 0, place),
                __kmpc_atomic_fixed4_shl_cpt(nowhere, 0, place, 2, 1),
                __kmpc_atomic_fixed4_swp(nowhere, 0, place, 1),
                __kmpc_atomic_fixed4_andl_cpt(nowhere, 0, place, 0, 1),
            ]
        };
        assert_eq!((seen, value), ([-3, -3, 13, 52, 52, 0], 0));
    }

    #[test]
    fn unsigned_values_are_shifted_and_divided_without_a_sign() {
        let mut value = u8::MAX;
        // SAFETY: the place is a variable.
        let half =
            unsafe { __kmpc_atomic_fixed1u_shr_cpt(ptr::null_mut(), 0, &raw mut value, 1, 1) };
        assert_eq!(half, 127);
    }
}

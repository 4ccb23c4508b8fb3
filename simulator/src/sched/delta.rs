//! Time scaled by weights, rounded as the kernel rounds.

/// Weight of nice 0 (`NICE_0_LOAD` without the extra resolution).
const NICE_0: u64 = 1024;

/// `delta * weight / total` by way of a 32-bit inverse (`__calc_delta`,
/// `kernel/sched/fair.c`, the same in 5.9, 6.12 and 6.18).
pub(crate) fn scaled(delta_ns: u64, weight: u64, total: u64) -> u64 {
    let inverse = u64::from(u32::MAX) / total.max(1);
    let mut factor = u128::from(weight) * u128::from(inverse);
    let mut shift = 32;
    while factor > u128::from(u32::MAX) {
        factor >>= 1;
        shift -= 1;
    }
    let product = u128::from(delta_ns) * factor;
    u64::try_from(product >> shift).unwrap_or(u64::MAX)
}

/// Virtual time that a task of the weight gains in that time (`calc_delta_fair`).
pub(crate) fn virtual_ns(delta_ns: u64, weight: u64) -> i64 {
    let scaled = if weight == NICE_0 { delta_ns } else { scaled(delta_ns, NICE_0, weight) };
    i64::try_from(scaled).unwrap_or(i64::MAX)
}

/// Times are longer on larger machines: `1 + ilog2(min(cpus, 8))`
/// (`get_update_sysctl_factor`, `kernel/sched/fair.c`).
pub(crate) fn size_factor(cpus: usize) -> u64 {
    u64::from(1 + cpus.clamp(1, 8).ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_close_to_the_exact_quotient() {
        for weight in [15, 335, 1024, 9548, 88761] {
            let exact = 10_000_000 * 1024 / weight;
            let got = scaled(10_000_000, 1024, weight);
            assert!(got <= exact && exact - got <= exact / 10_000 + 1, "{weight}: {got} {exact}");
        }
    }

    #[test]
    fn factor_is_1_2_3_4_for_1_2_4_and_8_cpus() {
        assert_eq!([1, 2, 3, 4, 8, 32].map(size_factor), [1, 2, 2, 3, 4, 4]);
    }
}

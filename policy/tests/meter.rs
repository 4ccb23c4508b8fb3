//! Cycles and energy of slices on the published turbo table of the Xeon Gold 6130.

mod examples;

use examples::xeon_gold_6130;
use policy::{Meter, Slice, metered_ns};

/// 6 ms in the row of 16 cores (2.8, 2.4 and 1.9 GHz, D Table 3.1), all at one level.
fn slice(level: usize, mhz: u64) -> Slice {
    let mut slice = Slice {
        time_ns: 6_000_000,
        cycles: 6_000 * mhz,
        ref_cycles: 6_000 * 2_100,
        ..Slice::default()
    };
    slice.level_cycles[level] = slice.cycles;
    slice
}

fn metered(meter: Meter, level: usize, mhz: u64, own_level: u8) -> u64 {
    metered_ns(meter, &xeon_gold_6130(), &slice(level, mhz), own_level)
}

fn close(found: u64, expected: f64) {
    assert!((found as f64 / expected - 1.0).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn cycles_forgive_culprit_and_victim_alike() {
    for own_level in [0, 2] {
        close(metered(Meter::Cycles, 2, 1900, own_level), 6e6 * 1900.0 / 2800.0);
    }
    close(metered(Meter::Cycles, 0, 2800, 0), 6e6);
}

#[test]
fn energy_charges_a_victim_by_the_cube_and_a_culprit_in_full() {
    let ratio: f64 = 1900.0 / 2800.0;
    close(metered(Meter::Energy, 2, 1900, 0), 6e6 * ratio.powi(3));
    close(metered(Meter::Energy, 2, 1900, 2), 6e6);
    close(metered(Meter::Energy, 1, 2400, 0), 6e6 * (2400.0_f64 / 2800.0).powi(3));
}

#[test]
fn what_counters_cannot_tell_is_charged_in_full() {
    for meter in [Meter::Cycles, Meter::Energy] {
        let blind = Slice { time_ns: 6_000_000, ..Slice::default() };
        assert_eq!(metered_ns(meter, &xeon_gold_6130(), &blind, 0), 6_000_000);
    }
}

//! Frequencies and losses of single samples (D 4.2.1, 4.3).

use cpu_model::LEVELS_MAX;
use profiler::{Method, Moment, Sample};

use crate::build::skylake;

/// Cycles of 100 us at a frequency, all at one level.
fn sample(mhz: u64, level: usize, level_alone: u8) -> Sample {
    let mut level_cycles = [0; LEVELS_MAX];
    level_cycles[level] = 100 * mhz;
    Sample {
        time_ns: 0,
        cpu: 0,
        task: 0,
        cycles: 100 * mhz,
        ref_cycles: 100 * 2100,
        level_cycles,
        stall_cycles: 0,
        level_alone,
        demands_immediately: level_alone > 0,
        level_beside: None,
        alone_cycles: 100,
        alone_stall_cycles: 0,
        paused_ns: 700_000,
    }
}

fn moment(sample: &Sample) -> Moment {
    Moment::of(sample, &skylake().turbo, Method::Ours)
}

fn assert_near(actual: f64, expected: f64, what: &str) {
    assert!((actual - expected).abs() < 1e-3 * expected.abs().max(1.0), "{what}: {actual}");
}

/// Table 3.1 of D: 16 cores run at 2.8, 2.4 and 1.9 GHz, one at 3.7, 3.6 and 3.5 GHz. The row is
/// the one that the frequency before the pause names, however many cores are active after it.
#[test]
fn ideal_frequency_is_that_of_the_row_before_the_pause() {
    for (mhz, level, level_alone, ideal_mhz) in [
        (1900, 2, 0, 2800),
        (1900, 2, 1, 2400),
        (1900, 2, 2, 1900),
        (2400, 1, 0, 2800),
        (3500, 2, 0, 3700),
        (3600, 1, 0, 3700),
        (2800, 0, 0, 2800),
        (2800, 0, 2, 2800),
    ] {
        let moment = moment(&sample(mhz, level, level_alone));
        assert_near(moment.actual_hz as f64, mhz as f64 * 1e6, "actual");
        assert_near(moment.ideal_hz as f64, ideal_mhz as f64 * 1e6, "ideal");
        assert_near(moment.faster, ideal_mhz as f64 / mhz as f64, "speed");
    }
}

/// Eq. D 4.3 with a stall share of .5: 2.8 / (.5 * .9 + 1.9).
#[test]
fn stalls_do_not_scale_with_the_frequency() {
    let stalled = Sample { stall_cycles: 50 * 1900, ..sample(1900, 2, 0) };
    assert_near(moment(&stalled).faster, 2.8 / 2.35, "stalled before");
    let alone = Sample { alone_stall_cycles: 50, ..sample(1900, 2, 0) };
    let published = Moment::of(&alone, &skylake().turbo, Method::Published);
    assert_near(published.faster, 2.8 / 2.35, "stalled alone");
    assert_near(moment(&alone).faster, 2.8 / 1.9, "not stalled before");
}

#[test]
fn counters_without_a_cycle_lose_nothing() {
    let empty =
        Sample { cycles: 0, ref_cycles: 0, level_cycles: [0; LEVELS_MAX], ..sample(1, 0, 0) };
    let moment = moment(&empty);
    assert_eq!(moment.lost(), 0.0);
}

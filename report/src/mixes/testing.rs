//! Mixes with figures of our choice.

use super::figures::{Mix, MixRun, Program};

/// A scheduler beside AVX-512, with a hundred wake-ups.
pub(crate) fn run(scheduler: &str, slowdown_pct: f64) -> MixRun {
    MixRun {
        scheduler: scheduler.into(),
        sensors: "d7".into(),
        background: "avx512".into(),
        unfinished: 0,
        simulated_s: 0.3,
        isolation_slowdown_pct: slowdown_pct.abs(),
        ci95_half_width_pct: Some(0.5),
        slowdown_only_pct: slowdown_pct.max(0.0),
        signed_slowdown_pct: slowdown_pct,
        programs: vec![Program { name: "steps-1".into(), slowdown_pct }],
        culprit_rate_pct: None,
        throughput_pct: 100.0,
        attribution: crate::Attribution::default(),
        wake_count: 100,
        wake_p99_us: 100.0,
        level_share_pct: vec![100.0],
        published: None,
    }
}

pub(crate) fn mix(seed: u64, runs: Vec<MixRun>) -> Mix {
    Mix { seed, runs }
}

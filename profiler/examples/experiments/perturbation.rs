//! Does the profiler change what it measures (D 4.5.2)? nginx with and without it.

use profiler::matrix::Matrix;
use profiler::{Method, Plan, Profile, Truth};

use crate::work::{Result, Work};

const RUNS: u64 = 20;
/// Requests of a run: 24 workers answer 250 each.
const REQUESTS: f64 = 24.0 * 250.0;
const RATES: [f64; 4] = [50.0, 200.0, 500.0, 1000.0];

/// Writes a row for each build, rate and kind of pause.
pub fn rows() -> Result<()> {
    println!(
        "background,profiler,samples_a_second,requests_a_second,true_pct,estimate_pct,low_pct,\
         high_pct,samples,paused_pct"
    );
    for background in ["sse4", "avx2", "avx512"] {
        let work = Work::shipped("nginx-crypto", "nginx", background)?;
        let group = work.group("nginx")?;
        let without = work.truth(RUNS)?;
        let (a_second, true_pct) = (requests_a_second(&without), without.overhead_pct(group));
        println!("{background},none,0,{a_second:.1},{true_pct:.3},,,,,0");
        for rate in RATES {
            let published = |seed| Plan::published(&work.cpu, seed).with_rate(rate);
            let ours = |seed| Plan::ours(&work.cpu, seed).with_rate(rate);
            let early = |seed| Plan { ends_early: true, ..ours(seed) };
            let of = |name: &str, method, (profile, truth): (Profile, Truth)| {
                row(&format!("{background},{name},{rate}"), group, method, &profile, &truth);
            };
            of("published", Method::Published, work.profile(RUNS, published)?);
            of("pauses", Method::Ours, work.profile(RUNS, ours)?);
            of("pauses that end early", Method::Ours, work.profile(RUNS, early)?);
        }
    }
    Ok(())
}

fn requests_a_second(truth: &Truth) -> f64 {
    RUNS as f64 * REQUESTS / (truth.simulated_ns as f64 / 1e9)
}

fn row(case: &str, group: usize, method: Method, profile: &Profile, truth: &Truth) {
    let victim = &Matrix::of_samples(profile, method, 1).victims[group];
    let overhead = victim.overhead_pct;
    // Both CPUs of one of 12 cores.
    let paused_pct = 100.0 * profile.tally.paused_ns as f64 / (12.0 * truth.simulated_ns as f64);
    println!(
        "{case},{:.1},{:.3},{:.3},{:.3},{:.3},{},{paused_pct:.3}",
        requests_a_second(truth),
        truth.overhead_pct(group),
        overhead.value,
        overhead.low,
        overhead.high,
        victim.samples,
    );
}

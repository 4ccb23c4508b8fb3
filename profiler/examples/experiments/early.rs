//! What do pauses cost that end as soon as the level is back (D 4.6.1)?

use profiler::matrix::Matrix;
use profiler::{Method, Plan, Truth};

use crate::work::{Result, Work};

const RUNS: u64 = 20;
/// Samples a second: that of D 4.2.1, and one at which what pauses change shows.
const RATES: [f64; 2] = [50.0, 500.0];
const METHODS: [(&str, Method); 2] = [("pauses", Method::Ours), ("published", Method::Published)];

/// Scenarios, their programs and backgrounds; light512 is on two cores, so pauses take most there.
const WORKS: [(&str, &[&str], &[&str]); 3] = [
    (
        "parsec-x265",
        &[
            "blackscholes",
            "bodytrack",
            "canneal",
            "dedup",
            "ferret",
            "fluidanimate",
            "freqmine",
            "streamcluster",
            "swaptions",
            "vips",
        ],
        &["sse4", "avx2", "avx512"],
    ),
    ("nginx-crypto", &["nginx"], &["sse4", "avx2", "avx512"]),
    ("light512", &["plain", "light"], &["sse4", "avx512"]),
];

/// Writes a row for each program, background, rate, method and kind of pause.
pub fn rows() -> Result<()> {
    println!(
        "work,program,background,samples_a_second,method,ends,estimate_pct,true_pct,\
         unprofiled_pct,samples,held,pause_us,longer_pct"
    );
    for (scenario, programs, backgrounds) in WORKS {
        for program in programs {
            for background in backgrounds {
                let work = Work::shipped(scenario, program, background)?;
                let without = work.truth(RUNS)?;
                for rate in RATES {
                    let case = format!("{scenario},{program},{background},{rate}");
                    of_case(&work, program, rate, &without, &case)?;
                }
            }
        }
    }
    Ok(())
}

fn of_case(work: &Work, program: &str, rate: f64, without: &Truth, case: &str) -> Result<()> {
    let group = work.group(program)?;
    for (name, method) in METHODS {
        for ends_early in [false, true] {
            let plan = |seed| {
                let plan = match method {
                    Method::Ours => Plan::ours(&work.cpu, seed),
                    Method::Published => Plan::published(&work.cpu, seed),
                };
                Plan { ends_early, ..plan.with_rate(rate) }
            };
            let (profile, with) = work.profile(RUNS, plan)?;
            let victim = &Matrix::of_samples(&profile, method, 1).victims[group];
            let tally = profile.tally;
            let paused = (tally.taken + tally.held).max(1);
            println!(
                "{case},{name},{},{:.3},{:.3},{:.3},{},{},{:.1},{:.3}",
                if ends_early { "early" } else { "full" },
                victim.overhead_pct.value,
                with.overhead_pct(group),
                without.overhead_pct(group),
                victim.samples,
                tally.held,
                tally.paused_ns as f64 / paused as f64 / 1000.0,
                100.0 * (with.simulated_ns as f64 / without.simulated_ns as f64 - 1.0),
            );
        }
    }
    Ok(())
}

//! The profiler's experiments (D 4.5), on the scenarios of Parsec beside x265 and of nginx.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::compare::read_scenario;
use crate::profile::{Report, report};

const PARSEC: &str = "parsec-x265";
/// Its IPC varies too much for a comparison on D's machine (D 4.5.1).
const LEFT_OUT: &str = "canneal";
const NGINX: &str = "nginx-crypto";
/// Seeds where no number is asked for.
const RUNS: u32 = 8;

/// Values by name.
pub fn values(seed: u64, runs: Option<u32>) -> Result<BTreeMap<&'static str, f64>> {
    let mut values = BTreeMap::new();
    let profile = |work: &[&str]| -> Result<Report> {
        let (seed, runs) = (seed.to_string(), runs.unwrap_or(RUNS).to_string());
        let how = ["--scheduler", "cfs", "--method", "published", "--seed", &seed, "--runs", &runs];
        report(&[work, &how].concat()).with_context(|| work.join(" "))
    };
    let parsec = read_scenario(PARSEC)?;
    for (name, background) in [("error-avx2", "avx2"), ("error-avx512", "avx512")] {
        let mut errors = vec![error(&profile(&[NGINX, "--background", background])?)];
        for program in parsec.foreground_names().filter(|&program| program != LEFT_OUT) {
            let of = [PARSEC, "--program", program, "--background", background];
            errors.push(error(&profile(&of)?));
        }
        values.insert(name, mean(&errors));
    }
    let mut costs = Vec::new();
    for program in parsec.foreground_names() {
        let of = [PARSEC, "--program", program, "--background", "sse4"];
        costs.push(profile(&of)?.longer_by_profiling_pct.map_or(f64::NAN, |it| it.value));
    }
    values.insert("cost-mean", mean(&costs));
    values.insert("cost-max", costs.iter().copied().fold(f64::MIN, f64::max));
    let sse4 = profile(&[NGINX, "--background", "sse4"])?;
    let avx512 = profile(&[NGINX, "--background", "avx512"])?;
    let longer_pct = |with: f64, without: f64| 100.0 * (with / without - 1.0);
    let unprofiled = avx512.unprofiled_s.zip(sse4.unprofiled_s);
    let unprofiled = unprofiled.map_or(f64::NAN, |(with, without)| longer_pct(with, without));
    values.insert("nginx-unprofiled", unprofiled);
    values.insert("nginx-profiled", longer_pct(avx512.length_s, sse4.length_s));
    Ok(values)
}

/// How far the overhead of the program is off, in points.
fn error(report: &Report) -> f64 {
    let program = &report.victims[0];
    (program.overhead_pct.value - program.true_overhead_pct.unwrap_or(f64::NAN)).abs()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

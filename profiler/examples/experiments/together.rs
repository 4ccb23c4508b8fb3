//! Two threads that reach only together the rate of a level (D 4.5.1 and 4.6.2).

use profiler::matrix::Matrix;
use profiler::{Method, Plan};

use crate::work::{Result, Work};

const RUNS: u64 = 5;
/// Instructions in 1000 cycles of each thread.
const RATES: [u32; 6] = [100, 200, 300, 400, 500, 1000];

/// One program of two threads on the siblings of one core.
fn scenario(rate: f64) -> String {
    format!(
        r#"
schema = 1
name = "together"
description = "Two threads of one program on one core."
source = "D 4.5.1; amounts are our choice"
cpu = "xeon-gold-6130"
[machine]
packages = 1
cores = 1
threads_per_core = 2
turbo_cores = 16
[run]
foreground = "each"
limit_s = 30
[[foreground]]
name = "pair"
threads = 2
stall = 0.2
phases = [{{ repeat = {{ times = 1000, phases = [
    {{ compute = {{ work_us = 1000, spread_pct = 10, class = "@kernel", rate = {rate} }} }},
] }} }}]
[[background]]
name = "sse4"
control = true
classes = {{ kernel = "scalar" }}
[[background]]
name = "avx512"
like = "sse4"
classes = {{ kernel = "avx512-heavy" }}
"#
    )
}

/// Writes a row for each rate and method.
pub fn rows() -> Result<()> {
    println!(
        "rate_permille,level_alone,level_together,method,estimate_pct,unknown_culprit_pct,\
         simulator_pct,time_over_sse4_pct,samples"
    );
    for rate in RATES {
        let text = scenario(f64::from(rate) / 1000.0);
        let sse4 = Work::new(&text, "pair", "sse4", &[])?.truth(RUNS)?;
        let work = Work::new(&text, "pair", "avx512", &[])?;
        let class = cpu_model::Class::Avx512Heavy;
        let levels = [rate, 2 * rate].map(|rate| work.cpu.level_demanded(class, rate));
        for (name, method) in [("pauses", Method::Ours), ("published", Method::Published)] {
            let plan = |seed| match method {
                Method::Ours => Plan::ours(&work.cpu, seed),
                Method::Published => Plan::published(&work.cpu, seed),
            };
            let (profile, truth) = work.profile(RUNS, |seed| plan(seed).with_rate(100.0))?;
            let matrix = Matrix::of_samples(&profile, method, 1);
            let victim = &matrix.victims[0];
            let unknown = matrix.entries.iter().filter(|it| it.culprit.is_none());
            let unknown_ns = unknown.fold(0.0, |sum, it| sum + it.lost_ns.value);
            let overhead_pct = victim.overhead_pct.value;
            println!(
                "{rate},{},{},{name},{overhead_pct:.3},{:.3},{:.3},{:.3},{}",
                levels[0],
                levels[1],
                overhead_pct * unknown_ns / victim.lost_ns.value.max(1.0),
                truth.overhead_pct(0),
                100.0 * (truth.cpu_time_ns[0] as f64 / sse4.cpu_time_ns[0] as f64 - 1.0),
                victim.samples,
            );
        }
    }
    Ok(())
}

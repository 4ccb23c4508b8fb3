//! Other sources of the frequency: the cycle counter, and APERF over MPERF, where allowed.

use std::time::Duration;

use kernels::{Tsc, chain};

use crate::counter::{Counted, Counter, HARDWARE, USER_ONLY};

/// Counters compared with the chain, in sentences.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Agreements and disagreements.
    pub(super) agreements: Vec<String>,
    /// Counters that cannot be read on this machine, with the reason.
    pub(super) missing: Vec<String>,
}

/// An event of `HARDWARE`.
const CPU_CYCLES: u64 = 0;
/// Events of the `msr` source (Linux arch/x86/events/msr.c).
const APERF: u64 = 1;
const MPERF: u64 = 2;

/// How long chain and counters run beside each other.
const COMPARISON: Duration = Duration::from_millis(20);

/// Runs a chain beside the counters.
pub(super) fn compare(tsc: &Tsc, msr_pmu: Option<u32>) -> Comparison {
    let mut comparison = Comparison::default();
    match Counter::open(HARDWARE, CPU_CYCLES, USER_ONLY, Counted::ThisThread) {
        Ok(cycles) => {
            let before = cycles.read().unwrap_or(0);
            let (additions, _) = run_chain(tsc);
            let ratio = (cycles.read().unwrap_or(0) - before) as f64 / additions;
            comparison.agreements.push(format!(
                "the cycle counter counts {ratio:.3} cycles for each addition of the chain"
            ));
        }
        Err(reason) => comparison
            .missing
            .push(format!("cycle counter: not available to this program ({reason})")),
    }
    match aperf_over_mperf(tsc, msr_pmu) {
        Ok(ratio) => comparison
            .agreements
            .push(format!("APERF over MPERF gives {ratio:.3} times the frequency of the chain")),
        Err(reason) => comparison
            .missing
            .push(format!("APERF and MPERF: not available to this program ({reason})")),
    }
    comparison
}

/// Frequency by APERF and MPERF (both tick only while the core runs) over that of the chain.
fn aperf_over_mperf(tsc: &Tsc, msr_pmu: Option<u32>) -> Result<f64, String> {
    let source = msr_pmu.ok_or("the kernel has no msr event source")?;
    let aperf = Counter::open(source, APERF, 0, Counted::ThisThread)?;
    let mperf = Counter::open(source, MPERF, 0, Counted::ThisThread)?;
    let before = (aperf.read().unwrap_or(0), mperf.read().unwrap_or(0));
    let (additions, ticks) = run_chain(tsc);
    let (aperf, mperf) =
        (aperf.read().unwrap_or(0) - before.0, mperf.read().unwrap_or(0) - before.1);
    if mperf == 0 {
        return Err("MPERF stands still".to_owned());
    }
    Ok(aperf as f64 / mperf as f64 / (additions / ticks))
}

/// Additions done, and the ticks they took.
fn run_chain(tsc: &Tsc) -> (f64, f64) {
    const STEPS: u64 = 2000;
    let start = tsc.now();
    let end = start + tsc.ticks(COMPARISON);
    let mut additions = 0;
    while tsc.now() < end {
        chain::additions(STEPS);
        additions += STEPS * chain::STEP_ADDITIONS;
    }
    (additions as f64, (tsc.now() - start) as f64)
}

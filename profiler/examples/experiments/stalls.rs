//! How well does the model of stalls predict a lower clock (D 4.3.2, Fig. 4.7)?

use profiler::simulated;
use simulator::{Config, SensorFaults};

use crate::work::{Result, Work};

const NOW_KHZ: u32 = 2_800_000;
const NEXT_KHZ: u32 = 1_900_000;
/// Shares of the time that wait for memory, in permille: of that at the reference frequency where
/// programs are simulated, of that at 2.8 GHz in the arithmetic.
const STALLS: [u32; 7] = [0, 50, 150, 300, 500, 700, 900];
/// D has 1 and 16; 32 share their cores.
const INSTANCES: [u32; 3] = [1, 16, 32];
/// Counters that are off by up to so much, in permille.
const NOISES: [u32; 2] = [0, 100];
/// Seeds of noise.
const SEEDS: u64 = 10;
/// Shares of the time in which memory accesses hide code that computes, in permille.
const OVERLAPS: [u32; 4] = [50, 100, 200, 300];

fn scenario(instances: u32, stall_permille: u32) -> String {
    format!(
        r#"
schema = 1
name = "stalls"
description = "Instances of one program."
source = "D 4.3.2; amounts are our choice"
cpu = "xeon-gold-6130"
[run]
foreground = "each"
limit_s = 30
[[foreground]]
name = "program"
threads = 1
instances = {instances}
stall = {}
phases = [{{ repeat = {{ times = 100, phases = [
    {{ compute = {{ work_us = 5000, spread_pct = 10 }} }},
] }} }}]
[[background]]
name = "none"
control = true
"#,
        f64::from(stall_permille) / 1000.0
    )
}

/// Writes a row for each number of instances, stall share and noise, then the arithmetic of
/// overlaps.
pub fn rows() -> Result<()> {
    println!(
        "kind,seed,instances,stall_permille,counter_noise_permille,overlap_permille,stalled_pct,\
         predicted,measured,error_pct"
    );
    for instances in INSTANCES {
        for stall in STALLS {
            for noise in NOISES {
                for seed in 1..=if noise > 0 { SEEDS } else { 1 } {
                    simulated_row(seed, instances, stall, noise)?;
                }
            }
        }
    }
    for stall in STALLS {
        for overlap in OVERLAPS.into_iter().filter(|overlap| stall + overlap <= 1000) {
            let share = |permille: u32| f64::from(permille) / 1000.0;
            let slower = f64::from(NOW_KHZ) / f64::from(NEXT_KHZ);
            let kept = share(stall + overlap);
            let measured = 1.0 / (kept + (1.0 - kept) * slower);
            let head = format!("arithmetic,,,{stall},0,{overlap}");
            row(&head, share(stall), measured);
        }
    }
    Ok(())
}

fn simulated_row(seed: u64, instances: u32, stall: u32, noise: u32) -> Result<()> {
    let mut work = Work::new(&scenario(instances, stall), "program", "none", &[])?;
    let config = Config {
        sensor_faults: SensorFaults { counter_noise_permille: noise, ..SensorFaults::default() },
        ..work.config(seed)
    };
    let mut at_clock = |khz: u32| -> Result<(f64, f64)> {
        work.cpu.turbo.khz.iter_mut().for_each(|row| row.fill(khz));
        let (profile, outcome) = simulated::profile(&work.cpu, &work.workload, &config, None)?;
        let counts = || profile.slices.iter().map(|it| it.slice.counts);
        let cycles: u64 = counts().map(|it| it.cycles).sum();
        let stalled: u64 = counts().map(|it| it.stall_cycles).sum();
        let ends_ns = outcome.tasks.iter().filter_map(|task| task.completion_ns);
        Ok((ends_ns.sum::<u64>() as f64, stalled as f64 / cycles as f64))
    };
    let (now_ns, stalled) = at_clock(NOW_KHZ)?;
    let (next_ns, _) = at_clock(NEXT_KHZ)?;
    row(&format!("simulated,{seed},{instances},{stall},{noise},0"), stalled, now_ns / next_ns);
    Ok(())
}

/// `measured` is the speed at the next frequency over that now.
fn row(head: &str, stalled: f64, measured: f64) {
    let stall_q30 = (stalled.clamp(0.0, 1.0) * f64::from(policy::ONE)) as u32;
    let hz = |khz: u32| u64::from(khz) * 1000;
    let predicted_q30 = policy::stall_perf_q30(stall_q30, hz(NOW_KHZ), hz(NEXT_KHZ));
    let predicted = predicted_q30 as f64 / f64::from(policy::ONE);
    println!(
        "{head},{:.2},{predicted:.5},{measured:.5},{:.3}",
        100.0 * stalled,
        100.0 * (predicted / measured - 1.0)
    );
}

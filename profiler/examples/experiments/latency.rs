//! How much longer do requests take while cores are paused (D 4.5.3, Fig. 4.11)?

use profiler::{Machine, Plan, Reading, Sampler};
use simulator::{Operated, Operator, SliceCounts};

use crate::requests::{Latencies, Requests};
use crate::work::{Result, SAMPLES_A_SECOND, Work};

const RUNS: u64 = 5;
/// Work of a request and mean times between two requests of all clients, in us.
const REQUESTS_US: [(f64, f64); 6] =
    [(200.0, 40.0), (200.0, 20.0), (200.0, 10.0), (1000.0, 200.0), (1000.0, 100.0), (1000.0, 50.0)];
/// Clients of masstree.toml.
const CLIENTS: f64 = 8.0;
/// Shares of the requests, in 10^-5: their latencies are written.
const QUANTILES_E5: [usize; 8] = [50_000, 90_000, 95_000, 99_000, 99_500, 99_900, 99_950, 99_990];

/// Takes samples if asked to, and watches requests.
struct Watch {
    sampler: Option<Sampler>,
    requests: Requests,
}

struct Cpus<'a>(&'a mut dyn Operated);

impl Machine for Cpus<'_> {
    fn read(&mut self, cpu: u32) -> Reading {
        self.0.read(cpu).into()
    }

    fn pause(&mut self, cpu: u32) {
        self.0.pause(cpu);
    }

    fn resume(&mut self, cpu: u32) {
        self.0.resume(cpu);
    }
}

impl Operator for Watch {
    fn acts_ns(&self) -> Option<u64> {
        self.sampler.as_ref()?.acts_ns()
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        let Some(sampler) = &mut self.sampler else { return };
        sampler.act(machine.now_ns(), &mut Cpus(machine));
    }

    fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>, waited_ns: u64) {
        self.requests.switched(now_ns, cpu, task, waited_ns);
    }

    fn slice_ended(&mut self, slice: &SliceCounts) {
        self.requests.ran(slice.task, slice.counts.time_ns);
    }
}

/// Writes a row for each rate, way to pause, and seed.
pub fn rows() -> Result<()> {
    let columns: Vec<String> =
        QUANTILES_E5.iter().map(|share| format!("p{}_us", *share as f64 / 1000.0)).collect();
    println!(
        "service_us,gap_us,profiler,seed,requests,busy_pct,paused_ms,mean_us,{},max_us,hit",
        columns.join(",")
    );
    for (service_us, gap_us) in REQUESTS_US {
        let text = include_str!("masstree.toml");
        let work = Work::new(
            text,
            "client",
            "store",
            &[("gap_us", CLIENTS * gap_us), ("service_us", service_us)],
        )?;
        let case = format!("{service_us},{gap_us}");
        let plan = |seed| Plan::ours(&work.cpu, seed).with_rate(SAMPLES_A_SECOND);
        for seed in 1..=RUNS {
            row(&work, &case, "none", seed, None)?;
            row(&work, &case, "pauses", seed, Some(plan(seed)))?;
            let early = Plan { ends_early: true, ..plan(seed) };
            row(&work, &case, "pauses that end early", seed, Some(early))?;
        }
    }
    Ok(())
}

fn row(work: &Work, case: &str, name: &str, seed: u64, plan: Option<Plan>) -> Result<()> {
    let client = work.group("client")? as u32;
    let is_client = work.workload.threads.iter().map(|it| it.application == client).collect();
    let cores: Vec<Vec<u32>> = (0..16).map(|core| vec![2 * core, 2 * core + 1]).collect();
    let mut watch = Watch {
        sampler: plan.map(|plan| Sampler::new(plan, &cores, 0)),
        requests: Requests::new(is_client, work.workload.machine.cpus() as usize),
    };
    let config = work.config(seed);
    let outcome = simulator::run_operated(&work.cpu, &work.workload, &config, &mut watch)?;
    let Latencies { sorted_ns: latencies_ns, hit } = watch.requests.latencies()?;
    let count = latencies_ns.len();
    let us = |ns: u64| ns as f64 / 1000.0;
    let quantiles = QUANTILES_E5.map(|share| {
        // The percentile by the nearest rank: the latency of the request at that rank.
        let at = (count * share).div_ceil(100_000).saturating_sub(1);
        format!("{:.1}", us(latencies_ns[at]))
    });
    let mean_us = us(latencies_ns.iter().sum::<u64>()) / count as f64;
    let max_us = us(latencies_ns[count - 1]);
    let busy_pct = 100.0 * outcome.busy_ns as f64 / (32.0 * outcome.simulated_ns as f64);
    let paused_ms = outcome.paused_ns as f64 / 1e6;
    println!(
        "{case},{name},{seed},{count},{busy_pct:.1},{paused_ms:.1},{mean_us:.2},{},{max_us:.1},\
         {hit}",
        quantiles.join(",")
    );
    Ok(())
}

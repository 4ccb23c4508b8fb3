//! How fast the simulator runs, and how its cost grows with the machine.
//!
//! `cargo bench -p simulator --bench speed [-- FILTER]` prints raw samples of CPU time,
//! which other load on the machine disturbs less than wall time; read the smallest.
//! Without `--bench`, as in `cargo test --benches`, each case runs once and briefly.

mod runs;

use std::fs::read_to_string;

use runs::{Load, prepare};
use simulator::Scheduler;

const SAMPLES: usize = 5;
/// The kernel books CPU time at ticks of up to 4 ms: a sample repeats the run this long.
const SAMPLE_NS: u64 = 1_000_000_000;

/// CPU time of this thread in ns, from `/proc/thread-self/schedstat`.
fn cpu_time_ns() -> u64 {
    let stat = read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let filter = arguments.iter().find(|argument| !argument.starts_with("--"));
    let samples = if is_bench { SAMPLES } else { 1 };
    println!("load scheduler cpus threads simulated_ms events M_events/s x_real_time cpu_ms...");
    for load in runs::LOADS {
        for (name, scheduler) in runs::schedulers() {
            let label = format!("{load} {name}");
            if filter.is_some_and(|filter| !label.contains(filter.as_str())) {
                continue;
            }
            measure(&label, &load, scheduler, samples, is_bench);
        }
    }
}

fn measure(label: &str, load: &Load, scheduler: Scheduler, samples: usize, is_bench: bool) {
    let simulated_ns = if is_bench { load.simulated_ns } else { load.simulated_ns / 100 };
    let mut times_ns = Vec::with_capacity(samples);
    let (mut events, mut reached_ns) = (0, 0);
    let prepared = prepare(load, scheduler, simulated_ns);
    for _ in 0..samples {
        let start_ns = cpu_time_ns();
        let mut runs = 0;
        while runs == 0 || is_bench && cpu_time_ns() - start_ns < SAMPLE_NS {
            let outcome = prepared.run();
            (events, reached_ns) = (outcome.events, outcome.simulated_ns);
            runs += 1;
        }
        times_ns.push((cpu_time_ns() - start_ns) / runs);
    }
    assert!(events > 0, "{label}: nothing happens");
    if !is_bench {
        return println!("{label} {} {} {events}", load.cpus(), load.threads);
    }
    let best_ns = *times_ns.iter().min().unwrap() as f64;
    let raw: Vec<String> = times_ns.iter().map(|&ns| format!("{:.1}", ns as f64 / 1e6)).collect();
    println!(
        "{label} {} {} {} {events} {:.2} {:.1} {}",
        load.cpus(),
        load.threads,
        reached_ns / 1_000_000,
        events as f64 * 1e3 / best_ns,
        reached_ns as f64 / best_ns,
        raw.join(" ")
    );
}

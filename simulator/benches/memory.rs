//! Most memory that a run of at least a million events uses, one scheduler a process.
//!
//! `cargo bench -p simulator --bench memory` prints the peak resident set by scheduler.

mod runs;

use std::fs::read_to_string;
use std::process::Command;

const EVENTS_MIN: u64 = 1_000_000;

fn peak_kib() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    if let Some(at) = arguments.iter().position(|argument| argument == "--run") {
        return run_one(&arguments[at + 1], is_bench);
    }
    println!("scheduler events peak_KiB");
    let program = std::env::current_exe().unwrap();
    for (name, _) in runs::schedulers() {
        let mut command = Command::new(&program);
        command.args(["--run", &name]).args(is_bench.then_some("--bench"));
        assert!(command.status().unwrap().success(), "{name} fails");
    }
}

fn run_one(name: &str, is_bench: bool) {
    let load = runs::LOADS[0];
    let (_, scheduler) = runs::schedulers().into_iter().find(|(n, _)| *n == name).unwrap();
    let simulated_ns = if is_bench { 4 * load.simulated_ns } else { load.simulated_ns / 100 };
    let outcome = runs::prepare(&load, scheduler, simulated_ns).run();
    assert!(!is_bench || outcome.events >= EVENTS_MIN, "only {} events", outcome.events);
    println!("{name} {} {}", outcome.events, peak_kib());
}

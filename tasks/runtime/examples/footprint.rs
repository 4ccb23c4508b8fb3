//! The cost of the runtime beside time: memory of tasks that wait to be run, memory of a creator
//! that outruns its workers, and processor time of idle workers.
//!
//! `cargo run --release --package evenkeel-runtime --example footprint` prints CSV: each case runs
//! five times, in a process of its own.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use evenkeel_runtime::{Data, Runtime};

/// Tasks that wait at once.
const QUEUED: usize = 1_000_000;
/// Tasks of a creator that outruns its workers.
const CREATED: usize = 3_000_000;
/// How often each case runs.
const RUNS: usize = 5;
/// After this long without work a worker has to be idle.
const SETTLES: Duration = Duration::from_millis(10);
/// How long idle workers are watched.
const IDLE: Duration = Duration::from_secs(2);

type Case = fn() -> Result<f64, Box<dyn Error>>;

/// Cases, with the units of their results.
const CASES: [(&str, &str, Case); 4] = [
    ("queued", "bytes a task", queued),
    ("queued with a dependence", "bytes a task", queued_with_a_dependence),
    ("creator that outruns its workers", "MiB in all", outrun),
    ("idle workers", "% of a CPU", idle),
];

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(name) = env::args().nth(1) {
        let (_, _, case) = CASES.iter().find(|(other, ..)| *other == name).ok_or("no such case")?;
        println!("{:.4}", case()?);
        return Ok(());
    }
    println!("case,run,value,unit");
    for (name, unit, _) in CASES {
        for run in 1..=RUNS {
            let child = Command::new(env::current_exe()?).arg(name).output()?;
            if !child.status.success() {
                return Err(String::from_utf8_lossy(&child.stderr).into());
            }
            println!("{name},{run},{},{unit}", String::from_utf8(child.stdout)?.trim());
        }
    }
    Ok(())
}

/// The most memory that this process has had, in bytes.
fn peak_bytes() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? * 1024.0)
}

/// One worker that runs nothing before all are created.
fn holds_all() -> Result<Runtime, Box<dyn Error>> {
    Ok(Runtime::builder().workers(1).config("tree-nocutoff".parse()?).build()?)
}

fn queued() -> Result<f64, Box<dyn Error>> {
    let runtime = holds_all()?;
    runtime.scope(|s| s.spawn(|_| ()));
    let before = peak_bytes()?;
    let argument = black_box(1_u64);
    let peak = runtime.scope(|s| {
        (0..QUEUED).for_each(|_| s.spawn(move |_| assert_eq!(black_box(argument), 1)));
        peak_bytes()
    })?;
    Ok((peak - before) / QUEUED as f64)
}

fn queued_with_a_dependence() -> Result<f64, Box<dyn Error>> {
    let (runtime, sum) = (holds_all()?, Data::new(0_u64));
    runtime.scope(|s| s.task().inout(&sum).spawn(|_| ()));
    let before = peak_bytes()?;
    let peak = runtime.scope(|s| {
        (0..QUEUED).for_each(|_| s.task().inout(&sum).spawn(|sum| *sum += 1));
        peak_bytes()
    })?;
    assert_eq!(sum.into_inner(), QUEUED as u64);
    Ok((peak - before) / QUEUED as f64)
}

/// Tasks take a hundred times as long as to create one.
fn outrun() -> Result<f64, Box<dyn Error>> {
    let runtime = Runtime::builder().workers(2).build()?;
    runtime.scope(|s| {
        for _ in 0..CREATED {
            s.spawn(|_| assert!((0..2_000).all(|n| black_box(n) >= 0)));
        }
    });
    Ok(peak_bytes()? / f64::from(1 << 20))
}

fn idle() -> Result<f64, Box<dyn Error>> {
    let runtime = Runtime::builder().workers(2).build()?;
    runtime.scope(|s| (0..QUEUED).for_each(|n| s.spawn(move |_| assert!(black_box(n) < QUEUED))));
    thread::sleep(SETTLES);
    let before = processor_time()?;
    thread::sleep(IDLE);
    Ok((processor_time()? - before).as_secs_f64() / IDLE.as_secs_f64() * 100.0)
}

/// Processor time of all threads of this process until now.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    let mut all = Duration::ZERO;
    for thread in fs::read_dir("/proc/self/task")? {
        let stat = fs::read_to_string(thread?.path().join("schedstat"))?;
        let ran_ns = stat.split_whitespace().next().ok_or("no schedstat")?;
        all += Duration::from_nanos(ran_ns.parse()?);
    }
    Ok(all)
}

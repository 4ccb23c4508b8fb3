//! Is a loss caused by a hold or by a sibling (D 4.5.4, Fig. 4.12)?

use profiler::matrix::Matrix;
use profiler::{Cause, Method, Plan, Truth};
use simulator::Config;

use crate::causes::{self, Lost};
use crate::work::{Result, SAMPLES_A_SECOND, Work};

const RUNS: u64 = 100;
/// Runs whose history is read.
const HISTORIES: u64 = 10;
/// How far the sum of the causes may be from what the simulator states.
const SUM_ERROR_MAX: f64 = 0.02;

/// The program of Parsec that parsec-x265 lacks: frames of a face, each some steps over the mesh
/// with a barrier after each, and a serial part. Amounts, stall and working set are our choice.
const FACESIM: &str = r#"
[[foreground]]
name = "facesim"
threads = "@threads"
stall = 0.25
working_set_kib = 1024
phases = [{ repeat = { times = "@length * 8", phases = [
    { first = [{ compute = { work_us = "@serial * 4000", spread_pct = 10 } }] },
    { barrier = "frame" },
    { repeat = { times = 4, phases = [
        { compute = { work_us = 4000, spread_pct = 20 } },
        { barrier = "step" },
    ] } },
] } }]
"#;

/// One hardware thread a core, half the threads of the programs and of x265, and so half the work.
const NO_HT: &str = r#"
[machine]
packages = 1
cores = 16
threads_per_core = 1
[parameters]
threads = 16
serial = 0.5
x265_threads = 4
"#;

fn work(program: &str, has_siblings: bool) -> Result<Work> {
    if program == "nginx" {
        let name = if has_siblings { "nginx-crypto" } else { "nginx-crypto-no-ht" };
        return Work::shipped(name, program, "avx512");
    }
    let head = "schema = 1\nbase = \"parsec-x265\"\nname = \"sources\"\n\
                description = \"One program.\"\nsource = \"D 4.5.4\"\n";
    let machine = if has_siblings { "" } else { NO_HT };
    let foreground = if program == "facesim" { FACESIM } else { "" };
    Work::new(&format!("{head}{machine}{foreground}"), program, "avx512", &[])
}

/// Writes rows for each program: the truth, and what the profiler says.
pub fn rows() -> Result<()> {
    println!(
        "program,what,samples,overhead_pct,hold_pct,hold_beside_pct,sibling_pct,transition_pct"
    );
    for program in ["nginx", "streamcluster", "blackscholes", "facesim"] {
        for (has_siblings, what) in [(true, "true"), (false, "true without hyper-threading")] {
            let work = work(program, has_siblings)?;
            let group = work.group(program)?;
            let (lost, truth) = truth(&work, group)?;
            row(program, what, None, truth.overhead_pct(group), &lost);
        }
        let work = work(program, true)?;
        let group = work.group(program)?;
        let (ours, published) = (Plan::ours, Plan::published);
        for (what, method, splits_causes) in [
            ("pauses", Method::Ours, false),
            ("pauses with step 5", Method::Ours, true),
            ("published with step 5", Method::Published, true),
        ] {
            let plan = |seed| {
                let of = if method == Method::Ours { ours } else { published };
                Plan { splits_causes, ..of(&work.cpu, seed).with_rate(SAMPLES_A_SECOND) }
            };
            let (profile, _) = work.profile(RUNS, plan)?;
            let matrix = Matrix::of_samples(&profile, method, 1);
            let entries = matrix.entries.iter().filter(|it| it.victim == group);
            let mut lost = Lost::default();
            for entry in entries {
                lost.add(&Lost {
                    hold_ns: entry.by_cause_ns[Cause::Hold as usize],
                    sibling_ns: entry.by_cause_ns[Cause::Sibling as usize],
                    transition_ns: entry.by_cause_ns[Cause::Transition as usize],
                    ..Lost::default()
                });
            }
            let victim = &matrix.victims[group];
            row(program, what, Some(victim.samples), victim.overhead_pct.value, &lost);
        }
    }
    Ok(())
}

/// What the program truly lost, by cause.
fn truth(work: &Work, group: usize) -> Result<(Lost, Truth)> {
    let (mut lost, mut truth) = (Lost::default(), Truth::default());
    for seed in 1..=HISTORIES {
        let config = Config { history: true, ..work.config(seed) };
        let outcome = simulator::run(&work.cpu, &work.workload, &config)?;
        truth.add(&Truth::of(&work.workload, &outcome));
        let history = outcome.history.ok_or("no history")?;
        lost.add(&causes::lost(&work.cpu, &work.workload, &config, &history, group));
    }
    let stated_ns = truth.lost_ns[group] as f64;
    if (lost.sum_ns() / stated_ns - 1.0).abs() > SUM_ERROR_MAX {
        return Err(format!("causes add up to {} of {stated_ns} ns", lost.sum_ns()).into());
    }
    Ok((lost, truth))
}

/// Causes are written in points of the overhead.
fn row(program: &str, what: &str, samples: Option<usize>, overhead_pct: f64, lost: &Lost) {
    let points = |ns: f64| overhead_pct * ns / lost.sum_ns().max(1.0);
    // Only a history tells this part.
    let is_measured = samples.is_some();
    let hold_beside_pct =
        if is_measured { String::new() } else { format!("{:.3}", points(lost.hold_beside_ns)) };
    println!(
        "{program},{what},{},{overhead_pct:.3},{:.3},{},{:.3},{:.3}",
        samples.map_or_else(String::new, |it| it.to_string()),
        points(lost.hold_ns),
        hold_beside_pct,
        points(lost.sibling_ns),
        points(lost.transition_ns),
    );
}

//! `cargo model`: the predicted cost of the task runtime on more workers than this machine has.
//!
//! The runtime's own code, on virtual workers in virtual time; decision 0024 gives the limits of
//! this model. Each run is a process of its own, and has the same result each time.

mod point;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::value_parser;

use crate::peers::chart::{self, Shown, Sweep};
use commands::progress::Progress;
use commands::{cargo, run as call, target, whole_file};
use point::{Plan, Point};

/// The task runtime on virtual workers: predicted, not measured.
///
/// Writes points.csv, summary.txt and a drawing for each program.
#[derive(clap::Args)]
pub struct Args {
    /// How many virtual workers, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "1,2,48,256,1024",
        value_parser = value_parser!(u64).range(1..=WORKERS_MAX))]
    workers: Vec<u64>,
    /// Time of a task's body. In multiaxpy-noop every second task has a body, and the rest create
    /// tasks.
    #[arg(long, value_name = "NS", default_value_t = 500,
        value_parser = value_parser!(u64).range(..=1_000_000_000))]
    task_ns: u64,
    /// Tasks for each worker, at least; a central queue has one of twenty, since its cost a task
    /// does not depend on their number.
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = value_parser!(u64).range(1..=1_000_000))]
    tasks_each: u64,
    /// Only this scheduler; may be repeated, the first is drawn as ours.
    #[arg(long = "rules", value_name = "TEXT")]
    rules: Vec<String>,
    /// Only this program: multiaxpy-noop, independent, chain, blocks, cholesky; may be repeated.
    #[arg(long = "program", value_name = "NAME", default_value = "multiaxpy-noop")]
    programs: Vec<String>,
    /// Where the results go.
    #[arg(long, default_value = "out/model")]
    out: PathBuf,
}

/// No machine that can be declared has more.
const WORKERS_MAX: u64 = 65_536;

/// Programs that the model knows, by name.
const PROGRAMS: [&str; 5] = ["multiaxpy-noop", "independent", "chain", "blocks", "cholesky"];

/// Our scheduler, ours without its cutoff, the thesis's three forms of the tree, and the central
/// queues that the thesis began with.
const RULES: [&str; 7] = [
    "tree",
    "tree-nocutoff",
    "tree-lifo-dynamic-rebalance-nocutoff",
    "tree-fifo-static20-give-nocutoff",
    "tree-lifo-dynamic-give-nocutoff",
    "central-lifo-polling-nocutoff",
    "central-lifo-nocutoff",
];

/// Builds and runs the model, and writes the results.
pub fn run(args: &Args) -> Result<()> {
    check_programs(&args.programs)?;
    let rules: Vec<&str> = match &args.rules[..] {
        [] => RULES.to_vec(),
        chosen => chosen.iter().map(String::as_str).collect(),
    };
    let model = build()?;
    rules.iter().try_for_each(|rules| point::check_rules(&model, rules))?;
    let mut plans = Vec::new();
    for program in &args.programs {
        for rules in &rules {
            for &workers in &args.workers {
                plans.push(Plan::new(program, rules, workers, args.tasks_each, args.task_ns));
            }
        }
    }
    let mut progress = Progress::new("model", plans.len(), "runs");
    let mut points = Vec::new();
    for plan in &plans {
        progress.say(&format!("{} {} on {}", plan.program, plan.rules, plan.workers));
        points.push(plan.run(&model)?);
    }
    progress.end();
    write(args, &rules, &points)
}

/// An error where a program is none.
fn check_programs(names: &[String]) -> Result<()> {
    for name in names {
        if !PROGRAMS.contains(&name.as_str()) {
            bail!("no program `{name}`; there are {}", PROGRAMS.join(", "));
        }
    }
    Ok(())
}

/// Folder of builds with the model's flag, separate so that other builds stay up to date.
pub fn folder() -> PathBuf {
    target().join("model")
}

/// Compiler flags that turn the model on.
pub const FLAGS: &str = "--cfg evenkeel_model";

fn build() -> Result<PathBuf> {
    eprintln!("model: building, which takes minutes the first time");
    call(
        cargo()
            .args(["build", "--release", "--locked", "--quiet", "--package", "model"])
            .env("RUSTFLAGS", FLAGS)
            .env("CARGO_TARGET_DIR", folder()),
    )?;
    Ok(folder().join("release/model"))
}

fn write(args: &Args, rules: &[&str], points: &[Point]) -> Result<()> {
    let text = table::text(points, &args.programs, rules, args.task_ns);
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("creating {}", args.out.display()))?;
    whole_file::write(&args.out, "points.csv", &table::csv(points)?)?;
    whole_file::write(&args.out, "summary.txt", &text)?;
    for program in &args.programs {
        let title = format!("{program}: what a task costs beside its body of {} ns", args.task_ns);
        let sweep = Sweep {
            name: "model",
            title: title.leak(),
            x_caption: "virtual workers",
            block: |_| None,
            shown: Shown::Predicted,
            is_falling: false,
        };
        if let Some(drawing) = chart::predicted(&sweep, &lines(program, rules, points)) {
            whole_file::write(&args.out, &format!("{program}.svg"), &drawing)?;
        }
    }
    print!("{text}");
    println!("written to {}", args.out.display());
    Ok(())
}

/// A line for each scheduler.
fn lines(program: &str, rules: &[&str], points: &[Point]) -> Vec<chart::Line> {
    let line = |rules: &&str| {
        let own = points.iter().filter(|p| p.plan.program == program && p.plan.rules == **rules);
        // A logarithmic axis has no zero.
        let values = own.map(|p| (p.plan.workers as f64, p.cost_ns().max(1.0)));
        ((*rules).to_string(), values.collect())
    };
    rules.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn an_invalid_number_of_workers_is_refused_with_the_valid_range() {
        for wrong in ["0", "4,0", "65537", "many"] {
            let words = ["model", "--workers", wrong];
            let error = Command::try_parse_from(words).err().expect("it is refused");
            let text = error.to_string();
            assert!(text.contains("--workers") && text.contains(wrong.trim_start_matches("4,")));
        }
        let most = Command::try_parse_from(["model", "--workers", "1,65536"]).map(|c| c.args);
        assert_eq!(most.expect("both are right").workers, [1, WORKERS_MAX]);
    }

    #[test]
    fn an_unknown_program_is_refused_with_the_list_of_programs() {
        let error = check_programs(&["chain".into(), "foo".into()]).unwrap_err().to_string();
        let known = "multiaxpy-noop, independent, chain, blocks, cholesky";
        assert_eq!(error, format!("no program `foo`; there are {known}"));
    }

    #[test]
    fn the_programs_are_those_of_the_runtime_and_of_the_help() {
        let source = include_str!("../../model/src/program.rs");
        let table = source.split_once("pub const PROGRAMS").expect("a table").1;
        let table = table.split_once("];").expect("an end of it").0;
        let names: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, PROGRAMS);
        let help = <Command as clap::CommandFactory>::command().render_long_help().to_string();
        assert!(help.contains(&format!("Only this program: {};", PROGRAMS.join(", "))));
    }
}

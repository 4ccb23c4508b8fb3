//! `cargo xtask ci`: every check a change must pass.
//!
//! All steps run, so that one run shows everything there is to mend; the last
//! line counts them. A step whose tool this machine lacks is skipped; with
//! `CI=true` or `EVENKEEL_CI=1` a skip is a failure.

mod cargo;
mod checker;
mod exports;
mod install;
mod page;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::command::is_strict;
use crate::prove::{self, Proof};
use crate::{c_interface, r#gen, licences, tidy};

/// How a step ended when nothing was wrong.
pub enum Done {
    /// It held.
    Passed,
    /// It could not run, and why.
    Skipped(String),
}

/// One check.
struct Step {
    name: &'static str,
    claim: &'static str,
    run: fn() -> Result<Done>,
}

/// In order: what fails fastest comes first.
const STEPS: &[Step] = &[
    Step { name: "tidy", claim: "arrows, lengths, words and links hold", run: check_tidy },
    Step { name: "gen", claim: "generated files are up to date", run: check_generated },
    Step { name: "fmt", claim: "the code is formatted", run: cargo::fmt },
    Step { name: "licences", claim: "every dependency may be used", run: check_licences },
    Step { name: "clippy", claim: "the compiler and clippy have no warning", run: cargo::clippy },
    Step { name: "build", claim: "the commands build as they are shipped", run: cargo::build },
    Step { name: "test", claim: "every test passes", run: cargo::test },
    Step {
        name: "explored",
        claim: "no order of workers' steps loses a task",
        run: cargo::explored,
    },
    Step {
        name: "addresses",
        claim: "no task uses memory that is not its own any more",
        run: cargo::addresses,
    },
    Step {
        name: "threads",
        claim: "no two threads use the same memory without an order",
        run: cargo::threads,
    },
    Step {
        name: "openmp",
        claim: "programs of gcc and clang run on our OpenMP library",
        run: cargo::openmp,
    },
    Step {
        name: "model",
        claim: "many virtual workers lose no task, and do the same again",
        run: cargo::model,
    },
    Step { name: "inputs", claim: "damaged input breaks no reader", run: cargo::inputs },
    Step { name: "release", claim: "release builds give the same bytes", run: cargo::release },
    Step { name: "docs", claim: "the documentation builds without a warning", run: cargo::docs },
    Step { name: "proof", claim: "no policy function misbehaves on any input", run: check_proof },
    Step { name: "checker", claim: "the independent checker agrees", run: checker::check },
    Step { name: "exports", claim: "others read our exports as we mean them", run: exports::check },
    Step {
        name: "install",
        claim: "it installs, explains itself and goes away",
        run: install::check,
    },
    Step { name: "c", claim: "C and C++ programs use the task runtime", run: check_c_interface },
    Step { name: "page", claim: "a browser shows the page as it should be", run: page::check },
];

/// Which checks to run.
#[derive(clap::Args)]
pub struct Args {
    /// Run this step only; may be repeated.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// List the steps and what each of them claims.
    #[arg(long)]
    list: bool,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// Runs the steps and counts them; an error if one failed.
pub fn run(args: &Args) -> Result<()> {
    if args.list {
        for step in STEPS {
            println!("{:<10} {}", step.name, step.claim);
        }
        return Ok(());
    }
    let steps = chosen(&args.only)?;
    let strict = is_strict();

    let mut results = Vec::new();
    for step in steps {
        println!("\n== {}: {}", step.name, step.claim);
        let begin = Instant::now();
        let verdict = judge((step.run)(), strict);
        if let Verdict::Failed(why) = &verdict {
            eprintln!("{}: {why}", step.name);
        }
        results.push((step.name, verdict, begin.elapsed()));
    }
    print!("{}", summary(&results));
    if results.iter().any(|(_, verdict, _)| matches!(verdict, Verdict::Failed(_))) {
        bail!("not everything holds");
    }
    Ok(())
}

fn chosen(only: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        bail!("no step `{unknown}`; `cargo xtask ci --list` names them");
    }
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(wanted).collect())
}

fn judge(done: Result<Done>, strict: bool) -> Verdict {
    match done {
        Ok(Done::Passed) => Verdict::Passed,
        Ok(Done::Skipped(why)) if strict => {
            Verdict::Failed(format!("{why}; where everything must run, a skip is a failure"))
        }
        Ok(Done::Skipped(why)) => Verdict::Skipped(why),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    }
}

fn summary(results: &[(&str, Verdict, Duration)]) -> String {
    let mut text = String::from("\n");
    let mut counts = [0_usize; 3];
    for (name, verdict, took) in results {
        let (kind, word, why) = match verdict {
            Verdict::Passed => (0, "passed", ""),
            Verdict::Failed(why) => (1, "FAILED", why.as_str()),
            Verdict::Skipped(why) => (2, "SKIPPED", why.as_str()),
        };
        counts[kind] += 1;
        let line = format!("{name:<10} {word:<8} {:>6.1} s  {why}", took.as_secs_f64());
        text += line.trim_end();
        text += "\n";
    }
    let [passed, failed, skipped] = counts;
    text += &format!("\n{passed} passed, {failed} failed");
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    text + "\n"
}

fn check_tidy() -> Result<Done> {
    tidy::run(&tidy::Args::default()).map(|()| Done::Passed)
}

fn check_generated() -> Result<Done> {
    r#gen::run(&r#gen::Args { check: true }).map(|()| Done::Passed)
}

fn check_proof() -> Result<Done> {
    Ok(match prove::run(&prove::Args {})? {
        Proof::Holds { .. } => Done::Passed,
        Proof::Skipped => Done::Skipped("no frama-c here".to_string()),
    })
}

fn check_c_interface() -> Result<Done> {
    Ok(match c_interface::check()? {
        0 => Done::Skipped("neither gcc nor clang here".to_string()),
        _ => Done::Passed,
    })
}

fn check_licences() -> Result<Done> {
    licences::run().map(|()| Done::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_failure_where_everything_must_run() {
        let skip = || Ok(Done::Skipped("no browser".to_string()));
        assert_eq!(judge(skip(), false), Verdict::Skipped("no browser".to_string()));
        assert!(matches!(judge(skip(), true), Verdict::Failed(why) if why.contains("no browser")));
    }

    #[test]
    fn the_last_line_counts() {
        let took = Duration::from_millis(1500);
        let passed = ("a", Verdict::Passed, took);
        let failed = ("b", Verdict::Failed("why".to_string()), took);
        let skipped = ("c", Verdict::Skipped("why".to_string()), took);
        assert_eq!(
            summary(std::slice::from_ref(&passed)).lines().last(),
            Some("1 passed, 0 failed")
        );
        let all = summary(&[passed, failed, skipped]);
        assert_eq!(all.lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert_eq!(all.lines().nth(2), Some("b          FAILED      1.5 s  why"));
    }

    #[test]
    fn an_unknown_step_is_refused() {
        assert!(chosen(&["page".to_string()]).is_ok_and(|steps| steps.len() == 1));
        assert!(chosen(&["pages".to_string()]).is_err());
        assert!(chosen(&[]).is_ok_and(|steps| steps.len() == STEPS.len()));
    }
}

//! Checks in steps: all of them run, so that one run shows every failure, and the last line counts.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How a step ended that found no mistake.
pub enum Done {
    /// The claim holds.
    Passed,
    /// The step could not run, and why.
    Skipped(String),
}

/// One check.
pub struct Step {
    /// How `--only` names the step.
    pub name: &'static str,
    /// The sentence that a failure disproves.
    pub claim: &'static str,
    /// Runs the check.
    pub run: fn() -> Result<Done>,
}

/// Which checks to run.
#[derive(clap::Args)]
pub struct Args {
    /// Run this step only; may be repeated.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Run the long steps, which take minutes each, instead of the others.
    #[arg(long)]
    long: bool,
    /// List the steps and the claim of each.
    #[arg(long)]
    list: bool,
}

/// The checks of a workspace.
pub struct Steps {
    /// What every change must pass before it is offered, those that fail fastest first.
    pub short: &'static [Step],
    /// What every change must pass before it is taken, and takes minutes for each step.
    pub long: &'static [Step],
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// Runs the steps, prints the time of each, and counts them. `command` is the command line that
/// the user typed. With `is_strict` a skipped step is a failure.
///
/// # Errors
///
/// A step failed, or no step has a name that was given.
pub fn run(steps: &Steps, args: &Args, command: &str, is_strict: bool) -> Result<()> {
    if args.list {
        print_list(steps);
        return Ok(());
    }
    let mut results = Vec::new();
    for step in chosen(steps, args, command)? {
        println!("\n== {}: {}", step.name, step.claim);
        let begin = Instant::now();
        let verdict = judge((step.run)(), is_strict);
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

fn print_list(steps: &Steps) {
    let print = |step: &Step| println!("{:<10} {}", step.name, step.claim);
    steps.short.iter().for_each(print);
    println!("\nWith --long:");
    steps.long.iter().for_each(print);
}

/// The steps that `--only` names, of either list; without names, one whole list.
fn chosen<'a>(steps: &'a Steps, args: &Args, command: &str) -> Result<Vec<&'a Step>> {
    if args.only.is_empty() {
        let list = if args.long { steps.long } else { steps.short };
        return Ok(list.iter().collect());
    }
    let both = || steps.short.iter().chain(steps.long);
    if let Some(unknown) = args.only.iter().find(|name| !both().any(|step| step.name == **name)) {
        bail!("no step `{unknown}`; `{command} --list` names them");
    }
    Ok(both().filter(|step| args.only.iter().any(|name| name == step.name)).collect())
}

fn judge(done: Result<Done>, is_strict: bool) -> Verdict {
    match done {
        Ok(Done::Passed) => Verdict::Passed,
        Ok(Done::Skipped(why)) if is_strict => {
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
    fn a_list_or_the_named_steps_are_chosen() {
        const fn step(name: &'static str) -> Step {
            Step { name, claim: "", run: || Ok(Done::Passed) }
        }
        let steps = Steps {
            short: &const { [step("page"), step("test")] },
            long: &[const { step("inputs") }],
        };
        let chosen = |only: &[&str], long| {
            let only = only.iter().map(|&name| name.to_owned()).collect();
            let args = Args { only, long, list: false };
            let names = |steps: Vec<&Step>| steps.iter().map(|step| step.name).collect::<Vec<_>>();
            super::chosen(&steps, &args, "cargo checks").map(names)
        };
        assert_eq!(chosen(&[], false).unwrap(), ["page", "test"]);
        assert_eq!(chosen(&[], true).unwrap(), ["inputs"]);
        assert_eq!(chosen(&["inputs", "page"], false).unwrap(), ["page", "inputs"]);
        let refused = chosen(&["pages"], false).unwrap_err().to_string();
        assert_eq!(refused, "no step `pages`; `cargo checks --list` names them");
    }
}

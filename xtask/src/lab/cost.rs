//! `cargo xtask lab cost`: instructions an operation, against upstream's `scx_simple`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::repo;

/// The test that measures the cost, and the files that the test leaves in its folder.
pub const TEST: &str = "cost";
const FILES: [&str; 2] = ["cost.csv", "callbacks.csv"];
/// Works, and the goals: how far a scheduler's cost may exceed that of another one, per mille.
const WORKS: [&str; 2] = ["pipe", "messaging"];
const GOALS: [(&str, &str, u64); 4] = [
    ("fair", "scx_simple", 50),
    ("fair-isolation", "fair", 10),
    ("specialize", "fair", 10),
    ("fair-specialize", "fair", 10),
];

/// Medians by scheduler and work.
type Medians = BTreeMap<(String, String), u64>;

/// Prints the costs and whether they reach the goals; `is_written`: keeps the samples.
pub fn judge(results: &Path, is_written: bool) -> Result<()> {
    let folder = results.join(TEST);
    if is_written {
        let kept = repo::root().join("data/measurements/kernel-scheduler");
        for file in FILES {
            fs::copy(folder.join(file), kept.join(file)).with_context(|| file.to_owned())?;
        }
    }
    let text = fs::read_to_string(folder.join(FILES[0])).context("reading the samples")?;
    let medians = medians(&text)?;
    for ((scheduler, work), median) in &medians {
        println!("{scheduler:<15} {work:<10} {median:>6} instructions an operation");
    }
    let misses = misses(&medians)?;
    ensure!(misses.is_empty(), "{}", misses.join("; "));
    Ok(())
}

fn medians(text: &str) -> Result<Medians> {
    let mut samples = BTreeMap::<_, Vec<u64>>::new();
    for line in text.lines().skip(1) {
        let [scheduler, work, _, cost, _] = line.split(',').collect::<Vec<_>>()[..] else {
            anyhow::bail!("expected five columns: {line}");
        };
        let key = (scheduler.to_owned(), work.to_owned());
        samples.entry(key).or_default().push(cost.parse().with_context(|| line.to_owned())?);
    }
    let median = |mut costs: Vec<u64>| {
        costs.sort_unstable();
        costs[costs.len() / 2]
    };
    Ok(samples.into_iter().map(|(key, costs)| (key, median(costs))).collect())
}

/// Goals that are not reached, a sentence each; all ratios are printed.
fn misses(medians: &Medians) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    for (scheduler, other, permille) in GOALS {
        for work in WORKS {
            let cost = |name: &str| {
                let found = medians.get(&(name.to_owned(), work.to_owned()));
                found.copied().with_context(|| format!("no sample of {name} with {work}"))
            };
            let (ours, theirs) = (cost(scheduler)?, cost(other)?);
            let above = 100.0 * (ours as f64 / theirs as f64 - 1.0);
            println!("{work}: {scheduler} is {above:+.1} % beside {other}");
            if ours * 1000 > theirs * (1000 + permille) {
                misses.push(format!(
                    "{work}: {scheduler} takes {above:.1} % more than {other}; the goal is {} %",
                    permille / 10
                ));
            }
        }
    }
    Ok(misses)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "scheduler,work,round,instructions_per_op,idle_s\n";

    #[test]
    fn a_scheduler_beyond_its_goal_is_named() {
        let text = format!(
            "{HEAD}scx_simple,pipe,0,1000,0\nscx_simple,messaging,0,1000,0\nfair,pipe,0,900,0\n\
             fair,pipe,1,1050,0\nfair,pipe,2,2000,0\nfair,messaging,0,1051,0\n\
             fair-isolation,pipe,0,1061,0\nfair-isolation,messaging,0,1050,0\n\
             specialize,pipe,0,1060,0\nspecialize,messaging,0,1050,0\n\
             fair-specialize,pipe,0,1050,0\nfair-specialize,messaging,0,1090,0\n"
        );
        let found = misses(&medians(&text).unwrap()).unwrap();
        let expected = [
            "messaging: fair takes 5.1 % more than scx_simple; the goal is 5 %",
            "pipe: fair-isolation takes 1.0 % more than fair; the goal is 1 %",
            "messaging: fair-specialize takes 3.7 % more than fair; the goal is 1 %",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_missing_sample_is_no_success() {
        assert!(misses(&medians(HEAD).unwrap()).is_err());
        assert!(medians(&format!("{HEAD}fair,pipe\n")).is_err());
    }
}

//! Fits the parameters of x265 that no source gives to the two published baselines alone.
//!
//! Only claims that the scenario calls calibrated are run, which a scenario may do only for
//! schedulers without any policy (`fair`, D 7.6.2: 7.3 and 23.5 %). Unknown parameters are drawn
//! from ranges, and a set is kept when all of these figures come out within [`CLOSE_PCT`]. The
//! sets that remain show how far the predictions depend on unknown parameters. The origin of the
//! ranges is in `docs/measurements/reproduction.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use random::SplitMix64;
use serde_json::Value;

use crate::command::{evenkeel, program};
use crate::repo;

/// How close a kept set is: half the tolerance of 2 points.
const CLOSE_PCT: f64 = 1.0;
/// Scenario of the baselines; scenarios based on this one inherit the sets.
const CALIBRATED: &str = "parsec-x265";
/// Sets to draw for one that is kept, at most.
const DRAWS_MAX: usize = 100;
const MARK: &str = "# Fitted parameter sets, written by `cargo xtask calibrate`: do not edit.";

/// Unknown parameters, each with its least and greatest value. The range of the spread surrounds
/// the value that keeps the published number of CPUs busy (24.6 of 32, D 7.2); the rest is our
/// choice.
const UNKNOWN: [(&str, f64, f64); 5] = [
    ("x265_frame_us", 200.0, 800.0),
    ("x265_spread", 33.0, 43.0),
    ("x265_share_avx2", 0.4, 0.95),
    ("x265_share_512_light", 0.1, 0.3),
    ("x265_share_512_heavy", 0.5, 0.7),
];

/// Fit x265 to the published baselines.
#[derive(clap::Args)]
pub struct Args {
    /// Sets to keep
    #[arg(long, default_value_t = 24)]
    sets: usize,
    /// Seed of the drawn parameters
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

type Set = BTreeMap<&'static str, f64>;

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let built = evenkeel()?;
    let evenkeel = built.to_string_lossy();
    let baselines = baselines()?;
    let mut draws = SplitMix64::new(args.seed);
    let mut kept = Vec::new();
    let mut drawn = 0;
    while kept.len() < args.sets {
        ensure!(drawn < DRAWS_MAX * args.sets, "only {} of {drawn} sets fit", kept.len());
        drawn += 1;
        let set: Set = UNKNOWN
            .iter()
            .map(|&(name, low, high)| (name, round(low + (high - low) * draws.unit())))
            .collect();
        let found = found(&evenkeel, &baselines, &set)?;
        let is_close = |(found, claim): (&f64, &Baseline)| (found - claim.value).abs() <= CLOSE_PCT;
        if found.iter().zip(&baselines).all(is_close) {
            kept.push(set);
        }
        let shown: Vec<String> = found.iter().map(|found| format!("{found:.2}")).collect();
        println!("{drawn}: {}, {} of {} kept", shown.join(" / "), kept.len(), args.sets);
    }
    println!("{} of {drawn} drawn sets fit within {CLOSE_PCT} points", kept.len());
    write_fits(&kept)
}

/// A published figure to fit to.
#[derive(Debug, PartialEq)]
struct Baseline {
    scheduler: String,
    background: String,
    metric: String,
    value: f64,
}

/// The calibrated claims of the scenario; `evenkeel` refuses to run one of a policy.
fn baselines() -> Result<Vec<Baseline>> {
    let path = scenario();
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let table: toml::Table = text.parse().with_context(|| path.display().to_string())?;
    let claims = table.get("claim").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_calibrated = |claim: &&toml::Value| claim.get("calibrated") == Some(&true.into());
    let baseline = |claim: &toml::Value| {
        let text = |name: &str| Some(claim.get(name)?.as_str()?.to_owned());
        let (scheduler, background) = (text("scheduler")?, text("background")?);
        let value = claim.get("published")?.as_float()?;
        Some(Baseline { scheduler, background, metric: text("metric")?, value })
    };
    let baselines: Option<Vec<Baseline>> =
        claims.iter().filter(is_calibrated).map(baseline).collect();
    let baselines = baselines.context("a calibrated claim lacks a part")?;
    ensure!(!baselines.is_empty(), "{} has no calibrated claim", path.display());
    Ok(baselines)
}

/// The file of the scenario.
fn scenario() -> PathBuf {
    repo::root().join(format!("scenarios/files/{CALIBRATED}.toml"))
}

/// The figures that a parameter set gives for the baselines; runs only their schedulers.
fn found(evenkeel: &str, baselines: &[Baseline], set: &Set) -> Result<Vec<f64>> {
    let schedulers: BTreeSet<&str> = baselines.iter().map(|one| one.scheduler.as_str()).collect();
    let schedulers: Vec<&str> = schedulers.into_iter().collect();
    let mut command = program(evenkeel);
    command.args(["compare", CALIBRATED, "--scheduler", &schedulers.join(",")]);
    command.args(["--replicates", "1", "--json", "-"]);
    for (name, value) in set {
        command.arg("--set").arg(format!("{name}={value}"));
    }
    let output = command.output().context("starting evenkeel")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let runs = result["runs"].as_array().context("no runs in the result")?;
    let of = |one: &Baseline| {
        let is_of = |run: &&Value| {
            run["background"] == *one.background && run["scheduler"] == *one.scheduler
        };
        let run = runs.iter().find(is_of);
        let run = run.with_context(|| format!("no run beside {}", one.background))?;
        run[&one.metric].as_f64().context("no figure in the result")
    };
    baselines.iter().map(of).collect()
}

/// Replaces the sets at the end of the scenario file.
fn write_fits(sets: &[Set]) -> Result<()> {
    let path = scenario();
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let hand_written = text.split(MARK).next().unwrap_or(&text).trim_end();
    let mut text = format!("{hand_written}\n\n{MARK}\n");
    for set in sets {
        let values: Vec<String> =
            set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        writeln!(text, "\n[[fit]]\n{}", values.join("\n"))?;
    }
    fs::write(&path, text).with_context(|| path.display().to_string())
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_baselines_without_a_policy_are_fitted_to() {
        let fair = |background: &str, value| Baseline {
            scheduler: "fair".to_owned(),
            background: background.to_owned(),
            metric: "isolation_slowdown_pct".to_owned(),
            value,
        };
        assert_eq!(baselines().unwrap(), [fair("avx2", 7.3), fair("avx512", 23.5)]);
    }
}

//! Does the independent checker pass its own tests, and does it agree with the simulator?

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Done;
use crate::command::{evenkeel, find, program, run, target};

/// Runs that are checked: a scenario, and the scheduler it runs under. Between
/// them they have barriers, sleeps, idle CPUs, siblings and every kind of queue.
const RUNS: &[(&str, &str)] = &[
    ("pingpong", "fair-isolation"),
    ("pingpong", "eevdf"),
    ("half-load", "fair-relative"),
    ("closed-form-relative", "fair"),
    ("amx-inference", "fair-isolation"),
    ("light512", "cfs"),
    ("light512", "muqss"),
    ("parsec-x265-two-cores", "fair-isolation"),
    ("parsec-x265-two-cores", "eevdf"),
];

/// The checker's own tests hold, and it agrees with every run of the table.
pub fn check() -> Result<Done> {
    let Some(python) = find(&["python3"]) else {
        return Ok(Done::Skipped("no python3 here".to_string()));
    };
    if find(&["zstd"]).is_none() {
        return Ok(Done::Skipped("no zstd here, to read histories with".to_string()));
    }
    run(program(python).args(["-m", "unittest", "discover", "checker"]))?;

    let evenkeel = evenkeel()?;
    let folder = target().join("checker");
    fs::create_dir_all(&folder)?;
    for (scenario, scheduler) in RUNS {
        println!("{scenario} under {scheduler}");
        let history = folder.join(format!("{scenario}-{scheduler}.ektrace"));
        let outcome = folder.join(format!("{scenario}-{scheduler}.json"));
        run(program(&evenkeel.to_string_lossy())
            .args(["simulate", scenario, "--scheduler", scheduler])
            .arg("-o")
            .arg(&history)
            .arg("--json")
            .arg(&outcome))?;
        run(program(python)
            .arg("checker/check.py")
            .arg(&history)
            .args(["--cpu", &format!("cpu-model/tables/{}.toml", cpu(&outcome)?)])
            .arg("--outcome")
            .arg(&outcome))?;
    }
    Ok(Done::Passed)
}

/// The CPU an outcome names.
fn cpu(outcome: &Path) -> Result<String> {
    let text = fs::read_to_string(outcome).context("reading the outcome")?;
    let json: Value = serde_json::from_str(&text).context("reading the outcome")?;
    Ok(json["cpu"].as_str().context("the outcome names no CPU")?.to_string())
}

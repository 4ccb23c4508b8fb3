//! Does the independent checker pass its own tests and agree with the simulator?

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Done;
use crate::command::{find, program, run, target, tested};

/// A run that is checked.
struct Run {
    /// Name of one that is shipped, or file.
    scenario: &'static str,
    scheduler: &'static str,
    sensors: &'static str,
    /// A table file instead of the scenario's own CPU.
    cpu: Option<&'static str>,
}

const fn shipped(scenario: &'static str, scheduler: &'static str, sensors: &'static str) -> Run {
    Run { scenario, scheduler, sensors, cpu: None }
}

/// Two packages, each with one license for all its cores.
const fn by_package(scheduler: &'static str, sensors: &'static str) -> Run {
    let scenario = "checker/fixtures/two-packages.toml";
    Run { scenario, scheduler, sensors, cpu: Some("checker/fixtures/package-license.toml") }
}

/// Between them they have barriers, sleeps, idle CPUs, siblings, every kind of queue, every
/// sensor set, turbo off (`pingpong`) and licenses of cores and of packages.
const RUNS: &[Run] = &[
    shipped("pingpong", "fair-isolation", "truth"),
    shipped("pingpong", "fair-isolation", "d7"),
    shipped("pingpong", "eevdf", "d7"),
    shipped("half-load", "fair-relative", "d7"),
    shipped("closed-form-relative", "fair", "truth"),
    shipped("amx-inference", "fair-isolation", "d7"),
    shipped("amx-inference", "fair-relative", "truth"),
    shipped("light512", "cfs", "d7"),
    shipped("light512", "muqss", "d7"),
    shipped("light512", "fair-isolation", "xinuse"),
    shipped("light512", "fair-isolation", "fp-retired"),
    shipped("light512", "fair-relative", "rules"),
    shipped("parsec-x265-two-cores", "fair-isolation", "truth"),
    shipped("parsec-x265-two-cores", "fair-isolation", "d7"),
    shipped("parsec-x265-two-cores", "fair-relative", "d7"),
    shipped("parsec-x265-two-cores", "eevdf", "d7"),
    shipped("parsec-x265-two-cores", "even", "truth"),
    shipped("parsec-x265-two-cores", "even", "d7"),
    shipped("half-load", "even", "d7"),
    shipped("half-load", "even-without-swaps", "truth"),
    shipped("pingpong", "even", "truth"),
    shipped("amx-inference", "even", "rules"),
    shipped("light512", "even-without-repayment", "d7"),
    by_package("fair-isolation", "truth"),
    by_package("fair-relative", "truth"),
    by_package("fair-isolation", "d7"),
    by_package("eevdf", "d7"),
    by_package("even", "d7"),
];

/// The checker passes its own tests, and agrees with every run of the table.
pub fn check() -> Result<Done> {
    let Some(python) = find(&["python3"]) else {
        return Ok(Done::Skipped("no python3 here".to_string()));
    };
    if find(&["zstd"]).is_none() {
        return Ok(Done::Skipped("no zstd here, to read histories with".to_string()));
    }
    run(program(python).args(["-m", "unittest", "discover", "checker"]))?;

    let evenkeel = tested()?.join("evenkeel");
    let folder = target().join("checker");
    fs::create_dir_all(&folder)?;
    let mut without_turbo = 0;
    for entry in RUNS {
        if !check_run(entry, python, &evenkeel, &folder)? {
            without_turbo += 1;
        }
    }
    ensure!(without_turbo > 0, "no run that was checked had turbo off");
    Ok(Done::Passed)
}

/// Simulates and checks one run; returns whether turbo was on.
fn check_run(entry: &Run, python: &str, evenkeel: &Path, folder: &Path) -> Result<bool> {
    let Run { scenario, scheduler, sensors, cpu } = *entry;
    let name = Path::new(scenario).file_stem().context("a scenario has a name")?;
    let file = format!("{}-{scheduler}-{sensors}", name.display());
    let history = folder.join(format!("{file}.ektrace"));
    let outcome = folder.join(format!("{file}.json"));
    let mut simulate = program(&evenkeel.to_string_lossy());
    simulate.args(["simulate", scenario, "--scheduler", scheduler, "--sensors", sensors]);
    simulate.args(cpu.iter().flat_map(|cpu| ["--cpu", cpu]));
    simulate.arg("-o").arg(&history).arg("--json").arg(&outcome).stdout(Stdio::null());
    run(&mut simulate)?;

    let stated = fs::read_to_string(&outcome).context("reading the outcome")?;
    let stated: Value = serde_json::from_str(&stated).context("reading the outcome")?;
    let shipped = stated["cpu"].as_str().context("the outcome names no CPU")?;
    let turbo = stated["turbo"].as_bool().context("the outcome does not state turbo")?;
    let table = match cpu {
        Some(file) => file.to_string(),
        None => format!("cpu-model/tables/{shipped}.toml"),
    };
    let note = if turbo { "" } else { ", turbo off" };
    println!("{} under {scheduler}, sensors {sensors}{note}, on {table}", name.display());
    run(program(python)
        .arg("checker/check.py")
        .arg(&history)
        .args(["--cpu", &table])
        .arg("--outcome")
        .arg(&outcome))?;
    Ok(turbo)
}

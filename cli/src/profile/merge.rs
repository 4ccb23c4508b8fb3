//! `evenkeel profile merge`: the profiles of many machines as one.

mod cpu;
mod parquet;
mod print;
mod sum;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use sensors::control_groups::{Labels, shown};
use serde::Deserialize;

use crate::{files, terminal};
use cpu::Cpu;
use sum::Merged;

const MORE: &str = "\
Examples:
  evenkeel profile merge node-*.json
      which program costs the fleet most, and which machine loses most
  evenkeel profile merge node-*.json --parquet fleet.parquet
      a row for each machine, victim and culprit, for DuckDB, pandas or Spark
On each machine: sudo evenkeel profile -a --duration 60 --json node-$(hostname).json

Losses are added up over machines whose CPUs have one model name and whose clock was estimated
by one CPU table. Those of another CPU, or as if on another table, are rows of their own: what a
table predicts for a CPU that the machine does not have adds up to nothing with what its own says.
Containers, pods and units of one name are one row; its labels are those that all of them have.";

/// Profiles of many machines as one: sums by program, and which machines lose most.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// Results of `evenkeel profile --json`, a machine each
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<PathBuf>,

    /// Writes a row for each machine, victim and culprit
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,

    /// Writes the sums as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The version of reports that are read.
const SCHEMA: u32 = 1;

/// The fields of a report that a merge reads.
#[derive(Deserialize, Clone, Debug)]
#[serde(expecting = "a profile, which is an object")]
struct Machine {
    /// Name of the file without its ending.
    #[serde(skip)]
    name: String,
    schema: u32,
    estimator: String,
    /// The CPU as the machine calls it; older profiles do not say it.
    machine_cpu: Option<String>,
    /// The CPU table; `None`: none holds for the CPU.
    cpu: Option<String>,
    /// Of a simulation.
    scheduler: Option<String>,
    is_own_table: bool,
    length_s: f64,
    victims: Vec<Victim>,
    losses: Vec<Loss>,
}

#[derive(Deserialize, Clone, Debug)]
struct Victim {
    name: String,
    labels: Option<Labels>,
    cpu_time_s: f64,
    waited_s: f64,
}

#[derive(Deserialize, Clone, Debug)]
struct Loss {
    victim: String,
    culprit: Option<String>,
    lost_s: Interval,
    by_hold_s: Option<f64>,
    by_sibling_s: Option<f64>,
    by_transition_s: Option<f64>,
    waited_s: f64,
    by_shared_core_s: f64,
}

impl Loss {
    /// Whether the victim is the culprit.
    fn is_own(&self) -> bool {
        self.culprit.as_ref() == Some(&self.victim)
    }
}

/// A value and its 95 % interval, as far as they are known.
#[derive(Deserialize, Clone, Copy, Debug)]
struct Interval {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl Machine {
    /// The CPU that its losses are of.
    fn cpu(&self) -> Cpu {
        let has_levels = !matches!(self.estimator.as_str(), "no-levels" | "clock");
        Cpu {
            machine_cpu: self.machine_cpu.clone(),
            cpu_table: self.cpu.clone().filter(|_| has_levels),
            is_own_table: has_levels && self.is_own_table,
            is_measured: self.estimator == "clock",
            is_known: self.has_clock(),
        }
    }

    /// The groups by their names, which losses have.
    fn by_name(&self) -> HashMap<&str, &Victim> {
        self.victims.iter().map(|it| (it.name.as_str(), it)).collect()
    }

    /// Whether the machine's clock was estimated; else its losses of clock are unknown, not 0.
    fn has_clock(&self) -> bool {
        !matches!(self.estimator.as_str(), "none-shown" | "not-recorded")
    }
}

/// Merges the files.
pub fn run(args: &Args) -> Result<()> {
    for path in [&args.json, &args.parquet].into_iter().flatten() {
        files::refuse_unwritable(path)?;
    }
    let mut machines = Vec::new();
    for path in &args.files {
        machines.push(read(path)?);
    }
    machines.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = machines.windows(2).find(|pair| pair[0].name == pair[1].name) {
        bail!(
            "two files are called {}: a machine would count twice; give each file another name",
            pair[0].name
        );
    }
    refuse_one_recording_twice(&machines)?;
    if let Some(path) = &args.parquet {
        files::write(path, &parquet::table(&machines)?)?;
    }
    let merged = Merged::of(&machines);
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &merged)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(&merged), terminal::width()))
}

/// Two profiles of one recording, as a profile and its replay, have the same times to the ns.
fn refuse_one_recording_twice(machines: &[Machine]) -> Result<()> {
    let mut by_times: HashMap<Vec<u64>, &str> = HashMap::new();
    for machine in machines.iter().filter(|machine| !machine.victims.is_empty()) {
        let of_victims = machine.victims.iter().flat_map(|it| [it.cpu_time_s, it.waited_s]);
        let mut times: Vec<u64> = of_victims.map(f64::to_bits).collect();
        times.push(machine.length_s.to_bits());
        if let Some(other) = by_times.insert(times, &machine.name) {
            bail!("{other} and {} are of one recording: a machine would count twice", machine.name);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Machine> {
    let file = path.display();
    let text = files::read_text(path)?;
    let machine: Machine = serde_json::from_str(&text)
        .with_context(|| format!("{file}: no result of `evenkeel profile --json`"))?;
    ensure!(
        machine.schema == SCHEMA,
        "{file}, field schema: {} is another version than {SCHEMA}",
        machine.schema
    );
    ensure!(
        machine.scheduler.is_none(),
        "{file}: a simulation, and no machine; its sums are in the file itself"
    );
    let is_time = |value: f64| value.is_finite() && value >= 0.0;
    let of_loss = |it: &Loss| {
        // Measured clocks may say that a program gained time, by chance.
        let parts = [it.by_hold_s, it.by_sibling_s, it.by_transition_s];
        let of_clock = [it.lost_s.value, it.lost_s.low, it.lost_s.high].into_iter().chain(parts);
        of_clock.flatten().all(f64::is_finite)
            && is_time(it.waited_s)
            && is_time(it.by_shared_core_s)
    };
    let of_victim = |it: &Victim| is_time(it.cpu_time_s) && is_time(it.waited_s);
    ensure!(
        is_time(machine.length_s)
            && machine.victims.iter().all(of_victim)
            && machine.losses.iter().all(of_loss),
        "{file}: a time is negative or no number"
    );
    let name = path.file_stem().unwrap_or(path.as_os_str());
    Ok(Machine {
        name: trace::clean(name.as_encoded_bytes()),
        machine_cpu: machine.machine_cpu.as_deref().map(shown),
        cpu: machine.cpu.as_deref().map(shown),
        ..machine
    })
}

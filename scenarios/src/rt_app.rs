//! Files of rt-app, the field's language for periodic work, as scenarios.
//!
//! The language is that of rt-app 1.0 and workgen (their `tutorial.txt`): tasks with phases of
//! events, in microseconds. `run` is work, in time at the reference frequency. Features without a
//! meaning here are errors with their names. Objects `x-evenkeel` add properties that rt-app has
//! no words for.

mod json;
mod task;

use std::collections::BTreeMap;

use cpu_model::Class;

use self::json::{Json, Value};
use self::task::{Task, read_task};
use crate::error::{ScenarioError, printable};
use crate::fields::{Place, Source};
use crate::number::Number;
use crate::scenario::{
    ApplicationSpec, Demand, ForegroundMode, MachineSpec, Run, Scenario, Start, Variant,
};

/// CPU table of files that name none; our choice.
const CPU: &str = "xeon-gold-6130";
/// A run stops after so many times the file's duration at the latest; our choice.
const LIMIT_FACTOR: f64 = 10.0;
/// Shortest and longest time after which a run stops, in s.
const LIMIT_S: (f64, f64) = (1.0, 3600.0);
/// Random seeds of a comparison; our choice.
const REPLICATES: u32 = 5;
/// Properties for rt-app's own measuring, logging and locking, which change no work here.
const WITHOUT_EFFECT: [&str; 10] = [
    "calibration",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "lock_pages",
    "frag",
    "cumulative_slack",
    "mem_buffer_size",
];

/// Whether a text is no TOML but JSON: its first character says so.
pub(crate) fn is_rt_app(text: &str) -> bool {
    text.trim_start().starts_with(['{', '/'])
}

/// Reads a file of rt-app.
pub(crate) fn read(text: &str, source: &Source) -> Result<Scenario, ScenarioError> {
    let root = json::parse(text, source)?;
    let mut tasks = None;
    let mut global = Global::default();
    let mut ours = Ours::default();
    for (key, value) in root.object()? {
        match key.as_str() {
            "tasks" => tasks = Some(value),
            "global" => global = read_global(value)?,
            "x-evenkeel" => ours = read_ours(value)?,
            _ => return Err(unknown(value, "tasks, global, x-evenkeel")),
        }
    }
    let Some(tasks) = tasks else { return Err(missing(&root, "tasks", "an object of tasks")) };
    let read = |(name, value): &(String, Value)| read_task(name, value);
    let mut tasks: Vec<Task> = tasks.object()?.iter().map(read).collect::<Result<_, _>>()?;
    refuse_shared_timers(&tasks)?;
    for task in &mut tasks {
        task.bound_rounds(global.duration_s)?;
    }
    let name = file_stem(&source.file);
    let duration_s = global.duration_s.unwrap_or(LIMIT_S.1 / LIMIT_FACTOR);
    let limit_s = (duration_s * LIMIT_FACTOR).clamp(LIMIT_S.0, LIMIT_S.1);
    let (background, foreground): (Vec<Task>, Vec<Task>) =
        tasks.into_iter().partition(|task| task.is_background);
    let foreground_place = root.place.clone();
    let scenario = Scenario {
        description: "Periodic tasks of a file of rt-app.".to_owned(),
        source: source.file.to_string(),
        cpu: ours.cpu.unwrap_or_else(|| CPU.to_owned()),
        run: Run {
            foreground: ForegroundMode::Together,
            start: Start::default(),
            limit_ns: (limit_s * 1e9) as u64,
            replicates: REPLICATES,
        },
        parameters: BTreeMap::new(),
        fits: Vec::new(),
        calibrated_on: Vec::new(),
        claims: Vec::new(),
        file: source.file.to_string(),
        machine: ours.machine,
        background: variants(&foreground, &background, &foreground_place),
        foreground: foreground.into_iter().map(Task::into_application).collect(),
        name,
    };
    if scenario.foreground.is_empty() {
        return Err(missing(&root, "tasks", "at least one task that is no background"));
    }
    Ok(scenario)
}

/// A timer of several threads fires for one of them at a time, which none of our steps does.
fn refuse_shared_timers(tasks: &[Task]) -> Result<(), ScenarioError> {
    let mut users: BTreeMap<&str, u32> = BTreeMap::new();
    for task in tasks {
        for (name, place) in &task.shared_timers {
            let count = users.entry(name).or_default();
            *count += task.instances;
            if *count > 1 {
                let expected = "a \"ref\" that begins with `unique`: several threads use this one";
                return Err(place.error(expected));
            }
        }
    }
    Ok(())
}

/// The tasks as they are, and for comparison with every class scalar.
fn variants(foreground: &[Task], background: &[Task], place: &Place) -> Vec<Variant> {
    let classes: BTreeMap<String, Demand> = foreground
        .iter()
        .chain(background)
        .flat_map(|task| &task.classes)
        .map(|class| (class.name().to_owned(), Demand::Always(*class)))
        .collect();
    let variant = |name: &str, control: bool, classes| Variant {
        name: name.to_owned(),
        control,
        classes,
        time_scale: Number::fixed(1.0, place.clone()),
        is_like: !control,
        applications: background.iter().cloned().map(Task::into_application).collect(),
        place: place.clone(),
    };
    let scalar = classes.keys().map(|name| (name.clone(), Demand::Always(Class::Scalar))).collect();
    vec![variant("scalar", true, scalar), variant("described", false, classes)]
}

#[derive(Default)]
struct Global {
    duration_s: Option<f64>,
}

fn read_global(value: &Value) -> Result<Global, ScenarioError> {
    let mut global = Global::default();
    for (key, value) in value.object()? {
        match key.as_str() {
            "duration" => {
                let duration_s = value.number(-1.0, LIMIT_S.1)?;
                global.duration_s = (duration_s > 0.0).then_some(duration_s);
            }
            "default_policy" => require_other(value)?,
            "pi_enabled" if value.boolean()? => {
                return Err(value.error("false: locks do not lend priorities here"));
            }
            "pi_enabled" | "io_device" => {}
            key if WITHOUT_EFFECT.contains(&key) => {}
            _ => {
                let known = WITHOUT_EFFECT.join(", ");
                return Err(unknown(value, &format!("duration, default_policy, {known}")));
            }
        }
    }
    Ok(global)
}

fn require_other(value: &Value) -> Result<(), ScenarioError> {
    match value.text()? {
        "SCHED_OTHER" => Ok(()),
        _ => Err(value.error("\"SCHED_OTHER\", the only policy here")),
    }
}

#[derive(Default)]
struct Ours {
    cpu: Option<String>,
    machine: MachineSpec,
}

/// `{"cpu": "cascade-lake", "cores": 2, …}` of the whole file.
fn read_ours(value: &Value) -> Result<Ours, ScenarioError> {
    let machine = MachineSpec { turbo: true, ..MachineSpec::default() };
    let mut ours = Ours { cpu: None, machine };
    for (key, value) in value.object()? {
        let count = || Ok((value.whole(1, 1024)? as u32, value.place.clone()));
        match key.as_str() {
            "cpu" => ours.cpu = Some(value.text()?.to_owned()),
            "packages" => ours.machine.packages = Some(count()?),
            "cores" => ours.machine.cores = Some(count()?),
            "threads_per_core" => ours.machine.threads_per_core = Some(count()?),
            "turbo" => ours.machine.turbo = value.boolean()?,
            _ => return Err(unknown(value, "cpu, packages, cores, threads_per_core, turbo")),
        }
    }
    Ok(ours)
}

fn unknown(value: &Value, known: &str) -> ScenarioError {
    ScenarioError::Unknown {
        file: value.place.file.to_string(),
        line: value.place.line,
        field: value.place.field.clone(),
        known: known.to_owned(),
    }
}

fn missing(value: &Value, field: &str, expected: &str) -> ScenarioError {
    Place { field: field.to_owned(), ..value.place.clone() }.error(expected)
}

/// Name of a file without folders and ending.
fn file_stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    printable(name.strip_suffix(".json").unwrap_or(name))
}

impl Task {
    fn into_application(self) -> ApplicationSpec {
        let number = |value: f64| Number::fixed(value, self.place.clone());
        ApplicationSpec {
            threads: number(1.0),
            instances: number(self.instances.into()),
            arrival_ms: number(self.delay_us / 1000.0),
            name: self.name,
            nice: self.nice,
            affinity: self.affinity,
            enrolled: true,
            phases: self.phases,
            place: self.place,
        }
    }
}

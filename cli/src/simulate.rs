//! `evenkeel simulate`: one run, its history and the results of every thread.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use scenarios::{Case, MachineDefaults, Scenario};
use serde::Serialize;
use simulator::Outcome;

use crate::compare::{is_meant, read_scenario};
use crate::run_options::RunOptions;
use crate::seconds::seconds;
use crate::settings::{Settings, replay, results};
use crate::{files, machine, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel simulate parsec-x265 --program ferret --background avx512
  evenkeel simulate light512 --scheduler eevdf -o run.ektrace --json run.json
  evenkeel trace export run.ektrace --format perfetto -o run.pftrace";

/// One run: history and metrics.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Scenario: a file, or a name of `evenkeel scenarios`
    scenario: String,

    /// Foreground program, where the scenario runs them one by one [default: the first]
    #[arg(long, value_name = "NAME")]
    program: Option<String>,

    /// Background [default: the first that is not the control]
    #[arg(long, value_name = "NAME")]
    background: Option<String>,

    /// Scheduler: cfs, eevdf, muqss, fair, fair-relative, fair-isolation; with scx: before the fair
    /// ones, the kernel scheduler's own source
    #[arg(long, value_name = "NAME", default_value = "fair-isolation")]
    scheduler: String,

    /// Stops after this much simulated time; what a run costs grows with its events, so try a
    /// short limit first [default: what the scenario says]
    #[arg(long, value_name = "SECONDS",
        value_parser = |text: &str| seconds(text, 0.000_001..=1_000_000.0))]
    limit: Option<Duration>,

    /// Writes the history: every switch, wake-up, phase, license and frequency
    #[arg(short, long, value_name = "FILE.ektrace")]
    output: Option<PathBuf>,

    /// Writes the results of every thread, to the ns, as JSON; - is standard output, then without
    /// the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(flatten)]
    run: RunOptions,
}

/// The result of a run as JSON; the independent checker reads this file.
#[derive(Serialize)]
struct RunResult<'a> {
    schema: u32,
    cpu: &'a str,
    scenario: &'a str,
    scheduler: &'a str,
    sensors: &'a str,
    counter_noise_permille: u32,
    evex_strings: bool,
    lazy_binding: bool,
    table_error_permille: i32,
    stall_error_permille: i32,
    false_detections_permille: u32,
    deaf_cores_permille: u32,
    seed: u64,
    smt_share_permille: u32,
    turbo_cores: Option<u32>,
    turbo: bool,
    tasks: Vec<TaskResult<'a>>,
    losses: Vec<LossResult<'a>>,
    /// Ends of slices after which the same task went on: histories show switches alone.
    renewals: Vec<RenewalResult>,
    level_ns: &'a [u64],
    throttled_ns: u64,
    busy_ns: u64,
    idle_ns: u64,
    switches: u64,
    migrations: u64,
    simulated_ns: u64,
    counted_from_ns: u64,
    events: u64,
}

#[derive(Serialize)]
struct TaskResult<'a> {
    tid: usize,
    name: &'a str,
    application: &'a str,
    cpu_time_ns: u64,
    lost_ns: u64,
    ref_cycles: u64,
    ref_cycles_before: u64,
    slices: u64,
    migrations: u64,
    waited_ns: u64,
    refunded_ns: u64,
    billed_ns: u64,
    completion_ns: Option<u64>,
}

#[derive(Serialize)]
struct LossResult<'a> {
    victim: &'a str,
    culprit: &'a str,
    lost_ns: u64,
    repaid_ns: u64,
    idle_compensation_ns: u64,
}

#[derive(Serialize)]
struct RenewalResult {
    t: u64,
    task: u32,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    refuse_settings(&args.run.set)?;
    let scenario = read_scenario(&args.scenario)?;
    args.run.set.refuse_ambiguous(&scenario)?;
    let case = case(&scenario, args.program.as_deref(), args.background.as_deref())?;
    let cpu_name = args.run.cpu.as_deref().unwrap_or(&scenario.cpu);
    let named_by = args.run.named_cpu_by(&args.scenario);
    let cpu = machine::model(cpu_name, scenario.turbo()).context(named_by)?;
    let defaults = MachineDefaults::from(&cpu);
    let workload = scenario.workload(case, Some(0), &args.run.set.overrides(), &defaults)?;
    let scheduler = args.run.scheduler(&args.scheduler)?;
    let limit_ns = args.limit.map_or(scenario.run.limit_ns, |limit| limit.as_nanos() as u64);
    let Some(&sensors) = args.run.sensors.first() else { bail!("--sensors: name one set") };
    let mut config = args.run.config(scheduler, sensors, 0, scenario.run.start, limit_ns);
    config.history = args.output.is_some();
    let outcome =
        simulator::run(&cpu, &workload, &config).with_context(|| args.scenario.clone())?;
    let history = outcome.history.as_ref();
    if let (Some(path), Some(history)) = (&args.output, history) {
        files::write_with(path, |output| Ok(history.write(output).map(|_| ())?))?;
    }
    if let Some(path) = &args.json {
        let names = Names { scenario: &scenario.name, cpu: cpu_name, sensors: sensors.name() };
        files::write_json(path, &result(names, &workload, &config, &outcome))?;
    }
    let mut written = [&args.output, &args.json].into_iter().flatten();
    if !written.any(|path| path == Path::new("-")) {
        let thread_application: Vec<u32> =
            workload.threads.iter().map(|thread| thread.application).collect();
        let summary = report::history_summary(
            &workload.applications,
            &thread_application,
            &cpu.level_names,
            &outcome,
        )?;
        terminal::print(&summary)?;
    }
    Ok(())
}

fn refuse_settings(set: &Settings) -> Result<()> {
    set.refuse(replay::GROUP, "only `compare --trace` replays a recording")?;
    set.refuse(results::GROUP, "only `compare` writes that")?;
    for (key, is_given) in [
        ("private-licenses", set.simulation.private_licenses),
        ("placebo", set.simulation.placebo),
        ("steady-cores", set.simulation.steady_cores > 0),
        ("hold-us", set.simulation.hold_us.is_some()),
        ("adaptive-holds", set.simulation.adaptive_holds),
    ] {
        ensure!(
            !is_given,
            "--set {key}: only `compare` and `mixes` have it; a history must be one of a CPU"
        );
    }
    Ok(())
}

fn case(scenario: &Scenario, program: Option<&str>, background: Option<&str>) -> Result<Case> {
    let backgrounds: Vec<&str> = scenario.background_names().collect();
    let background = match background {
        Some(name) => position("--background", &backgrounds, name)?,
        None => (0..backgrounds.len()).find(|&i| i != scenario.control()).unwrap_or(0),
    };
    let programs: Vec<&str> = scenario.foreground_names().collect();
    let wanted = program.map(|name| position("--program", &programs, name)).transpose()?;
    let cases = scenario.cases();
    let found = cases.iter().find(|case| {
        case.background == background && (wanted.is_none() || case.foreground == wanted)
    });
    match found {
        Some(&case) => Ok(case),
        None => bail!("--program: {} runs all its programs together", scenario.name),
    }
}

fn position(flag: &str, names: &[&str], name: &str) -> Result<usize> {
    match names.iter().position(|known| is_meant(name, known)) {
        Some(index) => Ok(index),
        None => bail!("{flag}: {name:?} is not one of {}", names.join(", ")),
    }
}

/// The names of the inputs on the command line.
struct Names<'a> {
    scenario: &'a str,
    cpu: &'a str,
    sensors: &'a str,
}

fn result<'a>(
    names: Names<'a>,
    workload: &'a scenarios::Workload,
    config: &'a simulator::Config,
    outcome: &'a Outcome,
) -> RunResult<'a> {
    let application = |index: u32| workload.applications[index as usize].name.as_str();
    let warm_up = outcome.warm_up.as_ref();
    let tasks = outcome.tasks.iter().enumerate().map(|(index, task)| TaskResult {
        tid: index + 1,
        name: &workload.threads[index].name,
        application: application(workload.threads[index].application),
        cpu_time_ns: task.cpu_time_ns,
        lost_ns: task.lost_ns,
        ref_cycles: task.ref_cycles,
        ref_cycles_before: warm_up.map_or(0, |warm_up| warm_up.ref_cycles[index]),
        slices: task.slices,
        migrations: task.migrations,
        waited_ns: task.waited_ns,
        refunded_ns: task.refunded_ns,
        billed_ns: task.billed_ns,
        completion_ns: task.completion_ns,
    });
    let losses = outcome.losses.iter().map(|loss| LossResult {
        victim: application(loss.victim),
        culprit: application(loss.culprit),
        lost_ns: loss.lost_ns,
        repaid_ns: loss.repaid_ns,
        idle_compensation_ns: loss.idle_compensation_ns,
    });
    let renewals = outcome.renewals.iter();
    RunResult {
        schema: 1,
        cpu: names.cpu,
        scenario: names.scenario,
        scheduler: config.scheduler.name(),
        sensors: names.sensors,
        counter_noise_permille: config.sensor_faults.counter_noise_permille,
        evex_strings: config.sensor_faults.evex_strings,
        lazy_binding: config.sensor_faults.lazy_binding,
        table_error_permille: config.sensor_faults.table_error_permille,
        stall_error_permille: config.sensor_faults.stall_error_permille,
        false_detections_permille: config.sensor_faults.false_detections_permille,
        deaf_cores_permille: config.sensor_faults.deaf_cores_permille,
        seed: config.seed,
        smt_share_permille: config.smt_share_permille,
        turbo_cores: workload.machine.turbo_cores,
        turbo: workload.machine.turbo,
        tasks: tasks.collect(),
        losses: losses.collect(),
        renewals: renewals.map(|one| RenewalResult { t: one.time_ns, task: one.tid }).collect(),
        level_ns: &outcome.level_ns,
        throttled_ns: outcome.throttled_ns,
        busy_ns: outcome.busy_ns,
        idle_ns: outcome.idle_ns,
        switches: outcome.switches,
        migrations: outcome.migrations,
        simulated_ns: outcome.simulated_ns,
        counted_from_ns: warm_up.map_or(0, |warm_up| warm_up.ended_ns),
        events: outcome.events,
    }
}

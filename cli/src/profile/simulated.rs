//! Profiles a simulated machine.

use anyhow::{Context, Result, bail};
use cpu_model::CpuModel;
use profiler::matrix::Matrix;
use profiler::{Method, Plan, Profile, Truth};
use scenarios::{Case, MachineDefaults};
use simulator::Config;

use super::focus::PROGRAM;
use super::{
    Args, EstimateReport, Estimator, MethodName, RATE, RUNS, Report, SCHEDULER, losses,
    refuse_settings, victims,
};
use crate::compare::Work;
use crate::parallel::in_order;
use crate::run_options::RunOptions;
use crate::terminal;

/// A run with the profiler and the same without.
struct Run {
    profile: Profile,
    with: Truth,
    without: Truth,
}

/// Profiles all runs, and says what is true.
pub fn run(args: &Args, scenario: &str) -> Result<Report> {
    refuse_settings(args)?;
    let options = &args.run;
    let scheduler_name = args.scheduler.as_deref().unwrap_or(SCHEDULER);
    let run_count = args.runs.unwrap_or(RUNS);
    let scheduler = options.scheduler(scheduler_name)?;
    let work = Work::read(Some(scenario), None, &args.classes.class, &options.set)?;
    let case = work.case(args.program.as_deref(), args.background.as_deref())?;
    let (cpu_name, cpu) = cpu(options, &work, scenario)?;
    let Some(&sensors) = options.sensors.first() else { bail!("--sensors: name one set") };
    let limit_ns = args.limit.map_or(work.limit_ns(), |limit| limit.as_nanos() as u64);
    let bar = terminal::progress(run_count.into(), "profiling");
    let one = |&run: &u32| -> Result<Run> {
        let start = work.start();
        let config = options.config(scheduler.clone(), sensors, run.into(), start, limit_ns);
        let profiled = profile_run(args, &work, case, &cpu, run, &config)
            .with_context(|| format!("{scenario}: {scheduler_name}, seed {}", config.seed))?;
        bar.inc(1);
        Ok(profiled)
    };
    let runs: Vec<u32> = (0..run_count).collect();
    let mut runs = in_order(&runs, one)?.into_iter();
    bar.finish_and_clear();
    let Some(Run { mut profile, mut with, mut without }) = runs.next() else { bail!("no run") };
    let mut changes_pct = vec![longer_pct(&with, &without)];
    for run in runs {
        changes_pct.push(longer_pct(&run.with, &run.without));
        profile.merge(run.profile);
        with.add(&run.with);
        without.add(&run.without);
    }
    let matrix = if args.no_pauses {
        Matrix::of_slices(&profile, options.seed)
    } else {
        Matrix::of_samples(&profile, args.method.unwrap_or(MethodName::Ours).into(), options.seed)
    };
    let machine = work.workload(case, 0, &options.set.overrides(), &(&cpu).into(), false)?.machine;
    let cores_ns = u64::from(machine.packages * machine.cores_per_package) * with.simulated_ns;
    let paused_pct = 100.0 * profile.tally.paused_ns as f64 / cores_ns.max(1) as f64;
    Ok(Report {
        schema: 1,
        work: work.name_of(case),
        machine_cpu: None,
        cpu: Some(cpu_name),
        scheduler: Some(scheduler_name.to_owned()),
        seed: options.seed,
        runs: Some(run_count),
        cpus: machine.cpus(),
        length_s: with.simulated_ns as f64 / 1e9,
        unprofiled_s: Some(without.simulated_ns as f64 / 1e9),
        estimator: if args.no_pauses { Estimator::Counters } else { Estimator::Pauses },
        estimator_error: None,
        samples: (!args.no_pauses).then_some(profile.tally),
        nothing_to_gain: None,
        overhead_pct: EstimateReport::scaled(&matrix.overhead_pct, 1.0),
        is_own_table: true,
        knows_siblings: true,
        cores: rows(machine.cpus(), machine.threads_per_core),
        paused_pct: (!args.no_pauses).then_some(paused_pct),
        longer_by_profiling_pct: (!args.no_pauses).then(|| mean(&changes_pct)),
        victims: victims(&profile, &matrix, Some([&with, &without])),
        losses: losses(&profile, &matrix, options.set.simulation.smt_share, Some(&with)),
        stacks: Vec::new(),
        by: PROGRAM,
        focus: Vec::new(),
        notes: Vec::new(),
        gain: None,
        time_line: None,
    })
}

/// The CPUs of each core, numbered one after the other.
fn rows(cpus: u32, threads_per_core: u32) -> Vec<Vec<u32>> {
    let all: Vec<u32> = (0..cpus).collect();
    all.chunks(threads_per_core as usize).map(<[u32]>::to_vec).collect()
}

/// The named CPU, or that of the scenario.
fn cpu(options: &RunOptions, work: &Work, scenario: &str) -> Result<(String, CpuModel)> {
    let name = options.cpu.clone().unwrap_or_else(|| work.cpu().to_owned());
    let cpu = options.cpu_model(&name, work.turbo()).context(options.named_cpu_by(scenario))?;
    Ok((name, cpu))
}

/// The mean, with its 95 % interval over runs; that of one run has no bounds.
fn mean(values: &[f64]) -> EstimateReport {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    let half = report::ci95_half_width(values).unwrap_or(f64::INFINITY);
    EstimateReport { value, low: value - half, high: value + half }
}

fn longer_pct(with: &Truth, without: &Truth) -> f64 {
    100.0 * (with.simulated_ns as f64 / without.simulated_ns.max(1) as f64 - 1.0)
}

fn profile_run(
    args: &Args,
    work: &Work,
    case: Case,
    cpu: &CpuModel,
    run: u32,
    config: &Config,
) -> Result<Run> {
    let defaults = MachineDefaults::from(cpu);
    let overrides = args.run.set.overrides();
    let workload = work.workload(case, run, &overrides, &defaults, false)?;
    let plan = (!args.no_pauses).then(|| args.plan(cpu, config.seed));
    let (profile, with) = profiler::simulated::profile(cpu, &workload, config, plan)?;
    let with = Truth::of(&workload, &with);
    let without = Truth::of(&workload, &simulator::run(cpu, &workload, config)?);
    Ok(Run { profile, with, without })
}

impl Args {
    fn plan(&self, cpu: &CpuModel, seed: u64) -> Plan {
        let plan = match self.method.unwrap_or(MethodName::Ours) {
            MethodName::Ours => Plan::ours(cpu, seed),
            MethodName::Published => Plan::published(cpu, seed),
        };
        Plan {
            splits_causes: self.split_causes,
            ends_early: self.end_early,
            ..plan.with_rate(self.rate.unwrap_or(RATE))
        }
    }
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Ours => Self::Ours,
            MethodName::Published => Self::Published,
        }
    }
}

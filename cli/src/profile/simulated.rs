//! Profiles a simulated machine.

use anyhow::{Context, Result, bail};
use cpu_model::CpuModel;
use profiler::matrix::Matrix;
use profiler::{Method, Plan, Profile};
use scenarios::{Case, MachineDefaults, Workload};
use simulator::{Config, Outcome};

use super::{Args, Estimator, MethodName, Report, losses, refuse_settings, victims};
use crate::compare::Work;
use crate::parallel::in_order;
use crate::terminal;

/// A run with the profiler and the same without.
struct Run {
    profile: Profile,
    with: Truth,
    without: Truth,
}

/// What a run lost, by application.
#[derive(Default)]
struct Truth {
    simulated_ns: u64,
    cpu_time_ns: Vec<u64>,
    lost_ns: Vec<u64>,
    /// By victim and culprit.
    pairs_ns: Vec<u64>,
}

impl Truth {
    fn of(workload: &Workload, outcome: &Outcome) -> Self {
        let applications = workload.applications.len();
        let mut truth = Self {
            simulated_ns: outcome.simulated_ns,
            cpu_time_ns: vec![0; applications],
            lost_ns: vec![0; applications],
            pairs_ns: vec![0; applications * applications],
        };
        for (thread, task) in workload.threads.iter().zip(&outcome.tasks) {
            truth.cpu_time_ns[thread.application as usize] += task.cpu_time_ns;
            truth.lost_ns[thread.application as usize] += task.lost_ns;
        }
        for loss in &outcome.losses {
            let pair = loss.victim as usize * applications + loss.culprit as usize;
            truth.pairs_ns[pair] = loss.lost_ns;
        }
        truth
    }

    fn add(&mut self, other: &Self) {
        let add = |sum: &mut Vec<u64>, other: &[u64]| {
            sum.resize(other.len(), 0);
            sum.iter_mut().zip(other).for_each(|(sum, it)| *sum += it);
        };
        self.simulated_ns += other.simulated_ns;
        add(&mut self.cpu_time_ns, &other.cpu_time_ns);
        add(&mut self.lost_ns, &other.lost_ns);
        add(&mut self.pairs_ns, &other.pairs_ns);
    }

    fn overhead_pct(&self, application: usize) -> f64 {
        let time_ns = self.cpu_time_ns[application];
        let left_ns = time_ns - self.lost_ns[application].min(time_ns);
        if left_ns == 0 { 0.0 } else { 100.0 * (time_ns as f64 / left_ns as f64 - 1.0) }
    }
}

/// Profiles all runs, and says what is true.
pub fn run(args: &Args, scenario: &str) -> Result<Report> {
    refuse_settings(args)?;
    let options = &args.run;
    let scheduler = options.scheduler(&args.scheduler)?;
    let work = Work::read(Some(scenario), None, &args.classes.class, &options.set)?;
    let case = work.case(args.program.as_deref(), args.background.as_deref())?;
    let cpu_name = options.cpu.clone().unwrap_or_else(|| work.cpu().to_owned());
    let file = scenario;
    let cpu = options.cpu_model(&cpu_name, work.turbo()).context(options.named_cpu_by(file))?;
    let Some(&sensors) = options.sensors.first() else { bail!("--sensors: name one set") };
    let limit_ns = args.limit.map_or(work.limit_ns(), |limit| limit.as_nanos() as u64);
    let bar = terminal::progress(args.runs.into(), "profiling");
    let one = |&run: &u32| -> Result<Run> {
        let start = work.start();
        let config = options.config(scheduler.clone(), sensors, run.into(), start, limit_ns);
        let profiled = profile_run(args, &work, case, &cpu, run, &config)
            .with_context(|| format!("{file}: {}, seed {}", args.scheduler, config.seed))?;
        bar.inc(1);
        Ok(profiled)
    };
    let runs: Vec<u32> = (0..args.runs).collect();
    let mut runs = in_order(&runs, one)?.into_iter();
    bar.finish_and_clear();
    let Some(Run { mut profile, mut with, mut without }) = runs.next() else { bail!("no run") };
    for run in runs {
        profile.merge(run.profile);
        with.add(&run.with);
        without.add(&run.without);
    }
    let matrix = if args.no_pauses {
        Matrix::of_slices(&profile, options.seed)
    } else {
        Matrix::of_samples(&profile, args.method.into(), options.seed)
    };
    let simulation = &options.set.simulation;
    let groups = profile.groups.len();
    let lost_ns = |victim: usize, culprit: usize| with.pairs_ns[victim * groups + culprit];
    let overheads = |group: usize| (with.overhead_pct(group), without.overhead_pct(group));
    let cpus = work.workload(case, 0, &options.set.overrides(), &(&cpu).into(), false)?.machine;
    Ok(Report {
        schema: 1,
        work: work.name_of(case),
        cpu: cpu_name,
        scheduler: Some(args.scheduler.clone()),
        seed: options.seed,
        runs: Some(args.runs),
        cpus: cpus.cpus(),
        length_s: with.simulated_ns as f64 / 1e9,
        unprofiled_s: Some(without.simulated_ns as f64 / 1e9),
        estimator: if args.no_pauses { Estimator::Counters } else { Estimator::Pauses },
        rate_per_s: (!args.no_pauses).then_some(args.rate),
        samples: (!args.no_pauses).then_some(profile.tally),
        longer_by_profiling_pct: Some(longer_pct(&with, &without)),
        victims: victims(&profile, &matrix, Some(&overheads)),
        losses: losses(&profile, &matrix, simulation.smt_share, Some(&lost_ns)),
    })
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
        let plan = match self.method {
            MethodName::Ours => Plan::ours(cpu, seed),
            MethodName::Published => Plan::published(cpu, seed),
        };
        Plan {
            splits_causes: self.split_causes,
            ends_early: self.end_early,
            ..plan.with_rate(self.rate)
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

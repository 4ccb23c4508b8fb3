//! The schedules of a scenario or a recording, and the policies on them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use cpu_model::CpuModel;
use dvfs::{Domains, Outcome, Study, study};
use scenarios::{Case, MachineDefaults, Scenario};
use simulator::Scheduler;

use super::{Args, PolicyResult, Report};
use crate::compare::{REPLAY_CPU, Work, annotated, is_meant};
use crate::parallel::in_order;
use crate::settings::replay;
use crate::terminal;

/// Applications of a recording with less of the CPU time are not shown.
const SHOWN_PCT: f64 = 1.0;

/// All policies on all schedules.
pub fn report(args: &Args) -> Result<Report> {
    match &args.trace {
        Some(_) => recorded(args),
        None => simulated(args),
    }
}

/// What one program's schedules gave, by seed.
struct Program {
    name: String,
    outcomes: Vec<Vec<Outcome>>,
}

fn simulated(args: &Args) -> Result<Report> {
    let options = &args.run;
    options.set.refuse(replay::GROUP, "only a recording (--trace) is replayed")?;
    let scheduler = options.scheduler(&args.scheduler)?;
    let file = args.scenario.as_deref().unwrap_or_default();
    let work = Work::read(args.scenario.as_deref(), None, &args.classes.class, &options.set)?;
    let Work::Scenario(scenario) = &work else { bail!("{file} is no scenario") };
    let cpu_name = options.cpu.clone().unwrap_or_else(|| work.cpu().to_owned());
    let cpu = options.cpu_model(&cpu_name, work.turbo()).context(options.named_cpu_by(file))?;
    let active_cores = args.active_cores.unwrap_or(cpu.cores_per_package);
    let cases = cases(&work, args)?;
    let jobs: Vec<(Case, u32)> = cases
        .iter()
        .flat_map(|&case| (0..args.replicates).map(move |replicate| (case, replicate)))
        .collect();
    let bar = terminal::progress(jobs.len() as u64, "simulating");
    let run = |&(case, replicate): &(Case, u32)| -> Result<Vec<Outcome>> {
        let one = Schedule { args, scenario, cpu: &cpu, active_cores, case, replicate };
        let outcomes = one.study(&work, &scheduler)?;
        bar.inc(1);
        Ok(outcomes)
    };
    let results = in_order(&jobs, run)?;
    bar.finish_and_clear();
    let mut results = results.into_iter();
    let program = |&case: &Case| Program {
        name: work.program(case).unwrap_or_else(|| "all programs".to_owned()),
        outcomes: results.by_ref().take(args.replicates as usize).collect(),
    };
    let programs: Vec<Program> = cases.iter().map(program).collect();
    let (background, _) = work.background(cases[0].background);
    Ok(Report {
        scheduler: Some(args.scheduler.clone()),
        policies: policies(args, &programs),
        ..head(args, format!("{} beside {background}", work.name()), &cpu, active_cores)
    })
}

/// A seed of a case.
struct Schedule<'a> {
    args: &'a Args,
    scenario: &'a Scenario,
    cpu: &'a CpuModel,
    active_cores: u32,
    case: Case,
    replicate: u32,
}

impl Schedule<'_> {
    /// The policies on a schedule in which no core lowers its clock; programs of the foreground
    /// count as one.
    fn study(&self, work: &Work, scheduler: &Scheduler) -> Result<Vec<Outcome>> {
        let options = &self.args.run;
        let Some(&sensors) = options.sensors.first() else { bail!("--sensors: name one set") };
        let machine = MachineDefaults::from(self.cpu);
        let overrides = options.set.overrides();
        let mut workload = work.workload(self.case, self.replicate, &overrides, &machine, false)?;
        workload.machine.turbo_cores = Some(self.active_cores);
        let (seed, limit_ns) = (u64::from(self.replicate), work.limit_ns());
        let mut config = options.config(scheduler.clone(), sensors, seed, work.start(), limit_ns);
        config.history = true;
        config.steady_cores_permille = 1000;
        let outcome = simulator::run(self.cpu, &workload, &config).with_context(|| {
            let program = work.program(self.case).unwrap_or_else(|| "all programs".to_owned());
            format!("{}: {program}, seed {}", self.scenario.name, config.seed)
        })?;
        let Some(mut history) = outcome.history else { bail!("the simulator kept no history") };
        let is_foreground = |name: &str| {
            let of_name = |it: &&scenarios::Application| it.name == name;
            let found = workload.applications.iter().find(of_name);
            found.is_some_and(|it| it.role == scenarios::Role::Foreground)
        };
        for task in &mut history.header.tasks {
            let name = if is_foreground(&task.app) { FOREGROUND } else { BACKGROUND };
            task.app = name.to_owned();
        }
        let domains = Domains {
            threads_per_core: workload.machine.threads_per_core,
            cores_per_package: workload.machine.cores_per_package,
            active_cores: self.active_cores,
            start_ns: options.start(work.start()).counts_from_ns(),
        };
        Ok(study(&history, self.cpu, &domains, &self.args.policy)?.outcomes)
    }
}

const FOREGROUND: &str = "foreground";
const BACKGROUND: &str = "background";

/// The cases of the programs and the background that are meant.
fn cases(work: &Work, args: &Args) -> Result<Vec<Case>> {
    let all = work.cases();
    let backgrounds = work.compared_backgrounds();
    let background = match &args.background {
        None => all.iter().map(|case| case.background).rfind(|&it| !work.background(it).1),
        Some(wanted) => all
            .iter()
            .map(|case| case.background)
            .find(|&it| is_meant(wanted, &work.background(it).0)),
    };
    let Some(background) = background else {
        bail!("--background: no such background; there are {}", backgrounds.join(", "))
    };
    let programs: Vec<String> = all.iter().filter_map(|&case| work.program(case)).collect();
    let is_known = |wanted: &&String| !programs.iter().any(|name| is_meant(wanted, name));
    if let Some(unknown) = args.program.iter().find(is_known) {
        bail!("--program: no program {unknown:?}");
    }
    let is_wanted = |case: &Case| {
        let name = work.program(*case);
        let meant = |wanted: &String| name.as_ref().is_some_and(|name| is_meant(wanted, name));
        args.program.is_empty() || args.program.iter().any(meant)
    };
    Ok(all.into_iter().filter(|case| case.background == background && is_wanted(case)).collect())
}

fn recorded(args: &Args) -> Result<Report> {
    let options = &args.run;
    let Some(path) = &args.trace else { bail!("name a recording with --trace") };
    options.set.refuse_parameters()?;
    let set = &options.set.replay;
    let (history, _) = annotated(path, &args.classes.class, set)?;
    let header = &history.header;
    let named = options.cpu.as_ref().or(header.cpu.as_ref());
    let name = named.cloned().unwrap_or_else(|| REPLAY_CPU.to_owned());
    let file = path.display().to_string();
    let cpu = options.cpu_model(&name, true).context(options.named_cpu_by(&file))?;
    let active_cores = args.active_cores.or(set.turbo_cores).unwrap_or(cpu.cores_per_package);
    let threads_per_core = header.threads_per_core.unwrap_or(set.threads_per_core);
    let cores = header.cpus.div_ceil(threads_per_core);
    let domains = Domains {
        threads_per_core,
        cores_per_package: header.cores_per_package.unwrap_or(cores),
        active_cores,
        start_ns: header.start_ns,
    };
    let Study { outcomes, cpu_time_s } =
        study(&history, &cpu, &domains, &args.policy).with_context(|| file.clone())?;
    let total_s: f64 = cpu_time_s.values().sum();
    let is_shown = |name: &String| 100.0 * cpu_time_s[name] / total_s >= SHOWN_PCT;
    let shown = |mut outcome: Outcome| {
        outcome.overhead_pct.retain(|name, _| is_shown(name));
        PolicyResult::from(outcome)
    };
    let mut report = Report {
        policies: outcomes.into_iter().map(shown).collect(),
        ..head(args, file, &cpu, active_cores)
    };
    report.notes.push(
        "The recorded times are taken for those of a constant clock, that of level 0.".to_owned(),
    );
    Ok(report)
}

fn head(args: &Args, work: String, cpu: &CpuModel, active_cores: u32) -> Report {
    let row = cpu.turbo.row(active_cores);
    let levels = 0..cpu.turbo.levels as u8;
    let break_even = |level| cpu.break_even_ns(active_cores, level, 0).map(|ns| ns as f64 / 1e3);
    Report {
        schema: 1,
        work,
        cpu: cpu.name.clone(),
        scheduler: None,
        seed: args.run.seed,
        active_cores,
        mhz: levels.clone().map(|level| cpu.turbo.khz(row, level) / 1000).collect(),
        break_even_us: levels.skip(1).map(break_even).collect(),
        policies: Vec::new(),
        notes: Vec::new(),
    }
}

impl From<Outcome> for PolicyResult {
    fn from(outcome: Outcome) -> Self {
        Self {
            policy: outcome.policy,
            mean_overhead_pct: mean(outcome.overhead_pct.values().copied()),
            overhead_pct: outcome.overhead_pct,
            delays_pct: outcome.delays_pct,
            competitive_ratio: outcome.competitive_ratio,
            worst_ratio: outcome.worst_ratio,
            rises_per_s: outcome.rises_per_s,
        }
    }
}

/// By policy: the means over the seeds of each program.
fn policies(args: &Args, programs: &[Program]) -> Vec<PolicyResult> {
    let result = |(index, policy): (usize, &dvfs::Policy)| {
        let of = |program: &Program| -> Vec<Outcome> {
            program.outcomes.iter().map(|outcomes| outcomes[index].clone()).collect()
        };
        let overhead = |program: &Program| {
            let seeds = of(program);
            let foreground = seeds.iter().filter_map(|it| it.overhead_pct.get(FOREGROUND));
            (program.name.clone(), mean(foreground.copied()))
        };
        let overhead_pct: BTreeMap<String, f64> = programs.iter().map(overhead).collect();
        let all: Vec<Outcome> = programs.iter().flat_map(of).collect();
        PolicyResult {
            policy: policy.to_string(),
            mean_overhead_pct: mean(overhead_pct.values().copied()),
            overhead_pct,
            delays_pct: mean(all.iter().map(|it| it.delays_pct)),
            competitive_ratio: mean(all.iter().map(|it| it.competitive_ratio)),
            worst_ratio: all.iter().map(|it| it.worst_ratio).fold(1.0, f64::max),
            rises_per_s: mean(all.iter().map(|it| it.rises_per_s)),
        }
    };
    args.policy.iter().enumerate().map(result).collect()
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = of.fold((0.0, 0_u32), |(sum, count), one| (sum + one, count + 1));
    sum / f64::from(count.max(1))
}

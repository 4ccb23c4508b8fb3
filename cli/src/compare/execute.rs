//! Runs everything a comparison needs, in parallel, with results in a fixed order.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use cpu_model::CpuModel;
use indicatif::ProgressBar;
use report::{Replicates, Sample, Setup};
use scenarios::{Case, MachineDefaults, Scenario, Start, Workload};
use simulator::{Config, Scheduler};

use super::work::{Work, is_meant};
use crate::parallel::in_order;
use crate::run_options::{RunOptions, Sensors};

/// One simulated run.
#[derive(Clone, Debug)]
struct Job {
    scheduler: Scheduler,
    sensors: Sensors,
    case: Case,
    replicate: u32,
}

/// Which of the runs that are possible are wanted; empty: all.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// Names of schedulers.
    pub schedulers: &'a [String],
    /// Names of backgrounds besides the control.
    pub backgrounds: &'a [String],
    /// Names of foreground programs.
    pub programs: &'a [String],
    /// How many seeds or parameter sets.
    pub replicates: Option<u32>,
}

impl Choice<'_> {
    fn cases(&self, work: &Work) -> Result<Vec<Case>> {
        let cases = work.cases();
        let backgrounds = cases.iter().map(|case| work.background(case.background).0);
        known("--background", self.backgrounds, backgrounds)?;
        known("--program", self.programs, cases.iter().filter_map(|&case| work.program(case)))?;
        let are_meant = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|wanted| is_meant(wanted, name))
        };
        let wanted = |case: &Case| {
            let (background, is_control) = work.background(case.background);
            (is_control || are_meant(self.backgrounds, &background))
                && work.program(*case).is_none_or(|name| are_meant(self.programs, &name))
        };
        Ok(cases.into_iter().filter(wanted).collect())
    }
}

fn known(flag: &str, wanted: &[String], names: impl Iterator<Item = String>) -> Result<()> {
    let names: BTreeSet<String> = names.collect();
    match wanted.iter().find(|wanted| !names.iter().any(|name| is_meant(wanted, name))) {
        None => Ok(()),
        Some(name) => {
            let names: Vec<String> = names.into_iter().collect();
            bail!("{flag}: {name:?} is not one of {}", names.join(", "))
        }
    }
}

/// Runs a function with this many threads for its parallel parts; `None`: one a CPU.
pub fn with_jobs<T: Send>(jobs: Option<u16>, run: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let threads = jobs.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(run)
}

/// A run up to some time, with its history.
pub struct Looked {
    /// Scheduler of the run.
    pub scheduler: String,
    /// Background of the run.
    pub background: String,
    /// Foreground program of the run, if the scenario runs several one by one.
    pub program: Option<String>,
    /// When the warm-up ends.
    pub start_ns: u64,
    /// The history.
    pub history: trace::History,
}

/// All runs of a comparison.
pub struct Plan {
    jobs: Vec<Job>,
    /// The work as named by the user.
    file: String,
    options: RunOptions,
    /// With turbo on, or off where a workload asks for that.
    cpu: CpuModel,
    cpu_name: String,
    replicates: u32,
    /// Whether something was asked for that the scenario does not say.
    differs_from_published: bool,
}

impl Plan {
    /// Plans the runs of work that `file` describes; refuses unknown schedulers and incomplete
    /// CPU tables.
    pub fn new(work: &Work, file: &str, options: &RunOptions, choice: &Choice<'_>) -> Result<Self> {
        let cpu_name = options.cpu.clone().unwrap_or_else(|| work.cpu().to_owned());
        let named_by = options.named_cpu_by(file);
        let cpu = options.cpu_model(&cpu_name, work.turbo()).context(named_by)?;
        let replicates = choice.replicates.unwrap_or(match work {
            Work::Scenario(scenario) => scenario.run.replicates,
            Work::Recording(_) => 3,
        });
        let cases = choice.cases(work)?;
        for (index, name) in choice.schedulers.iter().enumerate() {
            let is_new = !choice.schedulers[..index].contains(name);
            ensure!(is_new, "--scheduler: {name:?} is named twice");
        }
        let mut jobs = Vec::new();
        for (index, &sensors) in options.sensors.iter().enumerate() {
            for name in choice.schedulers {
                let scheduler = options.scheduler(name)?;
                if index > 0 && !scheduler.compensates() {
                    continue;
                }
                for &case in &cases {
                    for replicate in 0..replicates {
                        jobs.push(Job { scheduler: scheduler.clone(), sensors, case, replicate });
                    }
                }
            }
        }
        let differs_from_published = !choice.programs.is_empty() || options.differ_from_published();
        Ok(Self {
            jobs,
            file: file.to_owned(),
            options: options.clone(),
            cpu,
            cpu_name,
            replicates,
            differs_from_published,
        })
    }

    /// Refuses parameters and machines that no run could have.
    pub fn check(&self, work: &Work) -> Result<()> {
        let mut cases = BTreeSet::new();
        let mut first = self.jobs.iter().filter(|job| job.replicate == 0);
        first.try_for_each(|job| {
            let is_new = cases.insert(job.case);
            if is_new { self.workload(work, job).map(drop) } else { Ok(()) }
        })
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.jobs.len()
    }

    /// The work on a package whose cores are all active, and how many these are; `None` unless the
    /// work is a recording of fewer cores that does not say how many are active.
    pub fn on_busy_package(&self, work: &Work) -> Option<(Work, u32)> {
        let Work::Recording(recording) = work else { return None };
        let cores = recording.cores_if_busy(&self.cpu)?;
        Some((Work::Recording(Box::new(recording.with_active_cores(cores))), cores))
    }

    /// Runs all in parallel; the order of the samples does not depend on the number of threads.
    pub fn run(&self, work: &Work, bar: &ProgressBar) -> Result<Vec<Sample>> {
        // Runs of the same workload follow each other, so that the workload is built once.
        let mut groups: BTreeMap<(Case, u32), Vec<usize>> = BTreeMap::new();
        for (index, job) in self.jobs.iter().enumerate() {
            groups.entry((job.case, job.replicate)).or_default().push(index);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let samples = in_order(&groups, |group| self.run_group(work, group, bar))?;
        let mut samples: Vec<(usize, Sample)> = samples.into_iter().flatten().collect();
        samples.sort_by_key(|&(index, _)| index);
        Ok(samples.into_iter().map(|(_, sample)| sample).collect())
    }

    /// Runs jobs of the same case and replicate.
    fn run_group(
        &self,
        work: &Work,
        group: &[usize],
        bar: &ProgressBar,
    ) -> Result<Vec<(usize, Sample)>> {
        let workload = self.workload(work, &self.jobs[group[0]])?;
        let run = |&index: &usize| {
            let sample = self.sample(work, &workload, &self.jobs[index])?;
            bar.inc(1);
            Ok((index, sample))
        };
        group.iter().map(run).collect()
    }

    /// A history a scheduler, beside the first background that is no control: the warm-up and the
    /// first `until_ns` after it.
    pub fn histories(&self, work: &Work, until_ns: u64) -> Result<Vec<Looked>> {
        let mut histories: Vec<Looked> = Vec::new();
        let shown = |job: &&Job| !work.background(job.case.background).1;
        let Some(case) = self.jobs.iter().rev().find(shown).map(|job| job.case) else {
            return Ok(histories);
        };
        for job in self.jobs.iter().filter(|job| job.case == case && job.replicate == 0) {
            let name = job.scheduler.name();
            if histories.iter().any(|shown| shown.scheduler == name) {
                continue;
            }
            let workload = self.workload(work, job)?;
            let mut config = self.config(work, job);
            config.history = true;
            let start_ns = config.start.counts_from_ns();
            config.limit_ns = config.limit_ns.min(start_ns.saturating_add(until_ns));
            let outcome = self.simulate(&workload, &config, job, work)?;
            histories.extend(outcome.history.map(|history| Looked {
                scheduler: name.to_owned(),
                background: work.background(case.background).0,
                program: work.program(case),
                start_ns,
                history,
            }));
        }
        Ok(histories)
    }

    fn workload(&self, work: &Work, job: &Job) -> Result<Workload> {
        let machine = MachineDefaults::from(&self.cpu);
        let is_placebo = self.options.set.simulation.placebo;
        let overrides = self.options.set.overrides();
        work.workload(job.case, job.replicate, &overrides, &machine, is_placebo)
    }

    fn config(&self, work: &Work, job: &Job) -> Config {
        let replicate = u64::from(job.replicate);
        let scheduler = job.scheduler.clone();
        self.options.config(scheduler, job.sensors, replicate, work.start(), work.limit_ns())
    }

    fn simulate(
        &self,
        workload: &Workload,
        config: &Config,
        job: &Job,
        work: &Work,
    ) -> Result<simulator::Outcome> {
        simulator::run(&self.cpu, workload, config).with_context(|| {
            let (background, _) = work.background(job.case.background);
            let program = work.program(job.case).unwrap_or_else(|| "all".to_owned());
            format!(
                "{}: {} with {program} beside {background}, seed {}",
                self.file,
                job.scheduler.name(),
                config.seed
            )
        })
    }

    fn sample(&self, work: &Work, workload: &Workload, job: &Job) -> Result<Sample> {
        let outcome = self.simulate(workload, &self.config(work, job), job, work)?;
        let (background, control) = work.background(job.case.background);
        Ok(Sample {
            scheduler: job.scheduler.name().to_owned(),
            background,
            control,
            program: work.program(job.case),
            replicate: job.replicate,
            sensors: job.sensors.name().to_owned(),
            thread_application: workload.threads.iter().map(|t| t.application).collect(),
            applications: workload.applications.clone(),
            outcome,
        })
    }

    /// Facts that the whole comparison shares.
    pub fn setup(&self, work: &Work) -> Setup {
        let options = &self.options;
        let mut parameters = Vec::new();
        let mut notes = Vec::new();
        let mut calibrated_on = Vec::new();
        let mut is_fitted = false;
        let mut description = String::new();
        let mut claims = Vec::new();
        match work {
            Work::Scenario(scenario) => {
                description.clone_from(&scenario.description);
                parameters.extend(used_parameters(scenario, self.replicates));
                is_fitted = !scenario.fits.is_empty();
                calibrated_on.clone_from(&scenario.calibrated_on);
                notes.extend(scenario.unlike_control().map(unlike_control));
                if !self.differs_from_published {
                    claims.extend(scenario.claims.iter().cloned());
                }
            }
            Work::Recording(recording) => {
                notes.extend(recording.notes.iter().cloned());
                notes.extend(recording.turbo_note(&self.cpu));
            }
        }
        let set = &options.set.simulation;
        parameters.extend(
            options.set.parameters.iter().map(|(n, v)| (format!("{n} (set)"), v.to_string())),
        );
        parameters.push(("SMT share".into(), format!("{} permille", set.smt_share)));
        if set.believed_smt_share != set.smt_share {
            let believed = format!("{} permille", set.believed_smt_share);
            parameters.push(("SMT share believed".into(), believed));
        }
        parameters.extend(options.set.faults.parameters());
        if set.steady_cores > 0 {
            let steady = format!("{} permille", set.steady_cores);
            parameters.push(("cores that keep their clock".into(), steady));
        }
        parameters.extend(start_parameters(options.start(work.start())));
        if let Some(hold_us) = set.hold_us {
            parameters.push(("licenses held".into(), format!("{hold_us} us")));
        }
        if set.adaptive_holds {
            parameters.push(("licenses held".into(), "for their break-even times".into()));
        }
        if set.placebo {
            parameters.push(("classes".into(), "the control's (placebo)".into()));
        }
        if set.private_licenses {
            parameters.push(("licenses".into(), "private".into()));
        }
        parameters.push(("replicates".into(), self.replicates.to_string()));
        Setup {
            evenkeel_version: env!("CARGO_PKG_VERSION").into(),
            cpu: self.cpu_name.clone(),
            level_names: self.cpu.level_names.clone(),
            scenario: work.name().to_owned(),
            description,
            seed: options.seed,
            calibrated_on,
            sensors: options.sensors.iter().map(|set| set.name()).collect::<Vec<_>>().join(","),
            replicates: if is_fitted { Replicates::ParameterSets } else { Replicates::Seeds },
            parameters,
            costs: options.costs(),
            command: command(),
            rq_sharing: set.rq_sharing.name().to_owned(),
            notes,
            claims,
        }
    }
}

/// The note on a background whose control is not its own by construction.
fn unlike_control(background: &str) -> String {
    format!(
        "The applications beside {background} are written apart from the control's, and may differ \
         in more than classes: --set placebo=true shows by how much."
    )
}

/// When threads begin, where not all at once.
fn start_parameters(start: Start) -> Vec<(String, String)> {
    let times =
        [("arrival window", start.arrival_window_ns), ("warm-up", start.warm_up_ns)].into_iter();
    let is_given = |&(_, time_ns): &(&str, u64)| time_ns > 0;
    let named =
        |(name, time_ns): (&str, u64)| (name.into(), format!("{} ms", time_ns as f64 / 1e6));
    times.filter(is_given).map(named).collect()
}

/// Parameters as the runs used them: a range where fitted sets differ.
fn used_parameters(scenario: &Scenario, replicates: u32) -> Vec<(String, String)> {
    let used = scenario.fits.len().min(replicates as usize);
    let range = |name: &str, base: f64| {
        let values = scenario.fits[..used].iter().map(|fit| *fit.get(name).unwrap_or(&base));
        let low = values.clone().reduce(f64::min).unwrap_or(base);
        let high = values.reduce(f64::max).unwrap_or(base);
        if low == high { low.to_string() } else { format!("{low} to {high} (fitted sets)") }
    };
    scenario.parameters.iter().map(|(name, &base)| (name.clone(), range(name, base))).collect()
}

/// The command as typed, without the folder of the program and options that change no result.
pub fn command() -> String {
    let mut words = without_jobs(std::env::args().collect()).into_iter();
    let program = words.next().unwrap_or_default();
    let program = std::path::Path::new(&program)
        .file_name()
        .map_or_else(|| "evenkeel".to_owned(), |name| name.to_string_lossy().into_owned());
    let quoted = words.map(|word| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@".contains(c);
        if word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    std::iter::once(program).chain(quoted).collect::<Vec<_>>().join(" ")
}

fn without_jobs(mut words: Vec<String>) -> Vec<String> {
    let mut is_value = false;
    words.retain(|word| {
        let is_flag = !is_value && word == "--jobs";
        let is_kept = !is_flag && !is_value && !word.starts_with("--jobs=");
        is_value = is_flag;
        is_kept
    });
    words
}

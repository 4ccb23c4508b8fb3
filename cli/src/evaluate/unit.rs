//! A work of a study, unchanged or in a variant, with its plan.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{CommandFactory, Parser};
use indicatif::ProgressBar;
use report::{Goals, Kind, Measured, Variant};

use crate::compare::{Choice, Classes, Plan, Work};
use crate::mixes::{Drawn, Planned};
use crate::run_options::RunOptions;
use crate::settings::{self, results};

/// The source of a work in its study.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The arguments of `evenkeel compare`.
    Compare(&'a str),
    /// Random mixes.
    Mixes,
}

/// A work, unchanged or in a variant.
pub struct Unit {
    /// Name of the work.
    pub name: String,
    /// Schedulers that run.
    pub schedulers: Vec<String>,
    /// Seeds; `None`: as many as the work says.
    pub replicates: Option<u32>,
    /// The difference from the unchanged work.
    pub variant: Option<Variant>,
    /// The goals of the judged scheduler.
    pub goals: Goals,
    /// The options of the runs.
    pub flags: Flags,
    /// The arguments that run the work alone, as far as the study has them.
    pub command: String,
}

/// The options allowed in the arguments of a work and the flags of a variant.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub struct Flags {
    #[arg(conflicts_with = "trace")]
    scenario: Option<String>,
    #[arg(long)]
    trace: Option<PathBuf>,
    #[command(flatten)]
    classes: Classes,
    #[command(flatten)]
    run: RunOptions,
}

/// The planned runs of a unit.
pub enum Runs {
    Mixes(Planned, Drawn),
    /// An experiment or a recording.
    One(Box<(Work, Plan)>),
}

impl Source<'_> {
    /// The arguments that run the work, verb first.
    pub fn command(self) -> String {
        match self {
            Self::Compare(arguments) => format!("compare {arguments}"),
            Self::Mixes => "mixes".to_owned(),
        }
    }
}

/// Work and variant in words.
pub fn title(name: &str, variant: Option<&Variant>) -> String {
    match variant {
        Some(variant) => format!("{name}, {}", variant.name),
        None => name.to_owned(),
    }
}

impl Unit {
    /// Work and variant in words.
    pub fn title(&self) -> String {
        title(&self.name, self.variant.as_ref())
    }

    /// Plans the runs; refuses work that could not be run, or judged.
    pub fn plan(&self, drawn: Option<Drawn>) -> Result<Runs> {
        let runs = self.planned(drawn)?;
        let known = match &runs {
            Runs::Mixes(planned, _) => planned.backgrounds(),
            Runs::One(one) => one.0.compared_backgrounds(),
        };
        for background in self.goals.backgrounds() {
            let is_known = known.iter().any(|name| name == background);
            let names = known.join(", ");
            ensure!(is_known, "a goal is for {background:?}, which is not one of {names}");
        }
        Ok(runs)
    }

    fn planned(&self, drawn: Option<Drawn>) -> Result<Runs> {
        let flags = &self.flags;
        let (schedulers, replicates) = (&self.schedulers, self.replicates);
        if let (None, None, Some(drawn)) = (&flags.scenario, &flags.trace, drawn) {
            let planned = Planned::new(&drawn, schedulers, replicates, &flags.run)?;
            return Ok(Runs::Mixes(planned, drawn));
        }
        let work = flags.work()?;
        let choice = Choice { schedulers, backgrounds: &[], programs: &[], replicates };
        let plan = Plan::new(&work, work.name(), &flags.run, &choice)?;
        plan.check(&work)?;
        Ok(Runs::One(Box::new((work, plan))))
    }

    /// Runs the plan.
    pub fn measure(self, runs: &Runs, bar: &ProgressBar) -> Result<Measured> {
        bar.set_message(self.title());
        let context = self.title();
        self.measured(runs, bar).context(context)
    }

    fn measured(self, runs: &Runs, bar: &ProgressBar) -> Result<Measured> {
        let mut command = self.command;
        let (kind, setup, mixes) = match runs {
            Runs::Mixes(planned, drawn) => {
                command += &format!(" --mixes {}", drawn.mixes);
                command += if drawn.held_out { " --held-out" } else { "" };
                (Kind::Mixes, planned.setup(), planned.run(bar)?)
            }
            Runs::One(one) => {
                let (work, plan) = &**one;
                let comparison = report::compare(plan.setup(work), plan.run(work, bar)?)?;
                let kind = match work {
                    Work::Scenario(_) => Kind::Scenario,
                    Work::Recording(_) => Kind::Recording,
                };
                (kind, plan.setup(work), vec![report::mix(0, &comparison)])
            }
        };
        if let Some(replicates) = self.replicates {
            command += &format!(" --replicates {replicates}");
        }
        Ok(Measured {
            name: self.name,
            kind,
            command,
            variant: self.variant,
            goals: self.goals,
            setup,
            mixes,
        })
    }
}

impl Runs {
    /// Number of runs.
    pub fn count(&self) -> usize {
        match self {
            Self::Mixes(planned, _) => planned.runs(),
            Self::One(one) => one.1.runs(),
        }
    }
}

impl Flags {
    /// Reads the arguments of a work, of which those `added` replace some; paths are seen from
    /// `folder`.
    pub fn new(source: Source<'_>, added: &str, folder: &Path) -> Result<Self> {
        let added = words(added)?;
        let mut all = match source {
            Source::Compare(arguments) => words(arguments)?,
            Source::Mixes => Vec::new(),
        };
        replace(&mut all, &added);
        all.extend(added);
        let mut flags = Self::try_parse_from(&all).map_err(|error| {
            let renamed = settings::old_spelling(&all, &error);
            let said = renamed.unwrap_or_else(|| crate::mistake::mistake(&error));
            anyhow::anyhow!("{}", said.trim_end_matches(" (--help says more)"))
        })?;
        flags.run.set.refuse(results::GROUP, "the results of a study or grid are its own")?;
        ensure!(flags.run.sensors.len() == 1, "name one sensor set");
        let has_work = flags.scenario.is_some() || flags.trace.is_some();
        let is_mixes = matches!(source, Source::Mixes);
        ensure!(!is_mixes || !has_work, "the added flags name a work");
        ensure!(is_mixes || has_work, "`compare` names neither a scenario nor --trace");
        flags.seen_from(folder);
        Ok(flags)
    }

    /// The work.
    pub fn work(&self) -> Result<Work> {
        let (scenario, trace) = (self.scenario.as_deref(), self.trace.as_deref());
        Work::read(scenario, trace, &self.classes.class, &self.run.set)
    }

    /// The options of its runs.
    pub fn options(&self) -> &RunOptions {
        &self.run
    }

    fn seen_from(&mut self, folder: &Path) {
        let is_file = |name: &str| name.contains('/') || name.ends_with(".toml");
        let Self { trace, run, .. } = &mut *self;
        let paths = trace
            .iter_mut()
            .chain(&mut run.set.replay.marks)
            .chain(&mut run.set.simulation.include);
        for path in paths {
            *path = folder.join(&*path);
        }
        for name in self.scenario.iter_mut().chain(&mut self.run.cpu) {
            if is_file(name) {
                *name = folder.join(&*name).to_string_lossy().into_owned();
            }
        }
    }
}

fn words(arguments: &str) -> Result<Vec<String>> {
    match shlex::split(arguments) {
        Some(words) => Ok(words),
        None => bail!("{arguments}: an open quote"),
    }
}

/// Removes options that `by` replaces; `--set` and `--class` may occur several times.
fn replace(words: &mut Vec<String>, by: &[String]) {
    let name = |word: &str| {
        let name = word.strip_prefix("--")?.split('=').next()?;
        Some(name.to_owned())
    };
    let replaced: Vec<String> = by
        .iter()
        .filter_map(|word| name(word))
        .filter(|name| !["set", "class"].contains(&name.as_str()))
        .collect();
    let command = Flags::command();
    let takes_value = |name: &str| {
        let mut all = command.get_arguments();
        all.any(|one| one.get_long() == Some(name) && one.get_action().takes_values())
    };
    let mut is_value = false;
    words.retain(|word| {
        if std::mem::take(&mut is_value) {
            return false;
        }
        let Some(name) = name(word).filter(|name| replaced.contains(name)) else { return true };
        is_value = takes_value(&name) && !word.contains('=');
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_replaces_the_flags_of_a_work() {
        let replaced = |work: &str, by: &str| {
            let mut all = words(work).unwrap();
            replace(&mut all, &words(by).unwrap());
            all.join(" ")
        };
        assert_eq!(
            replaced("half-load --sensors d7 --ideal", "--sensors rules"),
            "half-load --ideal"
        );
        assert_eq!(replaced("--sensors=d7 half-load", "--sensors rules"), "half-load");
        assert_eq!(
            replaced("x --set a=1 --cpu c --hz 100", "--set b=2 --cpu=d"),
            "x --set a=1 --hz 100"
        );
        assert_eq!(replaced("--ideal x", "--ideal"), "x");
        assert!(words("'open").is_err());
    }
}

//! An evaluation of a scheduler: many works, ablations, wrong inputs, and goals.

mod goals;
mod rows;
mod table;
#[cfg(test)]
pub(crate) mod testing;

use serde::Serialize;

use crate::comparison::Parameter;
use crate::mixes::{Mix, Summary, first_scheduler, summaries};
use crate::sample::Setup;

pub(crate) use goals::Judged;
pub use goals::{BadGoal, Goals};
pub use rows::evaluation_csv;
pub use table::evaluation_table;
pub(crate) use table::verdict;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// The subject of an evaluation, and how the figures were computed.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Version of Evenkeel that computed this evaluation.
    pub evenkeel: String,
    /// The question of the study, in a few words.
    pub title: String,
    /// Remarks that a reader of the figures needs, a sentence each.
    pub description: String,
    /// The scheduler whose goals these are.
    pub judged: String,
    /// The judged scheduler with one part left out, each.
    pub ablations: Vec<String>,
    /// Schedulers that run in variants, too, and that charts show.
    pub shown: Vec<String>,
    /// Which mixes, if any: `development`, or `held-out` and of which release.
    pub half: Option<String>,
    /// The command that reproduces this evaluation.
    pub command: String,
}

/// The kind of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An experiment that is described.
    Scenario,
    /// Random program mixes.
    Mixes,
    /// A recording.
    Recording,
}

/// The difference from the works as they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// In a few words.
    pub name: String,
    /// As flags of `compare` and `mixes`.
    pub flags: String,
    /// Goals may be exceeded by this factor.
    pub allowance: f64,
}

/// A work that was run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name in the study.
    pub name: String,
    /// Kind of the work.
    pub kind: Kind,
    /// The arguments that run this work alone, verb first.
    pub command: String,
    /// `None`: the work as it is.
    pub variant: Option<Variant>,
    /// Goals of the judged scheduler.
    pub goals: Goals,
    /// Properties that all its runs share.
    pub setup: Setup,
    /// Figures of each mix, or of the one work.
    pub mixes: Vec<Mix>,
}

/// A work with its summaries.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Work {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) command: String,
    pub(crate) variant: Option<Variant>,
    /// Name of the CPU table.
    pub(crate) cpu: String,
    /// Seed of the first replicate.
    pub(crate) seed: u64,
    /// Ids of the published figures that its parameters were fitted to.
    pub(crate) calibrated_on: Vec<String>,
    /// Parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// Remarks that a reader of the figures needs, a sentence each.
    pub(crate) notes: Vec<String>,
    /// A scheduler, sensor set and background each; differences are to the first scheduler.
    pub(crate) summaries: Vec<Summary>,
    /// The ablations; differences are to the judged scheduler.
    pub(crate) ablations: Vec<Summary>,
    /// Goals with their verdicts.
    pub(crate) goals: Vec<Judged>,
    /// Figures of each mix.
    #[serde(skip)]
    pub(crate) mixes: Vec<Mix>,
}

/// All that a study found.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    schema: u32,
    #[serde(flatten)]
    pub(crate) about: About,
    pub(crate) works: Vec<Work>,
}

/// Sums up the runs and judges the scheduler; works are listed in the order of `works`.
#[must_use]
pub fn evaluate(about: About, measured: Vec<Measured>) -> Evaluation {
    let works = measured.into_iter().map(|one| Work::new(&about, one)).collect();
    Evaluation { schema: SCHEMA, about, works }
}

impl Work {
    fn new(about: &About, measured: Measured) -> Self {
        let is_ablation = |one: &Summary| about.ablations.contains(&one.scheduler);
        let mixes = &measured.mixes;
        let mut all = summaries(mixes, first_scheduler(mixes));
        all.retain(|one| !is_ablation(one));
        let mut ablations = summaries(mixes, &about.judged);
        ablations.retain(is_ablation);
        let allowance = measured.variant.as_ref().map(|variant| variant.allowance);
        let goals = measured.goals.judge(&about.judged, &all, allowance);
        Self {
            name: measured.name,
            kind: measured.kind,
            command: measured.command,
            variant: measured.variant,
            cpu: measured.setup.cpu,
            seed: measured.setup.seed,
            calibrated_on: measured.setup.calibrated_on,
            parameters: Parameter::all(measured.setup.parameters),
            notes: measured.setup.notes,
            summaries: all,
            ablations,
            goals,
            mixes: measured.mixes,
        }
    }
}

impl Evaluation {
    /// Number of missed goals, and of all goals.
    #[must_use]
    pub fn missed(&self) -> (usize, usize) {
        let goals = || self.works.iter().flat_map(|work| &work.goals);
        (goals().filter(|goal| !goal.holds()).count(), goals().count())
    }

    /// Works as they are, of one kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Work> {
        self.works.iter().filter(move |work| work.variant.is_none() && work.kind == kind)
    }

    /// Variants, each once.
    pub(crate) fn variants(&self) -> Vec<&Variant> {
        let mut variants: Vec<&Variant> = Vec::new();
        for variant in self.works.iter().filter_map(|work| work.variant.as_ref()) {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        variants
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{about, mixes};
    use super::*;

    #[test]
    fn ablations_differ_from_the_whole_scheduler_and_all_other_runs_from_the_first() {
        let measured = mixes([[9.0, 2.0, 3.0], [8.0, 1.0, 2.5]]);
        let evaluation = evaluate(about(), vec![measured]);
        let work = &evaluation.works[0];
        let names: Vec<&str> = work.summaries.iter().map(|one| one.scheduler.as_str()).collect();
        assert_eq!(names, ["fair", "even"]);
        let less = |one: &Summary| one.less_first.as_ref().unwrap().isolation_slowdown_pct.mean;
        assert!((less(&work.summaries[1]) + 7.0).abs() < 1e-9);
        assert_eq!(work.ablations.len(), 1);
        assert!((less(&work.ablations[0]) - 1.25).abs() < 1e-9);
        assert_eq!(evaluation.missed(), (0, 0));
    }

    #[test]
    fn variants_are_apart_from_works_as_they_are() {
        let evaluation = testing::evaluation();
        assert_eq!(evaluation.variants().len(), 1);
        assert_eq!(evaluation.of_kind(Kind::Mixes).count(), 1);
        assert_eq!(evaluation.missed(), (2, 4));
    }
}

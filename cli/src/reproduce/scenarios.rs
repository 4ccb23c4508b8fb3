//! The claims of the scenarios that come with evenkeel.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use report::Claimed;
use scenarios::Scenario;

use crate::compare::{Choice, Plan, Work};
use crate::run_options::{RunOptions, SCHEDULERS};
use crate::settings::Sharing;
use crate::terminal;

/// A claim, the name of its scenario, and what was found.
pub struct Found {
    pub scenario: String,
    pub claim: Claimed,
}

/// Runs what the claims of these ids need, and judges them.
pub fn claims(
    ids: &BTreeSet<&str>,
    options: &RunOptions,
    replicates: Option<u32>,
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let is_meant = |id: &Option<String>| id.as_deref().is_some_and(|id| ids.contains(id));
    for name in scenarios::names() {
        let Some(scenario) = Scenario::shipped(name).transpose()? else { continue };
        let meant: Vec<_> = scenario.claims.iter().filter(|it| is_meant(&it.id)).collect();
        if meant.is_empty() {
            continue;
        }
        let mut options = options.clone();
        let figures = || meant.iter().flat_map(|claim| claim.figures());
        if figures().any(|figure| figure.rq_sharing == "smt") {
            options.set.simulation.rq_sharing = Sharing::Smt;
        }
        let schedulers = ordered(figures().map(|figure| figure.scheduler.clone()).collect());
        let backgrounds: BTreeSet<String> =
            figures().map(|figure| figure.background.clone()).collect();
        let backgrounds: Vec<String> = backgrounds.into_iter().collect();
        let choice = Choice {
            schedulers: &schedulers,
            backgrounds: &backgrounds,
            programs: &[],
            replicates,
        };
        let work = Work::Scenario(Box::new(scenario));
        let plan = Plan::new(&work, name, &options, &choice)?;
        let bar = terminal::progress(plan.runs() as u64, name);
        let samples = plan.run(&work, &bar)?;
        bar.finish_and_clear();
        let comparison = report::compare(plan.setup(&work), samples)?;
        let of_ids = comparison.claims.into_iter().filter(|claim| is_meant(&claim.id));
        found.extend(of_ids.map(|claim| Found { scenario: name.to_owned(), claim }));
    }
    Ok(found)
}

/// In the order of tables, others last.
fn ordered(names: BTreeSet<String>) -> Vec<String> {
    let place: BTreeMap<&str, usize> =
        SCHEDULERS.iter().enumerate().map(|(place, &name)| (name, place)).collect();
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(|name| place.get(name.as_str()).copied().unwrap_or(usize::MAX));
    names
}

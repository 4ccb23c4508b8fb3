//! From runs to a comparison: groups them, pairs each with its control, takes means.

use std::collections::BTreeMap;

use scenarios::{Claim, Figure};

use crate::application::{self, Got};
use crate::claims::{self, Claimed};
use crate::comparison::{Comparison, Parameter, Run, SCHEMA};
use crate::run;
use crate::sample::{ReportError, Sample, Setup};

/// A sample with its applications summed up.
pub(crate) struct Summed {
    pub(crate) sample: Sample,
    pub(crate) got: Vec<Got>,
}

/// Scheduler, sensor set, program and replicate: they identify the control of a sample.
type Pair<'a> = (&'a str, &'a str, Option<&'a str>, u32);

fn pair(sample: &Sample) -> Pair<'_> {
    (&sample.scheduler, &sample.sensors, sample.program.as_deref(), sample.replicate)
}

/// Compares runs with those of the control background, each with the one of the same
/// scheduler, sensor set, program and replicate.
///
/// # Errors
/// When `samples` is empty, a run has no control or contradicts itself, or programs
/// have different numbers of replicates.
pub fn compare(setup: Setup, mut samples: Vec<Sample>) -> Result<Comparison, ReportError> {
    if samples.is_empty() {
        return Err(ReportError::Empty);
    }
    samples.sort_by_key(|sample| sample.replicate);
    let summed = samples
        .into_iter()
        .map(|sample| Ok(Summed { got: application::got(&sample)?, sample }))
        .collect::<Result<Vec<_>, ReportError>>()?;
    let controls: BTreeMap<Pair, &Summed> = summed
        .iter()
        .filter(|summed| summed.sample.control)
        .map(|summed| (pair(&summed.sample), summed))
        .collect();
    let mut runs = groups(&summed)
        .into_iter()
        .map(|group| build_run(&setup, &group, &controls))
        .collect::<Result<Vec<_>, _>>()?;
    let found = |figure: &Figure| {
        runs.iter().find(|run| run.has(figure, &setup.rq_sharing))?.figure(figure)
    };
    let judge = |claim: &Claim| claims::judge(claim, claim.value(found));
    let claims: Vec<Claimed> = setup.claims.iter().map(judge).collect();
    stand_beside(&setup, &claims, &mut runs);
    Ok(assemble(setup, runs, claims))
}

/// Gives each run the first published figure that concerns this whole run and no other.
fn stand_beside(setup: &Setup, claims: &[Claimed], runs: &mut [Run]) {
    for (claim, claimed) in setup.claims.iter().zip(claims) {
        let is_alone = claim.figures().count() == 1 && claim.figure.application.is_none();
        let is_of = |run: &&mut Run| run.has(&claim.figure, &setup.rq_sharing);
        let run = runs.iter_mut().filter(|_| is_alone).find(is_of);
        if let Some((run, published)) = run.zip(claimed.beside()) {
            run.published.get_or_insert(published);
        }
    }
}

/// Samples of the same scheduler, background and sensor set, in order of first appearance.
fn groups(summed: &[Summed]) -> Vec<Vec<&Summed>> {
    let mut groups: Vec<Vec<&Summed>> = Vec::new();
    for one in summed {
        let same = |group: &&mut Vec<&Summed>| {
            let first = &group[0].sample;
            first.scheduler == one.sample.scheduler
                && first.background == one.sample.background
                && first.sensors == one.sample.sensors
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn build_run(
    setup: &Setup,
    group: &[&Summed],
    controls: &BTreeMap<Pair, &Summed>,
) -> Result<Run, ReportError> {
    let pairs = group
        .iter()
        .map(|&one| match controls.get(&pair(&one.sample)) {
            Some(&control) => Ok((one, control)),
            None => Err(no_control(&one.sample)),
        })
        .collect::<Result<Vec<_>, _>>()?;
    run::build(&pairs, setup.replicates)
}

fn no_control(sample: &Sample) -> ReportError {
    ReportError::NoControl {
        scheduler: sample.scheduler.clone(),
        background: sample.background.clone(),
        program: sample.program.clone().unwrap_or_else(|| "-".to_owned()),
        replicate: sample.replicate,
    }
}

fn assemble(setup: Setup, runs: Vec<Run>, claims: Vec<Claimed>) -> Comparison {
    Comparison {
        schema: SCHEMA,
        evenkeel: setup.evenkeel_version,
        cpu: setup.cpu,
        scenario: setup.scenario,
        description: setup.description,
        seed: setup.seed,
        sensors: setup.sensors,
        calibrated_on: setup.calibrated_on,
        replicates: setup.replicates,
        level_names: setup.level_names,
        parameters: Parameter::all(setup.parameters),
        costs: setup.costs.into(),
        command: setup.command,
        notes: setup.notes,
        claims,
        runs,
        busy_package: None,
    }
}

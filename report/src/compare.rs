//! From runs to a comparison: groups them, pairs each with its control, takes means.

use std::collections::BTreeMap;

use scenarios::Claim;

use crate::application::{self, Got};
use crate::comparison::{Claimed, Comparison, CostTable, Parameter, Run, SCHEMA};
use crate::published;
use crate::run;
use crate::sample::{ReportError, Sample, Setup};

/// A sample with its applications summed up.
pub(crate) struct Summed {
    pub(crate) sample: Sample,
    pub(crate) got: Vec<Got>,
}

/// What identifies the control of a sample.
type Pair<'a> = (&'a str, &'a str, Option<&'a str>, u32);

fn pair(sample: &Sample) -> Pair<'_> {
    (&sample.scheduler, &sample.sensors, sample.program.as_deref(), sample.replicate)
}

/// Compares runs with those of the control background, each with the one of the same
/// scheduler, sensor set, program and replicate.
///
/// # Errors
/// When there is nothing to compare, a run has no control or contradicts itself, programs
/// have different numbers of replicates, or the set-up claims what it must not.
pub fn compare(setup: Setup, mut samples: Vec<Sample>) -> Result<Comparison, ReportError> {
    let rows = published::rows();
    let policy = |id: &&String| {
        let mut named = rows.iter().filter(|row| row.id == **id).peekable();
        named.peek().is_some() && named.all(|row| row.baseline == "no")
    };
    if let Some(id) = setup.calibrated_on.iter().find(policy) {
        return Err(ReportError::CalibratedOnPolicy { id: id.clone() });
    }
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
    let runs = groups(&summed)
        .into_iter()
        .map(|group| build_run(&setup, &rows, &group, &controls))
        .collect::<Result<Vec<_>, _>>()?;
    let claims = setup.claims.iter().map(|claim| judge(claim, &runs)).collect();
    Ok(assemble(setup, runs, claims))
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

/// Sensor set of the published prototypes.
const PUBLISHED_SENSORS: &str = "d7";

fn build_run(
    setup: &Setup,
    rows: &[published::Row],
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
    let mut run = run::build(&pairs, setup.replicates)?;
    if setup.differs_from_published || run.sensors != PUBLISHED_SENSORS {
        return Ok(run);
    }
    run.published = published::find(rows, &setup.scenario, &run.scheduler, &run.background)
        .and_then(|row| Some(row.beside(run.metric(&row.metric)?, &setup.calibrated_on)))
        .or_else(|| setup.claims.iter().find_map(|claim| published::of_claim(claim, &run)));
    Ok(run)
}

fn no_control(sample: &Sample) -> ReportError {
    ReportError::NoControl {
        scheduler: sample.scheduler.clone(),
        background: sample.background.clone(),
        program: sample.program.clone().unwrap_or_else(|| "-".to_owned()),
        replicate: sample.replicate,
    }
}

fn judge(claim: &Claim, runs: &[Run]) -> Claimed {
    let run = runs
        .iter()
        .find(|run| run.scheduler == claim.scheduler && run.background == claim.background);
    let figure = |run: &Run, name: &str| run.metric(name).unwrap_or(f64::NAN);
    let minus =
        |run: &Run| claim.minus.as_ref().map_or(0.0, |(metric, times)| figure(run, metric) * times);
    Claimed {
        scheduler: claim.scheduler.clone(),
        background: claim.background.clone(),
        figure: match &claim.minus {
            Some((metric, times)) => format!("{} - {times} {metric}", claim.metric),
            None => claim.metric.clone(),
        },
        min: claim.min,
        max: claim.max,
        published: claim.published,
        must_fail: claim.must_fail,
        source: claim.source.clone(),
        found: run.map(|run| figure(run, &claim.metric) - minus(run)),
        holds: run.map(|run| claim.holds(|name| figure(run, name))),
    }
}

fn assemble(setup: Setup, runs: Vec<Run>, claims: Vec<Claimed>) -> Comparison {
    let costs = setup.costs;
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
        parameters: setup
            .parameters
            .into_iter()
            .map(|(name, value)| Parameter { name, value })
            .collect(),
        costs: CostTable {
            switch_ns: costs.switch_ns,
            trap_ns: costs.trap_ns,
            migration_ns: costs.migration_ns,
            migration_ns_per_kib: costs.migration_ns_per_kib,
            remote_package_factor: costs.remote_package_factor,
        },
        command: setup.command,
        notes: setup.notes,
        claims,
        runs,
    }
}

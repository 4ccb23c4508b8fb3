//! What each published figure is beside ours.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use clap::Parser;
use report::reproduction::{Answer, Verdict};

use super::figures::{By, Figure};
use super::scenarios::{Found, claims};
use super::{computed, frequency_policies, profiler};
use crate::run_options::RunOptions;

/// Runs of the study of frequency policies, by `ht` or `no-ht`, then by policy.
type Means = BTreeMap<String, BTreeMap<String, f64>>;

#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    run: RunOptions,
}

/// Simulates what the figures need, and answers them.
pub fn all(figures: &[Figure], seed: u64, replicates: Option<u32>) -> Result<Vec<Answer>> {
    let ids: BTreeSet<&str> = figures.iter().flat_map(claim_ids).collect();
    let mut options = Defaults::try_parse_from(["reproduce"])?.run;
    options.seed = seed;
    let found = claims(&ids, &options, replicates)?;
    let mut means = Means::new();
    for figure in figures.iter().filter(|figure| figure.by == By::Dvfs) {
        let (threads, _) = figure.how.split_once(' ').unwrap_or((&figure.how, ""));
        if !means.contains_key(threads) {
            let found = frequency_policies::means(threads, seed, replicates)?;
            means.insert(threads.to_owned(), found);
        }
    }
    let needs_profiles = figures.iter().any(|figure| figure.by == By::Profile);
    let profiles = needs_profiles.then(|| profiler::values(seed, replicates)).transpose()?;
    let profiles = profiles.unwrap_or_default();
    let answer = |figure: &Figure| {
        answer(figure, &found, &means, &profiles).with_context(|| figure.id.clone())
    };
    figures.iter().map(answer).collect()
}

/// The claims that a figure needs.
fn claim_ids(figure: &Figure) -> Vec<&str> {
    match figure.by {
        By::Claim => vec![&figure.how],
        By::Ratio => figure.how.split('/').collect(),
        _ => Vec::new(),
    }
}

/// Ours, whether it is within the tolerance, and why not.
#[derive(Default)]
struct Ours {
    text: Option<String>,
    holds: Option<bool>,
    /// Why not, as scenarios say; a figure's own reason comes before.
    why: String,
    by: String,
}

fn answer(
    figure: &Figure,
    found: &[Found],
    means: &Means,
    profiles: &BTreeMap<&str, f64>,
) -> Result<Answer> {
    let ours = match figure.by {
        By::Ghz => number(figure, computed::ghz(&figure.how)?, "CPU table xeon-gold-6130"),
        By::Computed => number(figure, computed::value(&figure.how)?, "CPU table xeon-gold-6130"),
        By::Dvfs => {
            let (threads, policy) = figure.how.split_once(' ').unwrap_or((&figure.how, ""));
            let mean = means.get(threads).and_then(|means| means.get(policy));
            number(figure, mean.copied().unwrap_or(f64::NAN), "evenkeel dvfs")
        }
        By::Profile => {
            let value = profiles.get(figure.how.as_str()).copied().unwrap_or(f64::NAN);
            number(figure, value, "evenkeel profile")
        }
        By::Claim => of_claims(figure, found),
        By::Ratio => ratio(figure, found),
        By::Test | By::Input | By::Measure => Ours { by: figure.how.clone(), ..Ours::default() },
        By::Recorded => Ours {
            text: Some(figure.found.clone()),
            holds: figure.holds,
            by: figure.how.clone(),
            ..Ours::default()
        },
        By::Contradicted => Ours { text: Some(figure.found.clone()), ..Ours::default() },
        By::Missing | By::Cited => Ours::default(),
    };
    let verdict = verdict(figure.by, ours.holds);
    // A reason for a miss is none where there is no miss.
    let why = match (verdict, figure.why.is_empty()) {
        (Verdict::Hit, _) if figure.by != By::Recorded => String::new(),
        (_, false) => figure.why.clone(),
        (_, true) => ours.why,
    };
    Ok(Answer {
        id: figure.id.clone(),
        source: figure.source.clone(),
        what: figure.what.clone(),
        published: figure.published.clone(),
        found: ours.text,
        tolerance: figure.tolerance.clone(),
        is_simulated: matches!(figure.by, By::Claim | By::Ratio | By::Dvfs | By::Profile),
        verdict,
        why,
        by: ours.by,
    })
}

fn verdict(by: By, holds: Option<bool>) -> Verdict {
    match (by, holds) {
        (By::Test, _) | (_, Some(true)) => Verdict::Hit,
        (_, Some(false)) => Verdict::Miss,
        (By::Input, _) => Verdict::Input,
        (By::Measure, _) => Verdict::Elsewhere,
        (By::Missing, _) => Verdict::Missing,
        (By::Contradicted, _) => Verdict::Contradicted,
        (By::Cited, _) => Verdict::Cited,
        (_, None) => Verdict::Shown,
    }
}

fn number(figure: &Figure, value: f64, by: &str) -> Ours {
    Ours {
        text: Some(short(value)),
        holds: within(figure, value),
        by: by.into(),
        ..Ours::default()
    }
}

/// Whether a value is within the figure's own bounds; `None` where it has none.
fn within(figure: &Figure, value: f64) -> Option<bool> {
    ::scenarios::within(figure.min, figure.max, value)
}

/// At most four digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

fn of_claims(figure: &Figure, found: &[Found]) -> Ours {
    let of_figure: Vec<&Found> =
        found.iter().filter(|it| it.claim.id.as_deref() == Some(figure.how.as_str())).collect();
    let are_alike = of_figure.windows(2).all(|two| two[0].claim.figure == two[1].claim.figure);
    let text = |it: &&Found| {
        let value = it.claim.found.map_or_else(|| "not run".to_owned(), short);
        let what = if are_alike { String::new() } else { format!(" {}", it.claim.figure) };
        let (scheduler, background) = (&it.claim.scheduler, &it.claim.background);
        format!("{value}{what} ({} {scheduler} {background})", it.scenario)
    };
    let has_bounds = figure.min.or(figure.max).is_some();
    let holds = |it: &&Found| {
        if has_bounds {
            it.claim.found.and_then(|value| within(figure, value))
        } else {
            it.claim.holds
        }
    };
    let judged: Vec<bool> = of_figure.iter().filter_map(holds).collect();
    let misses = of_figure.iter().filter(|it| holds(it) == Some(false));
    let mut whys: Vec<&str> = misses.filter_map(|it| it.claim.known_miss.as_deref()).collect();
    whys.dedup();
    Ours {
        text: Some(of_figure.iter().map(text).collect::<Vec<_>>().join(", ")),
        holds: (!judged.is_empty()).then(|| judged.iter().all(|&holds| holds)),
        why: whys.join("; "),
        by: "evenkeel compare".to_owned(),
    }
}

/// The largest ratio of two claims of a scenario.
fn ratio(figure: &Figure, found: &[Found]) -> Ours {
    let ids = claim_ids(figure);
    let value = |id: &str, scenario: &str| {
        let is_it = |it: &&Found| it.claim.id.as_deref() == Some(id) && it.scenario == scenario;
        found.iter().find(is_it)?.claim.found
    };
    let scenarios: BTreeSet<&str> = found.iter().map(|it| it.scenario.as_str()).collect();
    let of = |scenario: &&str| Some(value(ids[0], scenario)? / value(ids[1], scenario)?);
    let best = scenarios.iter().filter_map(of).fold(f64::NAN, f64::max);
    number(figure, best, "evenkeel compare")
}

//! Claims of the scenario, judged; those with a published figure stand beside their run.

use scenarios::{Claim, Figure};
use serde::Serialize;

use crate::format;

/// A claim of the scenario with the value found for it and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claimed {
    /// Id of the published figure, such as `T089`.
    pub id: Option<String>,
    /// Scheduler of the run.
    pub scheduler: String,
    /// Background of the run.
    pub background: String,
    /// Sensor set of the run.
    pub sensors: String,
    /// The figure with its unit, and the figure that it is compared with.
    pub figure: String,
    /// Smallest value that keeps the claim.
    pub min: Option<f64>,
    /// Largest value that keeps the claim.
    pub max: Option<f64>,
    /// Published value, if any.
    pub published: Option<f64>,
    /// Whether parameters were fitted to this figure; if not, the found value is a prediction.
    pub calibrated: bool,
    /// Whether the claim is false on purpose, to see that false claims are caught.
    pub must_fail: bool,
    /// Reason for a known miss.
    pub known_miss: Option<String>,
    /// Where figure and bounds come from.
    pub source: String,
    /// Value found; `None` if its runs were not made.
    pub found: Option<f64>,
    /// Whether the claim holds; `None` if its runs were not made or the claim has no bounds.
    pub holds: Option<bool>,
}

/// The published figure beside a run, and whether ours is within its tolerance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Id of the figure, such as `T089`.
    pub id: Option<String>,
    /// Document and section that print the figure.
    pub source: String,
    /// The figure with its unit, and the figure that it is compared with.
    pub figure: String,
    /// The published value.
    pub value: f64,
    /// Ours.
    pub ours: f64,
    /// Smallest value within the tolerance.
    pub min: Option<f64>,
    /// Largest value within the tolerance.
    pub max: Option<f64>,
    /// Whether parameters were fitted to this figure; if not, our value is a prediction.
    pub calibrated: bool,
    /// Whether ours is within; `None` where no tolerance was fixed.
    pub hit: Option<bool>,
}

impl Published {
    /// The published figure and what became of ours.
    pub(crate) fn text(&self) -> String {
        let which = match self.figure.as_str() {
            "isolation_slowdown_pct" => String::new(),
            "signed_slowdown_pct" => " signed".to_owned(),
            other => format!(" {}", format::figure_words(other)),
        };
        let value = format::amount(&self.figure, self.value);
        format!("{value}{which}, {}: {}", format::how(self.calibrated), self.outcome())
    }

    /// Whether ours is within the tolerance, or how far it is from the published figure.
    pub(crate) fn outcome(&self) -> String {
        let off = self.ours - self.value;
        let off = if format::is_percentage(&self.figure) {
            format::signed_percent(off).trim_end_matches(" %").to_owned()
        } else {
            format!("{off:+.2}")
        };
        let bound = format::bound(Some(self.value), self.min, self.max);
        match self.hit {
            Some(true) => format!("hit ({bound})"),
            Some(false) => format!("MISS, {off} ({bound})"),
            None => format!("off by {off}"),
        }
    }
}

impl Claimed {
    /// Whether the outcome is not the expected one: a claim fails that should hold, or one holds
    /// that is said to fail.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        let should_hold = !self.must_fail && self.known_miss.is_none();
        self.holds == Some(!should_hold)
    }

    /// The published figure beside our value; `None` if either is missing.
    pub(crate) fn beside(&self) -> Option<Published> {
        Some(Published {
            id: self.id.clone(),
            source: self.source.clone(),
            figure: self.figure.clone(),
            value: self.published?,
            ours: self.found?,
            min: self.min,
            max: self.max,
            calibrated: self.calibrated,
            hit: self.holds,
        })
    }
}

/// Judges a claim by the value that the runs gave its figure; `None` when they were not made.
pub(crate) fn judge(claim: &Claim, found: Option<f64>) -> Claimed {
    Claimed {
        id: claim.id.clone(),
        scheduler: claim.figure.scheduler.clone(),
        background: claim.figure.background.clone(),
        sensors: claim.figure.sensors.clone(),
        figure: described(claim),
        min: claim.min,
        max: claim.max,
        published: claim.published,
        calibrated: claim.calibrated,
        must_fail: claim.must_fail,
        known_miss: claim.known_miss.clone(),
        source: claim.source.clone(),
        found,
        holds: found.and_then(|found| claim.holds(found)),
    }
}

/// A claim in the words of every output.
pub(crate) struct Judged {
    /// The figure, after the id of the published value if any.
    pub(crate) figure: String,
    pub(crate) scheduler: String,
    pub(crate) background: String,
    pub(crate) published: String,
    pub(crate) bound: String,
    pub(crate) found: String,
    pub(crate) outcome: String,
}

/// Puts a claim in words.
pub(crate) fn judged(claim: &Claimed) -> Judged {
    let amount = |value: f64| format::amount(&claim.figure, value);
    let outcome = match (claim.found, claim.holds) {
        (None, _) => "not run",
        (Some(_), None) => "no tolerance",
        (_, Some(true)) if claim.must_fail => "holds, but is false on purpose",
        (_, Some(false)) if claim.must_fail => "fails, as it must",
        (_, Some(true)) if claim.known_miss.is_some() => "unexpected hit",
        (_, Some(false)) if claim.known_miss.is_some() => "known MISS",
        (_, Some(true)) => "hit",
        (_, Some(false)) => "MISS",
    };
    let how = claim.published.map(|_| format!(", {}", format::how(claim.calibrated)));
    Judged {
        figure: match &claim.id {
            Some(id) => format!("{id} {}", format::figure_words(&claim.figure)),
            None => format::figure_words(&claim.figure),
        },
        scheduler: match claim.sensors.as_str() {
            "d7" => format::clean(&claim.scheduler),
            sensors => format::clean(&format!("{}, {sensors}", claim.scheduler)),
        },
        background: format::variant(&claim.background),
        published: claim.published.map_or_else(String::new, amount),
        bound: format::bound(claim.published, claim.min, claim.max),
        found: claim.found.map_or_else(String::new, amount),
        outcome: format!("{outcome}{}", how.unwrap_or_default()),
    }
}

/// The figure in words: metric, application, and the figure that it is compared with.
fn described(claim: &Claim) -> String {
    let mut text = claim.figure.metric.clone();
    if let Some(application) = &claim.figure.application {
        text += &format!(" of {application}");
    }
    if claim.figure.scheduler == "muqss" && claim.figure.rq_sharing != "none" {
        text += &format!(", rq_sharing {}", claim.figure.rq_sharing);
    }
    if let Some((other, times)) = &claim.minus {
        let times = if *times == 1.0 { String::new() } else { format!("{times} ") };
        text += &format!(" - {times}{}", differing(other, &claim.figure));
    }
    if let Some(other) = &claim.over {
        text += &format!(", % above {}", differing(other, &claim.figure));
    }
    text
}

/// The parts of a figure that differ from those of another one.
fn differing(figure: &Figure, like: &Figure) -> String {
    let same_metric = figure.metric == like.metric;
    let mut text = if same_metric { "that".to_owned() } else { figure.metric.clone() };
    if figure.application != like.application {
        text += &format!(" of {}", figure.application.as_deref().unwrap_or("all"));
    }
    if figure.scheduler != like.scheduler {
        text += &format!(" under {}", figure.scheduler);
    }
    if figure.rq_sharing != like.rq_sharing && figure.scheduler == "muqss" {
        text += &format!(", rq_sharing {}", figure.rq_sharing);
    }
    if figure.background != like.background {
        text += &format!(" with {}", figure.background);
    }
    if figure.sensors != like.sensors {
        text += &format!(" with sensors {}", figure.sensors);
    }
    text
}

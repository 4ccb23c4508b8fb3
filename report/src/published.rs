//! What was published, beside what we find.

use scenarios::Claim;
use serde::{Deserialize, Serialize};

use crate::comparison::Run;

/// The published figures; ids are those of the project's list of targets.
const TABLE: &str = include_str!("../data/published.csv");

/// One published figure, and whether ours is within the tolerance that was fixed before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Id of the target, such as `T089`; `None`: the scenario names the figure.
    pub id: Option<String>,
    /// Where it is printed: document and section.
    pub source: String,
    /// The key of a run it is to be compared with, such as `isolation_slowdown_pct`.
    pub metric: String,
    /// The published figure.
    pub value_pct: f64,
    /// Ours.
    pub ours_pct: f64,
    /// Ours must be this close, where a tolerance was fixed.
    pub tolerance_pct: Option<f64>,
    /// Ours must be at least this, where a bound was fixed.
    pub at_least_pct: Option<f64>,
    /// Ours must be at most this, where a bound was fixed.
    pub at_most_pct: Option<f64>,
    /// Whether parameters were fitted to it; else ours is a prediction.
    pub calibrated: bool,
    /// Whether ours is within; `None` where nothing was fixed.
    pub hit: Option<bool>,
}

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) scenario: String,
    pub(crate) scheduler: String,
    pub(crate) background: String,
    pub(crate) metric: String,
    pub(crate) value_pct: f64,
    pub(crate) tolerance_pct: Option<f64>,
    pub(crate) at_most_pct: Option<f64>,
    /// `yes`: a baseline without any policy, which parameters may be fitted to.
    pub(crate) baseline: String,
    pub(crate) source: String,
}

impl Row {
    /// Sets our figure beside the published one.
    pub(crate) fn beside(&self, ours_pct: f64, calibrated_on: &[String]) -> Published {
        let close = self.tolerance_pct.map(|pct| (ours_pct - self.value_pct).abs() <= pct);
        let low = self.at_most_pct.map(|pct| ours_pct <= pct);
        Published {
            id: Some(self.id.clone()),
            source: self.source.clone(),
            metric: self.metric.clone(),
            value_pct: self.value_pct,
            ours_pct,
            tolerance_pct: self.tolerance_pct,
            at_least_pct: None,
            at_most_pct: self.at_most_pct,
            calibrated: calibrated_on.contains(&self.id),
            hit: close.or(low),
        }
    }
}

/// The published figure that a claim of the scenario names, if it is one of this run.
pub(crate) fn of_claim(claim: &Claim, run: &Run) -> Option<Published> {
    let same = claim.scheduler == run.scheduler && claim.background == run.background;
    let value_pct = claim.published.filter(|_| same && claim.minus.is_none())?;
    let ours_pct = run.metric(&claim.metric)?;
    let bounded = claim.min.or(claim.max).is_some();
    Some(Published {
        id: None,
        source: claim.source.clone(),
        metric: claim.metric.clone(),
        value_pct,
        ours_pct,
        tolerance_pct: None,
        at_least_pct: claim.min,
        at_most_pct: claim.max,
        calibrated: claim.calibrated,
        hit: bounded.then(|| claim.holds(|_| ours_pct)),
    })
}

/// All rows.
///
/// # Panics
/// When the embedded table is malformed; a test reads it.
pub(crate) fn rows() -> Vec<Row> {
    csv::Reader::from_reader(TABLE.as_bytes())
        .deserialize()
        .map(|row| row.expect("the embedded table is well-formed"))
        .collect()
}

/// The row for a run, if anything was published about it.
pub(crate) fn find<'a>(
    rows: &'a [Row],
    scenario: &str,
    scheduler: &str,
    background: &str,
) -> Option<&'a Row> {
    rows.iter().find(|row| {
        row.scenario == scenario && row.scheduler == scheduler && row.background == background
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(scheduler: &str, ours_pct: f64) -> Published {
        let rows = rows();
        let row = find(&rows, "parsec-x265-two-cores", scheduler, "avx512").unwrap();
        row.beside(ours_pct, &["T089".to_owned()])
    }

    #[test]
    fn only_schedulers_without_a_policy_of_ours_are_baselines() {
        for row in rows() {
            let policy = row.scheduler.starts_with("fair-") || row.scheduler == "even";
            assert_eq!(row.baseline, if policy { "no" } else { "yes" }, "{}", row.id);
        }
    }

    #[test]
    fn a_tolerance_reaches_both_ways_and_includes_its_ends() {
        let rows = rows();
        let row = find(&rows, "parsec-x265", "fair", "avx512").unwrap();
        let hit = |ours| row.beside(ours, &[]).hit;
        assert_eq!(hit(21.5), Some(true));
        assert_eq!(hit(25.5), Some(true));
        assert_eq!(hit(21.4), Some(false));
        assert_eq!(hit(25.6), Some(false));
    }

    #[test]
    fn a_bound_is_met_from_below() {
        assert_eq!(published("fair-isolation", 0.1).hit, Some(true));
        assert_eq!(published("fair-isolation", 4.1).hit, Some(false));
        assert_eq!(published("fair", 28.3).hit, None);
    }

    #[test]
    fn what_was_fitted_is_called_calibrated() {
        let rows = rows();
        let row = find(&rows, "parsec-x265", "fair", "avx512").unwrap();
        assert!(row.beside(23.5, &["T089".to_owned()]).calibrated);
        assert!(!row.beside(23.5, &["T086".to_owned()]).calibrated);
    }
}

//! What a scenario claims about its results, and the published figures beside them.

use std::collections::BTreeSet;

use crate::error::ScenarioError;
use crate::fields::{Fields, Value};

/// Figures that can be claimed, by the names of the JSON output.
pub const METRICS: [&str; 7] = [
    "isolation_slowdown_pct",
    "signed_slowdown_pct",
    "slowdown_only_pct",
    "remote_avx_overhead_pct",
    "cpu_time_vs_sse_pct",
    "unfairness",
    "jain",
];

/// A figure of one scheduler beside one background, its bounds and what was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Name of the scheduler, such as `fair-isolation`.
    pub scheduler: String,
    /// Name of the background variant.
    pub background: String,
    /// One of [`METRICS`].
    pub metric: String,
    /// Another metric of the same run, times a factor, that is subtracted first.
    pub minus: Option<(String, f64)>,
    /// Smallest value that keeps the claim.
    pub min: Option<f64>,
    /// Largest value that keeps the claim.
    pub max: Option<f64>,
    /// Published figure, where there is one.
    pub published: Option<f64>,
    /// Whether parameters were fitted to this figure: then it is no prediction.
    pub calibrated: bool,
    /// Whether the claim is false on purpose, to see that false claims are caught.
    pub must_fail: bool,
    /// Where figure and bounds come from.
    pub source: String,
}

impl Claim {
    /// Whether the results keep the claim; `figure` yields a metric of the claimed run.
    pub fn holds(&self, figure: impl Fn(&str) -> f64) -> bool {
        let minus = self.minus.as_ref().map_or(0.0, |(metric, times)| figure(metric) * times);
        let value = figure(&self.metric) - minus;
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

pub(crate) fn read_claim(
    value: &Value,
    backgrounds: &BTreeSet<String>,
) -> Result<Claim, ScenarioError> {
    let mut fields = value.fields()?;
    let scheduler = fields.need("scheduler", "the name of a scheduler")?.name()?;
    let background = fields.need("background", "the name of a background")?;
    if background.as_str().is_none_or(|name| !backgrounds.contains(name)) {
        let names: Vec<_> = backgrounds.iter().map(String::as_str).collect();
        return Err(background.error(format!("one of {}", names.join(", "))));
    }
    let background = background.name()?;
    let metric = read_metric(&fields.need("metric", "the name of a metric")?)?;
    let minus = fields.take("minus").map(|value| read_minus(value.fields()?)).transpose()?;
    let float = |value: Option<Value>| value.map(|value| value.float()).transpose();
    let min = float(fields.take("min"))?;
    let max = float(fields.take("max"))?;
    let published = float(fields.take("published"))?;
    let boolean = |value: Option<Value>| value.map_or(Ok(false), |value| value.boolean());
    let calibrated = boolean(fields.take("calibrated"))?;
    let must_fail = boolean(fields.take("must_fail"))?;
    let source = fields.need("source", "where it comes from")?.string()?;
    if min.or(max).or(published).is_none() {
        return Err(fields.missing("max", "min, max or published"));
    }
    fields.finish()?;
    Ok(Claim {
        scheduler,
        background,
        metric,
        minus,
        min,
        max,
        published,
        calibrated,
        must_fail,
        source,
    })
}

fn read_minus(mut fields: Fields) -> Result<(String, f64), ScenarioError> {
    let metric = read_metric(&fields.need("metric", "the name of a metric")?)?;
    let times = fields.take("times").map_or(Ok(1.0), |value| value.float())?;
    fields.finish()?;
    Ok((metric, times))
}

fn read_metric(value: &Value) -> Result<String, ScenarioError> {
    match value.as_str().filter(|name| METRICS.contains(name)) {
        Some(name) => Ok(name.to_owned()),
        None => Err(value.error(format!("one of {}", METRICS.join(", ")))),
    }
}

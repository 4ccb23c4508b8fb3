//! The claims of a scenario about its results, with published figures.

use crate::error::ScenarioError;
use crate::fields::{Fields, Value};

/// Figures that can be claimed, by the names of the JSON output, and `completion_s` and
/// `slice_mcycles` of the foreground: until its last thread ended, and the work of a slice.
pub const METRICS: [&str; 10] = [
    "isolation_slowdown_pct",
    "signed_slowdown_pct",
    "slowdown_only_pct",
    "remote_avx_overhead_pct",
    "completion_s",
    "repaid_pct",
    "slice_mcycles",
    "cpu_time_vs_sse_pct",
    "unfairness",
    "jain",
];

/// Those of [`METRICS`] that a single application has too.
const METRICS_OF_APPLICATIONS: &[&str] = METRICS.split_at(7).0;

/// Schedulers without a policy of ours, which parameters may be fitted to.
const BASELINES: [&str; 4] = ["cfs", "eevdf", "muqss", "fair"];

/// Values of the run-queue sharing of `MuQSS`.
const RQ_SHARING: [&str; 4] = ["none", "smt", "mc", "all"];

/// Sensor set of the published prototypes.
const PUBLISHED_SENSORS: &str = "d7";

/// A metric, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// One of [`METRICS`].
    pub metric: String,
    /// Name of the scheduler, such as `fair-isolation`.
    pub scheduler: String,
    /// Run-queue sharing of `MuQSS`; `none` for any other scheduler.
    pub rq_sharing: String,
    /// Name of the sensor set.
    pub sensors: String,
    /// Name of the background variant.
    pub background: String,
    /// A foreground application; `None`: all of them.
    pub application: Option<String>,
}

/// A figure, its bounds and its published value.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Id of the published figure, such as `T089`.
    pub id: Option<String>,
    /// The figure of the claim.
    pub figure: Figure,
    /// Another figure, times a factor, that is subtracted first.
    pub minus: Option<(Figure, f64)>,
    /// Another figure to compare with: the value is then the excess over that figure, in percent.
    pub over: Option<Figure>,
    /// Smallest value that keeps the claim.
    pub min: Option<f64>,
    /// Largest value that keeps the claim.
    pub max: Option<f64>,
    /// Published value, if any.
    pub published: Option<f64>,
    /// Whether parameters were fitted to this figure, which makes the value no prediction.
    pub calibrated: bool,
    /// Whether the claim is false on purpose, to see that false claims are caught.
    pub must_fail: bool,
    /// Known reason why the claim does not hold; reports then show an expected miss.
    pub known_miss: Option<String>,
    /// Where figure and bounds come from.
    pub source: String,
}

impl Figure {
    /// Whether a policy of ours influences the figure, so that nothing may be fitted to the value.
    #[must_use]
    pub fn has_policy(&self) -> bool {
        !BASELINES.contains(&self.scheduler.as_str())
    }
}

impl Claim {
    /// The claimed figure, and the figure to compare with if any.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let minus = self.minus.as_ref().map(|(figure, _)| figure);
        [Some(&self.figure), minus, self.over.as_ref()].into_iter().flatten()
    }

    /// The claimed value; `figure` yields those of the results, `None` where one was not run.
    pub fn value(&self, figure: impl Fn(&Figure) -> Option<f64>) -> Option<f64> {
        let mut value = figure(&self.figure)?;
        if let Some((other, times)) = &self.minus {
            value -= figure(other)? * times;
        }
        if let Some(other) = &self.over {
            value = 100.0 * (value / figure(other)? - 1.0);
        }
        Some(value)
    }

    /// Whether a value keeps the bounds; `None` without bounds.
    #[must_use]
    pub fn holds(&self, value: f64) -> Option<bool> {
        within(self.min, self.max, value)
    }
}

/// Whether a value keeps bounds; `None` without bounds.
#[must_use]
pub fn within(min: Option<f64>, max: Option<f64>, value: f64) -> Option<bool> {
    let is_within = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
    min.or(max).map(|_| is_within)
}

/// Names that a claim may use.
pub(crate) struct Names<'a> {
    pub(crate) backgrounds: Vec<&'a str>,
    pub(crate) applications: Vec<&'a str>,
}

pub(crate) fn read_claim(value: &Value, names: &Names) -> Result<Claim, ScenarioError> {
    let mut fields = value.fields()?;
    let text = |value: Option<Value>| value.map(|value| value.string()).transpose();
    let float = |value: Option<Value>| value.map(|value| value.float()).transpose();
    let boolean = |value: &Option<Value>| value.as_ref().map_or(Ok(false), Value::boolean);
    let figure = read_figure(&mut fields, names, None)?;
    let minus = fields.take("minus").map(|value| read_minus(&value, names, &figure)).transpose()?;
    let over = fields.take("over").map(|value| read_over(&value, names, &figure)).transpose()?;
    let calibrated = fields.take("calibrated");
    let must_fail = fields.take("must_fail");
    let known_miss = fields.take("known_miss");
    let claim = Claim {
        id: text(fields.take("id"))?,
        figure,
        minus,
        over,
        min: float(fields.take("min"))?,
        max: float(fields.take("max"))?,
        published: float(fields.take("published"))?,
        calibrated: boolean(&calibrated)?,
        must_fail: boolean(&must_fail)?,
        known_miss: known_miss.as_ref().map(Value::string).transpose()?,
        source: fields.need("source", "where it comes from")?.string()?,
    };
    if claim.min.or(claim.max).or(claim.published).is_none() {
        return Err(fields.missing("max", "min, max or published"));
    }
    if let Some(value) = calibrated.filter(|_| claim.calibrated) {
        if claim.figure.has_policy() {
            let baselines = BASELINES.join(", ");
            return Err(value.error(format!("false: only {baselines} may be calibrated on")));
        }
        if claim.id.is_none() || claim.published.is_none() {
            return Err(value.error("false, or an `id` and a `published` figure"));
        }
    }
    if let Some(value) = known_miss {
        if claim.must_fail {
            return Err(value.error("no reason where `must_fail` is true"));
        }
        if claim.min.or(claim.max).is_none() {
            return Err(value.error("no reason where there is neither `min` nor `max`"));
        }
    }
    fields.finish()?;
    Ok(claim)
}

/// Reads a figure; absent fields are those of `like`.
fn read_figure(
    fields: &mut Fields,
    names: &Names,
    like: Option<&Figure>,
) -> Result<Figure, ScenarioError> {
    let mut take = |name, expected| match fields.take(name) {
        None if like.is_none() => Err(fields.missing(name, expected)),
        value => Ok(value),
    };
    let scheduler = take("scheduler", "the name of a scheduler")?;
    let background = take("background", "the name of a background")?;
    let metric = take("metric", "the name of a metric")?;
    let named = |value: Option<&Value>, known: &[&str], of: fn(&Figure) -> &String| match value {
        Some(value) => one_of(value, known),
        None => Ok(like.map_or_else(String::new, |like| of(like).clone())),
    };
    let background = named(background.as_ref(), &names.backgrounds, |like| &like.background)?;
    let application = match fields.take("application") {
        Some(value) => Some(one_of(&value, &names.applications)?),
        None => like.and_then(|like| like.application.clone()),
    };
    let known = if application.is_some() { METRICS_OF_APPLICATIONS } else { &METRICS };
    let metric = named(metric.as_ref(), known, |like| &like.metric)?;
    let scheduler = match scheduler {
        Some(value) => value.name()?,
        None => like.map_or_else(String::new, |like| like.scheduler.clone()),
    };
    let sensors = match fields.take("sensors") {
        Some(value) => value.name()?,
        None => like.map_or_else(|| PUBLISHED_SENSORS.to_owned(), |like| like.sensors.clone()),
    };
    let rq_sharing = match fields.take("rq_sharing") {
        Some(value) if scheduler != "muqss" => {
            return Err(value.error("no such field, which only the scheduler muqss has"));
        }
        Some(value) => one_of(&value, &RQ_SHARING)?,
        None => like
            .filter(|like| like.scheduler == scheduler)
            .map_or_else(|| RQ_SHARING[0].to_owned(), |like| like.rq_sharing.clone()),
    };
    Ok(Figure { metric, scheduler, rq_sharing, sensors, background, application })
}

fn read_minus(value: &Value, names: &Names, like: &Figure) -> Result<(Figure, f64), ScenarioError> {
    let mut fields = value.fields()?;
    let times = fields.take("times").map_or(Ok(1.0), |value| value.float())?;
    let figure = read_figure(&mut fields, names, Some(like))?;
    fields.finish()?;
    Ok((figure, times))
}

fn read_over(value: &Value, names: &Names, like: &Figure) -> Result<Figure, ScenarioError> {
    let mut fields = value.fields()?;
    let figure = read_figure(&mut fields, names, Some(like))?;
    fields.finish()?;
    if figure == *like {
        return Err(value.error("something that differs from the claimed figure"));
    }
    Ok(figure)
}

fn one_of(value: &Value, known: &[&str]) -> Result<String, ScenarioError> {
    match value.as_str().filter(|name| known.contains(name)) {
        Some(name) => Ok(name.to_owned()),
        None => Err(value.error(format!("one of {}", known.join(", ")))),
    }
}

//! The answer in sentences.

use scenarios::Role;

use crate::claims::Claimed;
use crate::comparison::{Comparison, Run, Task};
use crate::format::{clean, figure_words, list, percent, signed_percent, tenths, variant};

/// Schedulers that people use, the most likely first.
const IN_USE: [&str; 3] = ["eevdf", "cfs", "muqss"];

/// Schedulers that leave least, the newest first.
pub(crate) const OURS: [&str; 2] = ["even", "fair-isolation"];

/// Schedulers that avoid losses instead, by core specialization.
const AVOIDING: [&str; 2] = ["fair-specialize", "specialize"];

/// The finding for one background: the baseline scheduler and the best other one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    /// `fair` if it has published figures, else a scheduler of today's kernels.
    pub(crate) baseline: &'a Run,
    /// `even`, or `fair-isolation`, where it ran, else the other scheduler with the smallest
    /// slowdown.
    pub(crate) best: Option<&'a Run>,
}

/// Findings, the background that slows most first.
pub(crate) fn findings(comparison: &Comparison) -> Vec<Finding<'_>> {
    let mut findings: Vec<Finding> = backgrounds(comparison)
        .into_iter()
        .map(|background| {
            let of = || comparison.compared().filter(|run| run.background == background);
            let named = |name: &str| of().find(|run| run.scheduler == name);
            let has_published = comparison.runs.iter().any(|run| run.published.is_some());
            let fair = named("fair").filter(|_| has_published);
            let baseline = fair
                .or_else(|| IN_USE.iter().find_map(|name| named(name)))
                .or_else(|| of().next())
                .expect("a background comes from a run");
            let others = || of().filter(|run| run.scheduler != baseline.scheduler);
            let ours = OURS.iter().find_map(|name| others().find(|run| run.scheduler == *name));
            let best = ours.or_else(|| {
                others()
                    .min_by(|a, b| a.isolation_slowdown_pct.total_cmp(&b.isolation_slowdown_pct))
            });
            Finding { baseline, best }
        })
        .collect();
    let slowdown = |finding: &Finding| finding.baseline.isolation_slowdown_pct;
    findings.sort_by(|a, b| slowdown(b).total_cmp(&slowdown(a)));
    findings
}

/// Backgrounds that are compared with the control, in order of appearance.
pub(crate) fn backgrounds(comparison: &Comparison) -> Vec<&str> {
    distinct(comparison.compared().map(|run| run.background.as_str()))
}

/// Each name once, in order of appearance.
pub(crate) fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The scheduler whose slowdown the first sentence of the answer states.
#[must_use]
pub fn baseline_scheduler(comparison: &Comparison) -> Option<&str> {
    findings(comparison).first().map(|finding| finding.baseline.scheduler.as_str())
}

/// The answer: a sentence a background, then the verdicts on published figures and claims.
pub(crate) fn sentences(comparison: &Comparison) -> Vec<String> {
    let findings = findings(comparison);
    let mut sentences: Vec<String> =
        findings.iter().map(|finding| sentence(comparison, finding)).collect();
    if let (Some(busy), Some(first)) = (&comparison.busy_package, sentences.first_mut()) {
        *first += &format!(
            " On a package whose {} cores are all busy it is {} under {}.",
            busy.cores,
            percent(busy.isolation_slowdown_pct),
            clean(&busy.scheduler)
        );
    }
    sentences.extend(findings.iter().find_map(|finding| avoided(comparison, finding)));
    sentences.extend(published(comparison));
    sentences.extend(comparison.claims.iter().filter_map(claim));
    sentences.extend(not_run(comparison));
    let unfinished: usize = comparison.runs.iter().map(|run| run.unfinished).sum();
    if unfinished > 0 {
        sentences.push(format!(
            "The time limit ended {unfinished} simulated runs early: in them slowdown is that of \
             the rate of work."
        ));
    }
    sentences
}

fn sentence(comparison: &Comparison, finding: &Finding) -> String {
    let Finding { baseline, best } = *finding;
    let (culprit, several_culprits) = culprit(comparison, baseline);
    let (makes, changes) = if several_culprits { ("make", "change") } else { ("makes", "changes") };
    let before = baseline.isolation_slowdown_pct;
    let scheduler = clean(&baseline.scheduler);
    let several = baseline.judged().count() > 1;
    let what = if (before - baseline.signed_slowdown_pct).abs() < 0.05 {
        format!("{} longer", percent(before))
    } else {
        let signed = signed_percent(baseline.signed_slowdown_pct);
        format!("{} longer or shorter (signed {signed})", percent(before))
    };
    let mut text = if before < 1.0 {
        format!(
            "{culprit} hardly {changes} what the others get under {scheduler}: {}",
            percent(before)
        )
    } else if several {
        format!("{culprit} {makes} the other programs take {what} on average under {scheduler}")
    } else {
        let victim = baseline.judged().next().map_or_else(String::new, |task| clean(&task.name));
        format!("{culprit} {makes} {victim} take {what} under {scheduler}")
    };
    if let Some(worst) = baseline.worst().filter(|_| several && before >= 1.0) {
        let slowdown = worst.slowdown_pct().unwrap_or(0.0);
        text += &format!(" (worst {} {})", clean(&worst.name), signed_percent(slowdown));
    }
    match best {
        Some(best) if best.isolation_slowdown_pct < before => {
            let rest = tenths(best.isolation_slowdown_pct);
            text += &format!("; {} leaves {rest} %.", clean(&best.scheduler));
        }
        Some(best) if best.slowdown_only_pct < baseline.slowdown_only_pct / 2.0 => {
            let (slower, signed) = (best.slowdown_only_pct, best.signed_slowdown_pct);
            text += &format!(
                "; {} leaves {} % of being slower, and makes them faster instead (signed {}).",
                clean(&best.scheduler),
                tenths(slower),
                signed_percent(signed)
            );
        }
        Some(best) => {
            text += &format!("; {} leaves no less", clean(&best.scheduler));
            text += if no_task_waits(best) { NOTHING_TO_GIVE } else { "." };
        }
        None => text.push('.'),
    }
    text
}

/// What is lost under a scheduler that avoids losses, beside one that gives time back.
fn avoided(comparison: &Comparison, finding: &Finding) -> Option<String> {
    let background = &finding.baseline.background;
    let of = |name: &&str| {
        comparison.compared().find(|run| run.scheduler == *name && run.background == *background)
    };
    let avoiding = AVOIDING.iter().find_map(of)?;
    let lost = |run: &Run| run.remote_avx_overhead_pct;
    let is_avoided = lost(avoiding) < lost(finding.baseline) / 2.0;
    let best = finding.best.filter(|best| best.scheduler != avoiding.scheduler);
    let giving_back = best.map(|best| {
        let scheduler = clean(&best.scheduler);
        format!(", {} under {scheduler}, which gives time back", percent(lost(best)))
    });
    is_avoided.then(|| {
        format!(
            "Lowered clocks cost the other programs {} of their CPU time under {}{}, and {} under \
             {}, which confines 512-bit code to some cores.",
            percent(lost(finding.baseline)),
            clean(&finding.baseline.scheduler),
            giving_back.unwrap_or_default(),
            percent(lost(avoiding)),
            clean(&avoiding.scheduler)
        )
    })
}

const NOTHING_TO_GIVE: &str =
    ": no task waits for a CPU, so time that is given back helps no task.";

/// Whether the judged applications have a CPU whenever they want one, but for a hundredth of the
/// time that they run (our choice).
fn no_task_waits(run: &Run) -> bool {
    const WAITED_MAX: f64 = 0.01;
    let sum = |of: fn(&Task) -> f64| run.judged().map(of).sum::<f64>();
    sum(|task| task.waited_s) < WAITED_MAX * sum(|task| task.cpu_time_s)
}

/// Who is in the background, and as what, and whether they are several; the mix itself where
/// nothing is.
fn culprit(comparison: &Comparison, run: &Run) -> (String, bool) {
    let mut names: Vec<String> = Vec::new();
    let control = comparison.runs.iter().find(|other| other.control);
    let as_in_control = |task: &Task| {
        control.is_some_and(|run| {
            run.tasks.iter().any(|other| other.name == task.name && other.class == task.class)
        })
    };
    let background = || run.tasks.iter().filter(|task| task.role == Role::Background);
    let mut changed: Vec<&Task> = background().filter(|task| !as_in_control(task)).collect();
    if changed.is_empty() {
        changed = background().collect();
    }
    for task in changed {
        let name = clean(&task.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let control = control.map_or_else(String::new, |run| variant(&run.background));
    let variant = variant(&run.background);
    if names.is_empty() {
        (format!("Running as {variant} instead of {control}"), false)
    } else {
        (format!("{} as {variant} instead of {control}", list(&names)), names.len() > 1)
    }
}

/// How many published figures are within their tolerance, and which are not.
fn published(comparison: &Comparison) -> Option<String> {
    let of = |calibrated: bool| {
        let judged = comparison.claims.iter().filter(move |claim| {
            claim.published.is_some() && claim.holds.is_some() && claim.calibrated == calibrated
        });
        let missed: Vec<String> = judged
            .clone()
            .filter(|claim| claim.holds == Some(false))
            .map(|claim| claim.id.as_deref().map_or_else(|| "one without id".to_owned(), clean))
            .collect();
        (judged.count(), missed)
    };
    let part = |(all, missed): (usize, Vec<String>), what: &str| {
        let which = list(&missed);
        let which = if missed.is_empty() { which } else { format!(" (not {which})") };
        (all > 0).then(|| format!("{} of {all} {what}{which}", all - missed.len()))
    };
    let parts: Vec<String> =
        [part(of(false), "predicted figures"), part(of(true), "figures calibrated on")]
            .into_iter()
            .flatten()
            .collect();
    (!parts.is_empty())
        .then(|| format!("Within the tolerance of what was published: {}.", list(&parts)))
}

/// Number of claims whose runs were not made; the table lists them.
fn not_run(comparison: &Comparison) -> Option<String> {
    let all = comparison.claims.len();
    let count = comparison.claims.iter().filter(|claim| claim.found.is_none()).count();
    (count > 0).then(|| format!("Not run, so not tested: {count} of {all} claims of the scenario."))
}

/// What became of a claim, where that is worth a sentence: figures that were published are
/// counted by [`published`] already.
fn claim(claimed: &Claimed) -> Option<String> {
    let bound = match (claimed.min, claimed.max) {
        (Some(low), Some(high)) => format!("from {low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => return None,
    };
    let what = format!(
        "under {} with {}, {}",
        clean(&claimed.scheduler),
        clean(&claimed.background),
        figure_words(&claimed.figure)
    );
    let found = claimed.found?;
    let known = claimed.known_miss.as_deref().map(clean);
    match (claimed.holds?, known, claimed.must_fail) {
        (false, Some(why), _) => {
            Some(format!("A known miss: {what} is {found:.2}, not {bound}: {why}."))
        }
        (true, Some(_), _) => Some(format!(
            "A claim of the scenario is called a miss, but HOLDS: {what} is {found:.2}, {bound}."
        )),
        (false, None, true) => Some(format!(
            "A claim that is false on purpose was caught: {what} is {found:.2}, not {bound}."
        )),
        (true, None, true) => Some(format!(
            "A claim that is false on purpose was NOT caught: {what} is {found:.2}, {bound}."
        )),
        (false, None, false) if claimed.published.is_none() => {
            Some(format!("A claim of the scenario FAILS: {what} is {found:.2}, not {bound}."))
        }
        _ => None,
    }
}

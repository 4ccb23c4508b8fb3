//! The report as text.

use std::collections::BTreeMap;

use ::report::counted;
use ::report::profile::shortened;

#[cfg(feature = "record")]
use super::gain_text;
use super::{EstimateReport, Estimator, LossReport, Report, VictimReport, clock, error};

/// Rows of a table; the largest are shown.
const ROWS_MAX: usize = 15;
/// Programs that ran and waited less than this share of all CPU time are left out, and so are
/// losses below this share.
const SHOWN_MIN: f64 = 0.001;

/// Stacks, and functions of each, that are shown.
const STACKS_SHOWN: usize = 5;
const FUNCTIONS_SHOWN: usize = 3;

const ASSUMED: &str = "  * too few samples: taken not to use wide code itself (--rate, --runs)";
const AT_LEAST: &str =
    "  ≥ uses wide code itself, and nothing tells when: its own loss is not known";

/// A culprit that registers and classes do not show, as AVX2 code.
const UNKNOWN: &str = "A program that is not known";

const COLUMNS: &str = "\
CPU time and waiting are sums over threads. Clock: lost to a license level that the program does
not demand, because the culprit runs on a sibling, because it ran on the core before (hold), or
because the core is throttled on the way to the level (rise). Waited: runnable while the culprit
had the CPU. Shared core: what a busy sibling takes, by a model; part of the CPU time, as the
clock's is.";

/// The question, the victims, the culprits, and what the profile cost.
pub fn text(report: &Report) -> String {
    let mut lines = vec![question(report)];
    lines.extend(estimator(report));
    lines.push(String::new());
    lines.extend(victims(report));
    lines.push(String::new());
    lines.extend(losses(report));
    lines.extend(waits(report));
    lines.extend(answers(report));
    lines.extend(stacks(report));
    lines.extend(cost(report));
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    #[cfg(feature = "record")]
    lines.extend(report.gain.iter().flat_map(gain_text::lines));
    lines.join("\n") + "\n"
}

fn question(report: &Report) -> String {
    let Report { work, cpu, length_s, .. } = report;
    let cpus = counted(report.cpus as usize, "CPU");
    match (&report.scheduler, report.runs) {
        (Some(scheduler), Some(runs)) => {
            let runs = counted(runs as usize, "run");
            format!(
                "Simulated: {work}, under {scheduler} on {cpus} of {cpu}; {runs}, \
                 {length_s:.1} s in all"
            )
        }
        _ => format!("Recorded: {work}, {length_s:.1} s on {cpus}"),
    }
}

pub fn estimator(report: &Report) -> Vec<String> {
    let by_table = if report.is_own_table {
        format!("by the table {} of this CPU; no clock was measured", report.cpu)
    } else {
        format!("as if on {} (--cpu); no clock was measured", report.cpu)
    };
    let first = match (report.estimator, &report.samples) {
        (Estimator::Pauses, Some(samples)) => {
            let dropped = samples.switched + samples.held + samples.halted;
            let all = samples.taken + dropped + samples.idle;
            format!(
                "Estimated with pauses: {} samples, {:.0} a second; {dropped} without a result, \
                 as another task came, and {} of idle CPUs",
                samples.taken,
                all as f64 / report.length_s,
                samples.idle,
            )
        }
        (Estimator::Clock, Some(samples)) => clock::estimator(report, samples),
        (Estimator::Pauses | Estimator::Counters | Estimator::Clock, _) => {
            "Estimated without pauses, from counters at switches".to_owned()
        }
        (Estimator::Classes, _) => format!("Clock: from the classes of tasks, {by_table}"),
        (Estimator::Registers, _) => {
            format!("Clock: from 512-bit registers at switches, {by_table}")
        }
        (Estimator::NoLevels, _) => {
            "Clock: nothing to gain. AMD's cores have no license levels, which wide code of one \
             program could leave to another (what if they had: --cpu xeon-gold-6130 \
             --class 'NAME*=avx512-heavy')"
                .to_owned()
        }
        (Estimator::NoneShown, _) => {
            "Clock: not estimated. No task left a CPU with 512-bit registers; 256-bit code, and a \
             CPU without AVX-512, do not show (--class 'NAME*=avx2-heavy' says more)"
                .to_owned()
        }
        (Estimator::NotRecorded, _) => {
            "Clock: not estimated. The recording has no registers (evenkeel trace record has), and \
             no --class says which program uses wide code"
                .to_owned()
        }
    };
    let first = first + &error::sentence(report);
    let siblings = "Shared core: not known which CPUs share one (--set threads-per-core=2 says it)";
    let mut lines = vec![first];
    if !report.knows_siblings {
        lines.push(siblings.to_owned());
    }
    lines
}

pub fn has_clock(report: &Report) -> bool {
    use Estimator::{NoLevels, NoneShown, NotRecorded};
    !matches!(report.estimator, NoLevels | NoneShown | NotRecorded)
}

fn victims(report: &Report) -> Vec<String> {
    let has_truth = report.victims.iter().any(|victim| victim.true_overhead_pct.is_some());
    let mut lines = vec![format!(
        "{:20}{:>11}{:>10}{:>12}{:>11}{:>15}{}  {}",
        "program",
        "CPU time s",
        "waited s",
        "to clock s",
        "longer by",
        "95 %",
        if has_truth { "     true" } else { "" },
        "demands"
    )];
    let least_s = SHOWN_MIN * all_cpu_time_s(report);
    let is_in_focus =
        |it: &VictimReport| report.focus.is_empty() || report.focus.contains(&it.name);
    let is_shown = |it: &&VictimReport| it.cpu_time_s + it.waited_s >= least_s && is_in_focus(it);
    let mut shown: Vec<&VictimReport> = report.victims.iter().filter(is_shown).collect();
    if !has_truth {
        shown.sort_by(|a, b| b.cpu_time_s.total_cmp(&a.cpu_time_s));
    }
    shown.truncate(ROWS_MAX);
    lines.extend(shown.iter().map(|it| victim(it, has_clock(report))));
    let of_focus = report.victims.iter().filter(|it| is_in_focus(it)).count();
    if shown.len() < of_focus {
        let others = of_focus - shown.len();
        lines.push(format!("… and {others} more (--json has all)"));
    }
    for (basis, words) in [("assumed", ASSUMED), ("at least", AT_LEAST)] {
        if shown.iter().any(|victim| victim.basis == basis) {
            lines.push(words.to_owned());
        }
    }
    lines
}

fn victim(victim: &VictimReport, has_clock: bool) -> String {
    let overhead = &victim.overhead_pct;
    let lost_s = plain(victim.lost_s.value);
    let (lost, longer, between) = match (has_clock, victim.basis) {
        (false, _) => ("-".to_owned(), "-  ".to_owned(), String::new()),
        (true, "unknown") => ("-".to_owned(), "-  ".to_owned(), "not known".to_owned()),
        (true, "at least") => {
            (format!("≥ {lost_s:.3}"), format!("≥ {:.1} %", overhead.value), String::new())
        }
        (true, "table") => {
            (format!("{lost_s:.3}"), format!("{:.1} %", overhead.value), String::new())
        }
        (true, "assumed") => {
            (format!("{lost_s:.3}"), format!("*{:.1} %", overhead.value), String::new())
        }
        (true, _) => {
            (format!("{lost_s:.3}"), format!("{:.1} %", overhead.value), interval(overhead))
        }
    };
    let truth = victim.true_overhead_pct.map(|pct| format!("{pct:>7.1} %")).unwrap_or_default();
    let demands = if has_clock { victim.demands.as_str() } else { "-" };
    format!(
        "{:20}{:>11.3}{:>10.3}{lost:>12}{longer:>11}{between:>15}{truth}  {demands}",
        name(&victim.name, 19),
        victim.cpu_time_s,
        victim.waited_s,
    )
}

fn interval(estimate: &EstimateReport) -> String {
    format!("[{:.1}, {:.1}]", estimate.low, estimate.high)
}

fn losses(report: &Report) -> Vec<String> {
    let least_s = SHOWN_MIN * all_cpu_time_s(report);
    let clock_s = |it: &LossReport| it.lost_s.value.max(it.true_lost_s.unwrap_or_default());
    let is_in_focus = |it: &LossReport| {
        report.focus.is_empty()
            || report.focus.contains(&it.victim)
            || it.culprit.as_ref().is_some_and(|culprit| report.focus.contains(culprit))
    };
    let is_shown = |it: &&LossReport| {
        it.all_s().max(clock_s(it)) >= least_s && it.all_s() > 0.0 && is_in_focus(it)
    };
    let shown: Vec<&LossReport> = report.losses.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let has_truth = shown.iter().any(|it| it.true_lost_s.is_some());
    let mut lines = vec![format!(
        "{:20}{:20}{:>9}{}{:>9}{:>6}{:>6}{:>10}{:>13}",
        "loses, in s",
        "to",
        "clock",
        if has_truth { "    true" } else { "" },
        "sibling",
        "hold",
        "rise",
        "waited",
        "shared core"
    )];
    lines.extend(shown.iter().take(ROWS_MAX).map(|it| loss(it, has_clock(report))));
    if shown.len() > ROWS_MAX {
        lines.push(format!("… and {} more (--json has all)", shown.len() - ROWS_MAX));
    }
    lines.extend([String::new(), COLUMNS.to_owned()]);
    lines
}

fn loss(loss: &LossReport, has_clock: bool) -> String {
    let culprit = loss.culprit.as_deref().map_or("(unknown)".to_owned(), |it| name(it, 19));
    // Of what is printed as 0.000 there are no parts.
    let of_all = |part_s: f64| match loss.lost_s.value {
        ..0.0005 => String::new(),
        all_s => format!("{:.0} %", 100.0 * part_s / all_s),
    };
    let clock = if has_clock { format!("{:.3}", plain(loss.lost_s.value)) } else { "-".to_owned() };
    format!(
        "{:20}{culprit:20}{clock:>9}{}{:>9}{:>6}{:>6}{:>10.3}{:>13.3}",
        name(&loss.victim, 19),
        loss.true_lost_s.map(|lost_s| format!("{lost_s:>8.3}")).unwrap_or_default(),
        of_all(loss.by_sibling_s),
        of_all(loss.by_hold_s),
        of_all(loss.by_transition_s),
        loss.waited_s,
        loss.by_shared_core_s,
    )
}

/// The longest wait of a program for another, in a sentence.
fn waits(report: &Report) -> Vec<String> {
    let is_wait = |it: &&LossReport| it.culprit.as_ref().is_some_and(|it_to| *it_to != it.victim);
    let is_meant = |it: &&LossReport| report.focus.is_empty() || report.focus.contains(&it.victim);
    // What the measurement itself took is no finding.
    let is_finding = |it: &&LossReport| it.culprit.as_deref() != Some("evenkeel");
    let waits = report.losses.iter().filter(is_wait).filter(is_meant).filter(is_finding);
    let Some(longest) = waits.max_by(|a, b| a.waited_s.total_cmp(&b.waited_s)) else {
        return Vec::new();
    };
    if report.scheduler.is_some() || longest.waited_s < SHOWN_MIN * all_cpu_time_s(report) {
        return Vec::new();
    }
    let all_s = report.victims.iter().find(|it| it.name == longest.victim);
    let all_s = all_s.map_or(0.0, |it| it.cpu_time_s + it.waited_s);
    vec![
        String::new(),
        format!(
            "{} waited {:.3} s for a CPU that {} had: {:.0} % of the time that it was runnable.",
            name(&longest.victim, 40),
            longest.waited_s,
            name(longest.culprit.as_deref().unwrap_or_default(), 40),
            100.0 * longest.waited_s / all_s
        ),
    ]
}

/// Where wide code was called.
fn stacks(report: &Report) -> Vec<String> {
    if report.stacks.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!("{:20}{:>7}{:>12}  innermost functions", "wide code of", "seen", "cost s"),
    ];
    lines.extend(report.stacks.iter().take(STACKS_SHOWN).map(|stack| {
        let from = stack.functions.len().saturating_sub(FUNCTIONS_SHOWN);
        let functions = stack.functions[from..].join(" > ");
        format!(
            "{:20}{:>7}{:>12.3}  {functions}",
            name(&stack.culprit, 19),
            stack.count,
            stack.lost_s
        )
    }));
    lines
}

/// What each culprit cost others, in a sentence.
fn answers(report: &Report) -> Vec<String> {
    if !has_clock(report) {
        return Vec::new();
    }
    if let Some(answer) = clock::answer(report) {
        return vec![String::new(), answer];
    }
    let mut by_culprit: BTreeMap<&str, f64> = BTreeMap::new();
    for loss in &report.losses {
        if loss.culprit.as_ref() != Some(&loss.victim) {
            let culprit = loss.culprit.as_deref().unwrap_or(UNKNOWN);
            *by_culprit.entry(culprit).or_default() += loss.lost_s.value;
        }
    }
    let least_s = SHOWN_MIN * all_cpu_time_s(report);
    let mut by_culprit: Vec<(&str, f64)> =
        by_culprit.into_iter().filter(|&(_, lost_s)| lost_s >= least_s).collect();
    by_culprit.sort_by(|a, b| b.1.total_cmp(&a.1));
    if by_culprit.is_empty() {
        return vec![String::new(), no_loss(report, least_s)];
    }
    let sentence = |(culprit, lost_s): (&str, f64)| {
        let others_s: f64 = report
            .victims
            .iter()
            .filter(|victim| victim.name != culprit)
            .map(|victim| victim.cpu_time_s)
            .sum();
        let culprit = name(culprit, 40);
        let share_pct = 100.0 * lost_s / others_s;
        format!(
            "{culprit} cost other programs {lost_s:.3} s by the clock: {share_pct:.1} % of their \
             CPU time."
        )
    };
    [String::new()].into_iter().chain(by_culprit.into_iter().take(3).map(sentence)).collect()
}

/// Without a loss that is known: a program whose own loss is not known may have one.
fn no_loss(report: &Report, least_s: f64) -> String {
    let is_open = |it: &&VictimReport| it.basis == "at least" && it.cpu_time_s >= least_s;
    match report.victims.iter().find(is_open) {
        Some(victim) => format!(
            "What {} loses to the clock is not known: it uses wide code itself, and nothing tells \
             when; pauses measure it.",
            name(&victim.name, 40)
        ),
        None => "No program loses a thousandth of all CPU time to the clock of another.".to_owned(),
    }
}

fn cost(report: &Report) -> Option<String> {
    let change = report.longer_by_profiling_pct?;
    let paused_pct = report.paused_pct?;
    let chance = if change.low.is_finite() {
        format!("95 %: {:+.1} to {:+.1}", change.low, change.high)
    } else {
        "of one run, so chance is not known".to_owned()
    };
    Some(format!(
        "Profiling changed the time of the runs by {:+.1} % ({chance}), and paused each core for \
         {paused_pct:.2} % of the time.",
        change.value
    ))
}

/// To three digits, and never -0.
fn plain(value: f64) -> f64 {
    (value * 1e3).round() / 1e3 + 0.0
}

fn all_cpu_time_s(report: &Report) -> f64 {
    report.victims.iter().map(|victim| victim.cpu_time_s).sum()
}

/// The name, cut to `most` characters; a placeholder for an empty name.
pub fn name(text: &str, most: usize) -> String {
    if text.trim().is_empty() {
        return "(no name)".to_owned();
    }
    shortened(text, most)
}

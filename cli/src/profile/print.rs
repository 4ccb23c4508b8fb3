//! The report as text.

use ::report::counted;
use ::report::profile::{SHOWN_MIN, View, answer, shortened};

#[cfg(feature = "record")]
use super::gain_text;
use super::{EstimateReport, LossReport, Report, VictimReport, estimator};

/// Rows of a table; the largest are shown.
const ROWS_MAX: usize = 15;
/// A smaller time in s is printed as 0.000.
const LEAST_S: f64 = 0.0005;

/// Stacks, and functions of each, that are shown.
const STACKS_SHOWN: usize = 5;
const FUNCTIONS_SHOWN: usize = 3;

const ASSUMED: &str = "  * too few samples: taken not to use wide code itself (--rate, --runs)";
const AT_LEAST: &str =
    "  ≥ uses wide code itself, and nothing tells when: its own loss is not known";

/// What the columns of the losses mean, a line each; only of those that are shown.
const CLOCK_COLUMNS: &str = "Clock: CPU time lost to a lower clock than the program's own code \
                             demands, because the culprit runs on a sibling, because it ran on the \
                             core before (hold), or because the core is throttled on the way to \
                             that clock (rise).";
const LONGER_COLUMN: &str = "Longer by: than the same work without the loss; a program that loses \
                             a fifth of its CPU time works for a quarter longer.";
const WAITED_COLUMN: &str = "Waited: runnable while the culprit had the CPU; a sum over threads, \
                             as CPU time is.";
const SHARED_CORE_COLUMN: &str = "Shared core: part of the CPU time that a busy sibling takes, by \
                                  a model.";

const UNKNOWN_CULPRIT: &str = "(unknown): the CPU on which the program ran in the end was idle \
                               while it waited, as while that CPU wakes up; of the clock, no task \
                               on the core is known to lower it.";

/// The question, the victims, the culprits, the answer of the view, and what the profile cost.
pub fn text(report: &Report, view: &View) -> String {
    let mut lines = vec![question(report)];
    lines.extend(estimator::sentences(report));
    lines.push(String::new());
    lines.extend(victims(report));
    lines.push(String::new());
    lines.extend(losses(report));
    lines.push(String::new());
    lines.extend(answer(view));
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
    let cpu = cpu.as_deref().unwrap_or_default();
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

fn victims(report: &Report) -> Vec<String> {
    let has_truth = report.victims.iter().any(|victim| victim.true_overhead_pct.is_some());
    let has_clock = estimator::has_clock(report);
    let has_samples = report.samples.is_some();
    let mut head = format!("{:20}{:>11}{:>10}", report.by, "CPU time s", "waited s");
    if has_clock {
        head += &format!("{:>12}{:>11}{:>15}", "to clock s", "longer by", "95 %");
        head += if has_truth { "     true" } else { "" };
        head += if has_samples { "  pauses" } else { "" };
        head += if report.cpu.is_some() { "  demands" } else { "" };
    }
    let mut lines = vec![head];
    let least_s = SHOWN_MIN * all_cpu_time_s(report);
    let is_in_focus =
        |it: &VictimReport| report.focus.is_empty() || report.focus.contains(&it.name);
    let is_shown = |it: &&VictimReport| it.cpu_time_s + it.waited_s >= least_s && is_in_focus(it);
    let mut shown: Vec<&VictimReport> = report.victims.iter().filter(is_shown).collect();
    if !has_truth {
        shown.sort_by(|a, b| b.cpu_time_s.total_cmp(&a.cpu_time_s));
    }
    shown.truncate(ROWS_MAX);
    lines.extend(shown.iter().map(|it| victim(it, has_clock, has_samples)));
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

fn victim(victim: &VictimReport, has_clock: bool, has_samples: bool) -> String {
    let used = format!(
        "{:20}{:>11.3}{:>10.3}",
        name(&victim.name, 19),
        victim.cpu_time_s,
        victim.waited_s
    );
    if !has_clock {
        return used;
    }
    let overhead = &victim.overhead_pct;
    let lost_s = plain(victim.lost_s.value);
    let (lost, longer, between) = match victim.basis {
        "unknown" => ("-".to_owned(), "-  ".to_owned(), "not known".to_owned()),
        "at least" => {
            (format!("≥ {lost_s:.3}"), format!("≥ {:.1} %", overhead.value), String::new())
        }
        "table" => (format!("{lost_s:.3}"), format!("{:.1} %", overhead.value), String::new()),
        "assumed" => (format!("{lost_s:.3}"), format!("*{:.1} %", overhead.value), String::new()),
        _ => (format!("{lost_s:.3}"), format!("{:.1} %", overhead.value), interval(overhead)),
    };
    let truth = victim.true_overhead_pct.map(|pct| format!("{pct:>7.1} %")).unwrap_or_default();
    let samples = if has_samples { format!("{:>8}", victim.samples) } else { String::new() };
    let demands = victim.demands.as_ref().map(|it| format!("  {it}")).unwrap_or_default();
    format!("{used}{lost:>12}{longer:>11}{between:>15}{truth}{samples}{demands}")
}

fn interval(estimate: &EstimateReport) -> String {
    format!("[{:.1}, {:.1}]", estimate.low, estimate.high)
}

fn losses(report: &Report) -> Vec<String> {
    let least_s = SHOWN_MIN * all_cpu_time_s(report);
    let is_in_focus = |it: &LossReport| {
        report.focus.is_empty()
            || report.focus.contains(&it.victim)
            || it.culprit.as_ref().is_some_and(|culprit| report.focus.contains(culprit))
    };
    let is_shown = |it: &&LossReport| {
        it.all_s().max(it.clock_s()) >= least_s && it.all_s() > 0.0 && is_in_focus(it)
    };
    let shown: Vec<&LossReport> = report.losses.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let columns = Columns {
        clock: estimator::has_clock(report),
        truth: shown.iter().any(|it| it.true_lost_s.is_some()),
        shared_core: shown.iter().any(|it| it.by_shared_core_s >= LEAST_S),
    };
    let mut lines = vec![columns.head()];
    lines.extend(shown.iter().take(ROWS_MAX).map(|it| columns.row(it)));
    if shown.len() > ROWS_MAX {
        lines.push(format!("… and {} more (--json has all)", shown.len() - ROWS_MAX));
    }
    lines.push(String::new());
    let clock = columns.clock.then_some(CLOCK_COLUMNS);
    let shared_core = columns.shared_core.then_some(SHARED_CORE_COLUMN);
    let unknown = shown.iter().any(|it| it.culprit.is_none()).then_some(UNKNOWN_CULPRIT);
    let longer = columns.clock.then_some(LONGER_COLUMN);
    let notes = [longer, clock, Some(WAITED_COLUMN), shared_core, unknown];
    lines.extend(notes.into_iter().flatten().map(str::to_owned));
    lines
}

/// The columns of the losses that a report has.
struct Columns {
    clock: bool,
    truth: bool,
    shared_core: bool,
}

impl Columns {
    fn head(&self) -> String {
        let mut head = format!("{:20}{:20}", "loses, in s", "to");
        if self.clock {
            head += &format!("{:>9}", "clock");
            head += if self.truth { "    true" } else { "" };
            head += &format!("{:>9}{:>6}{:>6}", "sibling", "hold", "rise");
        }
        head += &format!("{:>10}", "waited");
        head + if self.shared_core { "  shared core" } else { "" }
    }

    fn row(&self, loss: &LossReport) -> String {
        let culprit = loss.culprit.as_deref().map_or("(unknown)".to_owned(), |it| name(it, 19));
        let mut row = format!("{:20}{culprit:20}", name(&loss.victim, 19));
        if self.clock {
            // Of what is printed as 0.000 there are no parts.
            let of_all = |part_s: f64| match loss.lost_s.known() {
                ..LEAST_S => String::new(),
                all_s => format!("{:.0} %", 100.0 * part_s / all_s),
            };
            row += &match loss.lost_s.value {
                lost_s if lost_s.is_finite() => format!("{:>9.3}", plain(lost_s)),
                _ => format!("{:>9}", "-"),
            };
            row += &loss.true_lost_s.map(|lost_s| format!("{lost_s:>8.3}")).unwrap_or_default();
            row += &format!(
                "{:>9}{:>6}{:>6}",
                of_all(loss.by_sibling_s),
                of_all(loss.by_hold_s),
                of_all(loss.by_transition_s)
            );
        }
        row += &format!("{:>10.3}", loss.waited_s);
        if self.shared_core {
            row += &format!("{:>13.3}", loss.by_shared_core_s);
        }
        row
    }
}

/// Where wide code was called.
fn stacks(report: &Report) -> Vec<String> {
    if report.stacks.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!("{:20}{:>7}{:>12}  innermost functions", "wide code of", "times", "cost s"),
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

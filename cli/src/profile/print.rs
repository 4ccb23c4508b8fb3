//! The report as text.

use super::{EstimateReport, Estimator, LossReport, Report, VictimReport};

/// Rows of a table; the largest are shown.
const ROWS_MAX: usize = 15;
/// Programs and losses below these shares of all CPU time are left out.
const PROGRAM_MIN: f64 = 0.002;
const LOSS_MIN: f64 = 0.001;

/// Marks of estimates that are not measured.
const BASES: [(&str, &str, &str); 2] = [
    ("assumed", "*", "too few samples: taken to demand no level itself"),
    (
        "at least",
        "+",
        "at least: demands a level itself, nothing tells when, and is not taken for its victim",
    ),
];

const COLUMNS: &str = "\
Lower clock: above its own demand, while the culprit ran on a sibling, after it had run on the core
(hold), or while the core was throttled or halted. Waited: runnable while the culprit had the CPU.
Shared core: by a model, what a busy sibling takes.";

/// The question, the victims, the culprits, and what the profile cost.
pub fn text(report: &Report) -> String {
    let mut lines = vec![question(report), estimator(report), String::new()];
    lines.extend(victims(report));
    lines.push(String::new());
    lines.extend(losses(report));
    if let Some(longer_pct) = report.longer_by_profiling_pct
        && let Some(samples) = &report.samples
    {
        lines.push(format!(
            "Profiling changed the time of the runs by {longer_pct:+.2} %, and paused cores for \
             {:.1} ms a second.",
            samples.paused_ns as f64 / 1e6 / report.length_s
        ));
    }
    lines.join("\n") + "\n"
}

fn question(report: &Report) -> String {
    let Report { work, cpu, cpus, length_s, .. } = report;
    match (&report.scheduler, report.runs) {
        (Some(scheduler), Some(runs)) => format!(
            "Simulated: {work}, under {scheduler} on {cpus} CPUs of {cpu}; {runs} runs, \
             {length_s:.1} s in all"
        ),
        _ => format!("Recorded: {work}, {length_s:.1} s on {cpus} CPUs"),
    }
}

fn estimator(report: &Report) -> String {
    let by_table = format!("as if on {} (--cpu); no clock was measured", report.cpu);
    match (report.estimator, &report.samples) {
        (Estimator::Pauses, Some(samples)) => {
            let dropped = samples.switched + samples.held + samples.halted;
            format!(
                "Estimated with pauses: {} samples, {dropped} dropped, {} of idle CPUs; {} a \
                 second",
                samples.taken,
                samples.idle,
                report.rate_per_s.unwrap_or_default()
            )
        }
        (Estimator::Pauses | Estimator::Counters, _) => {
            "Estimated without pauses, from counters at switches".to_owned()
        }
        (Estimator::Classes, _) => format!("Lower clock: from the classes of tasks, {by_table}"),
        (Estimator::Registers, _) => {
            format!("Lower clock: from 512-bit registers at switches, {by_table}")
        }
        (Estimator::Waits, _) => {
            "Lower clock: no task shows 512-bit code (--class says which program has wide code)"
                .to_owned()
        }
    }
}

fn victims(report: &Report) -> Vec<String> {
    let has_truth = report.victims.iter().any(|victim| victim.true_overhead_pct.is_some());
    let mut lines = vec![format!(
        "{:24}{:>11}{:>10}{:>12}{:>16}{}  {}",
        "program",
        "CPU time s",
        "waited s",
        "longer by",
        "95 %",
        if has_truth { "     true" } else { "" },
        "demands"
    )];
    let least_s = PROGRAM_MIN * all_cpu_time_s(report);
    let is_shown = |it: &&VictimReport| it.cpu_time_s >= least_s;
    let mut shown: Vec<&VictimReport> = report.victims.iter().filter(is_shown).collect();
    if !has_truth {
        shown.sort_by(|a, b| b.cpu_time_s.total_cmp(&a.cpu_time_s));
    }
    let shown = &shown[..shown.len().min(ROWS_MAX)];
    lines.extend(shown.iter().map(|it| victim(it)));
    if shown.len() < report.victims.len() {
        let others = report.victims.len() - shown.len();
        lines.push(format!("… and {others} that hardly ran (--json has all)"));
    }
    for (basis, mark, words) in BASES {
        if shown.iter().any(|victim| victim.basis == basis) {
            lines.push(format!("  {mark} {words}"));
        }
    }
    lines
}

fn victim(victim: &VictimReport) -> String {
    let marked = BASES.iter().find(|&&(basis, ..)| basis == victim.basis);
    let mark = marked.map_or("", |&(_, mark, _)| mark);
    let truth = victim.true_overhead_pct.map(|pct| format!("{pct:>7.1} %")).unwrap_or_default();
    format!(
        "{:24}{:>11.2}{:>10.2}{:>10.1} %{:>16}{truth}  {}",
        shortened(&format!("{}{mark}", victim.name), 23),
        victim.cpu_time_s,
        victim.waited_s,
        victim.overhead_pct.value,
        interval(&victim.overhead_pct),
        victim.demands,
    )
}

fn interval(estimate: &EstimateReport) -> String {
    format!("[{:.1}, {:.1}]", estimate.low, estimate.high)
}

fn losses(report: &Report) -> Vec<String> {
    let least_s = LOSS_MIN * all_cpu_time_s(report);
    let is_shown = |it: &&LossReport| it.all_s() >= least_s && it.all_s() > 0.0;
    let shown: Vec<&LossReport> = report.losses.iter().filter(is_shown).collect();
    let mut lines = Vec::new();
    if report.losses.iter().all(|it| it.lost_s.value == 0.0) {
        lines.push("Nothing is lost to a lower clock.".to_owned());
    }
    if shown.is_empty() {
        return lines;
    }
    let has_truth = shown.iter().any(|it| it.true_lost_s.is_some());
    lines.push(format!(
        "{:36}{:>13}{}{:>9}{:>7}{:>10}{:>13}",
        "lost to, in s",
        "lower clock",
        if has_truth { "    true" } else { "" },
        "sibling",
        "hold",
        "waited",
        "shared core"
    ));
    lines.extend(shown.iter().take(ROWS_MAX).map(|it| loss(it)));
    if shown.len() > ROWS_MAX {
        lines.push(format!("… and {} more (--json has all)", shown.len() - ROWS_MAX));
    }
    lines.extend([String::new(), COLUMNS.to_owned()]);
    lines
}

fn all_cpu_time_s(report: &Report) -> f64 {
    report.victims.iter().map(|victim| victim.cpu_time_s).sum()
}

fn loss(loss: &LossReport) -> String {
    let culprit = loss.culprit.as_deref().unwrap_or("unknown");
    // Of what is printed as 0.00 there are no parts.
    let of_all = |part_s: f64| match loss.lost_s.value {
        ..0.005 => String::new(),
        all_s => format!("{:.0} %", 100.0 * part_s / all_s),
    };
    format!(
        "{:36}{:>13.2}{}{:>9}{:>7}{:>10.2}{:>13.2}",
        shortened(&format!("{} to {culprit}", loss.victim), 35),
        loss.lost_s.value,
        loss.true_lost_s.map(|lost_s| format!("{lost_s:>8.2}")).unwrap_or_default(),
        of_all(loss.by_sibling_s),
        of_all(loss.by_hold_s),
        loss.waited_s,
        loss.by_shared_core_s,
    )
}

/// At most so many characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

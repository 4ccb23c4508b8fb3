//! The report as text.

use super::{EstimateReport, LossReport, Report, VictimReport};

/// The question, the victims, the culprits, and what the profile cost.
pub fn text(report: &Report) -> String {
    let mut lines = vec![question(report), estimator(report), String::new()];
    lines.push(format!(
        "{:24}{:>11}{:>9}{:>11}{:>16}{:>9}  {}",
        "lost to a lower clock", "CPU time s", "waited s", "longer by", "95 %", "true", "demands"
    ));
    lines.extend(report.victims.iter().map(victim));
    for (basis, mark, words) in BASES {
        if report.victims.iter().any(|victim| victim.basis == basis) {
            lines.push(format!("  {mark} {words}"));
        }
    }
    lines.push(String::new());
    let shown: Vec<String> =
        report.losses.iter().filter(|it| is_shown(it, report)).map(loss).collect();
    if shown.is_empty() {
        lines.push("Nothing is lost: no task ran at a level that it does not demand.".to_owned());
    } else {
        lines.push(format!(
            "{:40}{:>8}{:>8}{:>12}{:>11}{:>14}",
            "caused by", "lost s", "true", "by sibling", "by hold", "by transition"
        ));
        lines.extend(shown);
        lines.push(String::new());
        lines.push(BY_WORDS.to_owned());
    }
    lines.push(cost(report));
    lines.join("\n") + "\n"
}

/// Marks of estimates that are not measured.
const BASES: [(&str, &str, &str); 2] = [
    ("assumed", "*", "too few samples: taken to demand no level itself"),
    (
        "at least",
        "+",
        "at least: demands a level itself, nothing tells when, and is not taken for its victim",
    ),
];
/// Losses below this share of the victim's CPU time are left out.
const SHOWN_MIN: f64 = 0.001;

const BY_WORDS: &str = "\
By sibling: the culprit ran beside it. By hold: the culprit had run there before. By transition: \
the core was throttled or halted.";

fn question(report: &Report) -> String {
    let Report { work, scheduler, cpu, cpus, runs, simulated_s, .. } = report;
    format!(
        "Simulated: {work}, under {scheduler} on {cpus} CPUs of {cpu}; {runs} runs, \
         {simulated_s:.1} s in all"
    )
}

fn estimator(report: &Report) -> String {
    let samples = &report.samples;
    if report.estimator == "counters" {
        return "Estimated without pauses, from counters at switches".to_owned();
    }
    let dropped = samples.switched + samples.held + samples.halted;
    format!(
        "Estimated with pauses: {} samples, {dropped} dropped, {} of idle CPUs; {} a second",
        samples.taken, samples.idle, report.rate_per_s
    )
}

fn victim(victim: &VictimReport) -> String {
    let marked = BASES.iter().find(|&&(basis, ..)| basis == victim.basis);
    let mark = marked.map_or("", |&(_, mark, _)| mark);
    format!(
        "{:24}{:>11.2}{:>9.2}{:>9.1} %{:>16}{:>7.1} %  {}",
        shortened(&format!("{}{mark}", victim.name), 23),
        victim.cpu_time_s,
        victim.waited_s,
        victim.overhead_pct.value,
        interval(&victim.overhead_pct),
        victim.true_overhead_pct,
        victim.demands,
    )
}

fn is_shown(loss: &LossReport, report: &Report) -> bool {
    let victim = report.victims.iter().find(|victim| victim.name == loss.victim);
    victim.is_some_and(|victim| loss.lost_s.value >= SHOWN_MIN * victim.cpu_time_s)
}

fn interval(estimate: &EstimateReport) -> String {
    format!("[{:.1}, {:.1}]", estimate.low, estimate.high)
}

fn loss(loss: &LossReport) -> String {
    let culprit = loss.culprit.as_deref().unwrap_or("unknown");
    let of_all = |part_s: f64| format!("{:.0} %", 100.0 * part_s / loss.lost_s.value);
    format!(
        "{:40}{:>8.2}{:>8.2}{:>12}{:>11}{:>14}",
        shortened(&format!("{} by {culprit}", loss.victim), 39),
        loss.lost_s.value,
        loss.true_lost_s,
        of_all(loss.by_sibling_s),
        of_all(loss.by_hold_s),
        of_all(loss.by_transition_s),
    )
}

fn cost(report: &Report) -> String {
    if report.estimator == "counters" {
        return "Reading counters at switches is not part of the simulation.".to_owned();
    }
    format!(
        "Profiling changed the time of the runs by {:+.2} %, and paused cores for {:.1} ms a \
         second.",
        report.longer_by_profiling_pct,
        report.samples.paused_ns as f64 / 1e6 / report.simulated_s
    )
}

/// At most so many characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

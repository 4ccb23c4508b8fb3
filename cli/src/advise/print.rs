//! The report as text.

use silicon::Estimate;
use silicon::advice::{NO_DIFFERENCE_POINTS, Verdict};

use super::Report;

/// The question, the table, the answer, and its limits.
pub fn text(report: &Report) -> String {
    let mut lines = vec![question(report), String::new()];
    lines.push(format!("{:34}{:>9}{:>20}", "work a second, by specialization", "change", "95 %"));
    if let Some(advice) = &report.switched {
        let pairs = format!("{} pairs of windows of {} ms", advice.pairs.len(), report.window_ms);
        lines.push(row("switched off and on", &advice.change_pct, &pairs));
    }
    if let Some(whole) = &report.whole_runs {
        let seeds = format!("{} seeds", whole.change_pct.samples);
        lines.push(row("whole runs with and without", &whole.change_pct, &seeds));
    }
    if let Some(why) = &report.not_switched {
        lines.push(format!("Not switched off and on: {why}."));
    }
    lines.push(String::new());
    if let Some((verdict, change)) = judged(report) {
        lines.push(sentence(verdict, change));
    }
    lines.push(format!("Counted: {}.", report.counted));
    lines.push(limits(report).to_owned());
    lines.join("\n") + "\n"
}

fn question(report: &Report) -> String {
    match (&report.work, &report.cpu) {
        (Some(work), Some(cpu)) => format!(
            "Does core specialization pay? Simulated: {work}, under {} on {cpu}",
            report.scheduler
        ),
        _ => format!(
            "Does core specialization pay here? Measured under scx_evenkeel --mode {}",
            report.scheduler
        ),
    }
}

fn row(name: &str, change: &Estimate, of: &str) -> String {
    let interval = format!("[{:+.1}, {:+.1}]", change.low, change.high);
    format!("{name:34}{:>+7.1} %{interval:>20}  {of}", change.value)
}

/// The verdict and its change: of a simulation that of whole runs, which is the surer one.
fn judged(report: &Report) -> Option<(Verdict, &Estimate)> {
    let whole = report.whole_runs.as_ref().map(|whole| (whole.verdict, &whole.change_pct));
    whole.or(report.switched.as_ref().map(|advice| (advice.verdict, &advice.change_pct)))
}

fn sentence(verdict: Verdict, change: &Estimate) -> String {
    let value = change.value.abs();
    match verdict {
        Verdict::Pays => format!("It pays: {value:.1} % more work is done with specialization."),
        Verdict::Harms => format!(
            "It costs {value:.1} % of the work. --mode even gives lost time back without moving \
             tasks to other cores."
        ),
        Verdict::NoDifference => {
            format!("It makes no difference: less than {NO_DIFFERENCE_POINTS} % of the work.")
        }
        Verdict::Undecided => "Undecided: the interval holds zero and is not narrow. More --pairs \
                               or a load that varies less would narrow it."
            .to_owned(),
    }
}

fn limits(report: &Report) -> &'static str {
    if report.work.is_some() {
        "It is a prediction: schedulers cost no time of their own in the model, and caches as \
         much as the working sets that the work names."
    } else {
        "It holds for the programs that ran meanwhile. Tasks that never wait for a CPU stay where \
         specialization put them, so a machine with idle CPUs may gain more. Loops that wait for a \
         lock count as work where instructions are counted."
    }
}

//! The report of a trial.

use sensors::facts::Scheduler;
use silicon::Estimate;
use silicon::trial::{AGREEMENT_POINTS, HALF_WIDTH_POINTS_MAX, Verdict};

use super::Report;
use super::pair::HiddenBy;

/// The sentence, the table, the rule, and the limits of the proof.
pub fn text(report: &Report) -> String {
    let mut lines = vec![sentence(report), String::new()];
    lines.push(format!(
        "{:24}{:>10}{:>22}{:>8}",
        "victim's progress", "change", "95 % interval", "pairs"
    ));
    lines.push(row("measured", &report.trial.change_pct));
    if let Some(placebo) = &report.trial.placebo_pct {
        lines.push(row("placebo, no change", placebo));
    }
    if let Some(said) = &report.prediction {
        lines.push(format!("{:24}{:>+8.1} %", "predicted", said.change_pct));
    }
    if let Some(why) = &report.unpredicted {
        lines.push(format!("Nothing was predicted: {why}."));
    }
    lines.push(String::new());
    let share = report.trial.pairs.iter().map(|pair| pair.cpu_share).sum::<f64>()
        / report.trial.pairs.len() as f64;
    lines.push(format!(
        "Victim on CPU {} with {:.0} % of it, culprit on CPU {}; {} on Linux {}; blocks of \
         {} ms.",
        report.victim_cpu,
        share * 100.0,
        report.culprit_cpu,
        scheduler(report),
        report.kernel,
        report.block_ms,
    ));
    lines.extend(report.hidden_by.map(|means| {
        let means = match means {
            HiddenBy::CpuidFaultingAndLibrarySwitches => "CPUID faulting and library switches",
            HiddenBy::LibrarySwitches => {
                "library switches (CPUID cannot fault here: evenkeel doctor says why)"
            }
        };
        format!("Wide instructions hidden by: {means}.")
    }));
    if report.trial.discarded > 0 {
        lines.push(format!(
            "{} pairs were thrown away: the victim got no CPU time in one of their blocks.",
            report.trial.discarded
        ));
    }
    lines.push(format!(
        "Rule, fixed beforehand: half-width <= {HALF_WIDTH_POINTS_MAX} points, or it is undecided; \
         the prediction within {AGREEMENT_POINTS} point or inside the interval."
    ));
    lines.push(format!("It does not prove: {}", not_proved(report)));
    lines.join("\n") + "\n"
}

fn sentence(report: &Report) -> String {
    let found = &report.trial.change_pct;
    let beside = format!("beside {} instead of {}", report.culprit, report.control);
    let measured = if found.half_width() > HALF_WIDTH_POINTS_MAX {
        format!(
            "undecided: {beside}, {} changes by something between {:+.1} and {:+.1} %; the noise \
             hides more, and more --pairs narrow it",
            report.victim, found.low, found.high
        )
    } else if found.contains(0.0) {
        format!(
            "no: {beside}, {} does as much a CPU second, within {:.1} points",
            report.victim,
            found.low.abs().max(found.high.abs())
        )
    } else {
        let word = if found.value < 0.0 { "less" } else { "more" };
        let yes = if found.value < 0.0 { "yes" } else { "no" };
        format!(
            "{yes}: {beside}, {} does {:.1} % {word} a CPU second",
            report.victim,
            found.value.abs()
        )
    };
    let Some((verdict, said)) = report.verdict.zip(report.prediction) else {
        return measured + ".";
    };
    let word = match verdict {
        Verdict::Undecided => "UNDECIDED, which is no pass",
        Verdict::Agrees => "AGREES",
        Verdict::Disagrees => "DISAGREES",
    };
    format!("{measured}; the model says {:+.1} %: {word}.", said.change_pct)
}

/// Name of the scheduler, and its timer interrupts a second.
fn scheduler(report: &Report) -> String {
    let name = match report.scheduler {
        Scheduler::Cfs => "cfs",
        Scheduler::Eevdf => "eevdf",
        Scheduler::SchedExt(name) => name,
    };
    report.hz.map_or_else(|| name.to_owned(), |hz| format!("{name} at HZ {hz}"))
}

fn row(name: &str, found: &Estimate) -> String {
    let interval = format!("{:+.1} .. {:+.1} %", found.low, found.high);
    format!("{name:24}{:>+8.1} %{interval:>22}{:>8}", found.value, found.samples)
}

/// The limits of one pair on one machine, most important first.
fn not_proved(report: &Report) -> String {
    let mut limits = Vec::new();
    let found = &report.trial.change_pct;
    if report.verdict == Some(Verdict::Agrees) && found.contains(0.0) {
        limits.push(
            "that the model is right about an effect, for there was none here to be right about"
                .to_owned(),
        );
    }
    if report.trial.placebo_pct.is_some_and(|placebo| !placebo.contains(0.0)) {
        limits.push("much at all: the placebo changed too, so the instrument is off".to_owned());
    }
    limits.push("anything about other pairs, other loads of the package, or other machines".into());
    limits.push(
        "where the time went: caches and power are shared as well as the clock's license".into(),
    );
    limits.join("; ") + "."
}

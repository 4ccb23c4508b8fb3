//! Findings as a table for a terminal: every estimate with its interval, and every omission.

use std::fmt::Write;

use super::words::{class_words, duration_words};
use crate::characterize::findings::{
    ClassFinding, Condition, Cost, Findings, Neighbour, RateFinding, Transition, Verdict,
};
use crate::statistics::Estimate;

/// The findings as text, the sentence first.
#[must_use]
pub fn table(findings: &Findings) -> String {
    let mut text = format!("{}\n\n", findings.sentence);
    let place = &findings.place;
    let _ = writeln!(
        text,
        "CPU {} ({}), {} bursts, {} of them interrupted by something else",
        place.cpu, place.cpu_name, findings.bursts, findings.bursts_interrupted
    );
    let _ = writeln!(
        text,
        "Medians with their 95 % intervals; [quartiles] for the clock of scalar code."
    );
    for condition in &findings.conditions {
        condition_rows(&mut text, condition);
    }
    for transition in &findings.transitions {
        transition_row(&mut text, transition);
    }
    for neighbour in &findings.neighbours {
        neighbour_row(&mut text, neighbour);
    }
    for rate in &findings.rates {
        rate_row(&mut text, rate);
    }
    for (title, lines) in
        [("Checks", &findings.checks), ("This machine does not show", &findings.hidden)]
    {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn condition_rows(text: &mut String, condition: &Condition) {
    let others = match condition.busy_others {
        0 => "No other core busy".to_owned(),
        1 => "1 other core busy".to_owned(),
        count => format!("{count} other cores busy"),
    };
    let scalar = condition.scalar_ghz;
    let _ = writeln!(
        text,
        "\n{others}: scalar code at {:.3} GHz [{:.3} to {:.3}], {} rounds",
        scalar.value, scalar.low, scalar.high, condition.rounds
    );
    for class in &condition.classes {
        class_rows(text, class);
    }
}

fn class_rows(text: &mut String, class: &ClassFinding) {
    let name = class_words(class.class);
    let clock = |ratio: Option<Estimate>| {
        ratio.map_or_else(
            || "clock not known".to_owned(),
            |ratio| {
                let percent = |value: f64| (value - 1.0) * 100.0;
                format!(
                    "clock {:+.2} % ({:+.2} to {:+.2})",
                    percent(ratio.value),
                    percent(ratio.low),
                    percent(ratio.high)
                )
            },
        )
    };
    let _ = match &class.verdict {
        Verdict::Affected => writeln!(text, "  {name:14} affected    {}", clock(class.ratio)),
        Verdict::Unaffected => writeln!(text, "  {name:14} unaffected  {}", clock(class.ratio)),
        Verdict::Hidden(reason) => writeln!(text, "  {name:14} hidden      {reason}"),
        Verdict::Unsupported(reason) => writeln!(text, "  {name:14} {reason}"),
    };
    let mut more = |line: String| {
        let _ = writeln!(text, "  {:14}   {line}", "");
    };
    if let Some(hold) = &class.hold {
        more(format!(
            "stays low {}; deciles {} to {}; not back {}, interrupted {}, unclear {}",
            span(hold.us),
            duration_words(hold.deciles_us[0]),
            duration_words(hold.deciles_us[8]),
            hold.not_back,
            hold.interrupted,
            hold.unclear
        ));
    }
    if let Some(entry) = &class.entry {
        more(format!("entry costs {}", cost(entry)));
    }
    if let Some(boost) = &class.boost {
        more(format!("return costs {}", cost(boost)));
    }
    if let Some(break_even) = class.break_even_us {
        more(format!("pays off after {}", span(break_even)));
    }
}

/// A duration with its interval, all in the unit of the estimate.
fn span(us: Estimate) -> String {
    let (divisor, unit, digits) = match us.value {
        value if value >= 1000.0 => (1000.0, "ms", 3),
        value if value >= 100.0 => (1.0, "µs", 0),
        _ => (1.0, "µs", 1),
    };
    let shown = |value: f64| format!("{:.digits$}", value / divisor);
    format!("{} {unit} ({} to {})", shown(us.value), shown(us.low), shown(us.high))
}

fn cost(cost: &Cost) -> String {
    let discarded = match cost.discarded {
        0 => String::new(),
        count => format!("; {count} above 100 µs discarded"),
    };
    format!("{}{discarded}", span(cost.us))
}

fn transition_row(text: &mut String, transition: &Transition) {
    let mut parts = Vec::new();
    parts.extend(transition.entry.as_ref().map(|entry| format!("there {}", cost(entry))));
    parts.extend(transition.boost.as_ref().map(|boost| format!("back {}", cost(boost))));
    parts.extend(transition.hold_us.map(|hold| format!("after {}", span(hold))));
    parts.extend(transition.break_even_us.map(|us| format!("pays off after {}", span(us))));
    if parts.is_empty() {
        parts.push("nothing measurable".to_owned());
    }
    let _ = writeln!(
        text,
        "\n{} to {} code: {}",
        class_words(transition.from),
        class_words(transition.to),
        parts.join("; ")
    );
}

fn neighbour_row(text: &mut String, neighbour: &Neighbour) {
    let who = match neighbour.place {
        "sibling" => "its sibling",
        "core" => "another core",
        _ => "another package",
    };
    let clock = neighbour.ratio.map_or_else(String::new, |ratio| {
        format!(
            ", clock {:+.2} % ({:+.2} to {:+.2})",
            (ratio.value - 1.0) * 100.0,
            (ratio.low - 1.0) * 100.0,
            (ratio.high - 1.0) * 100.0
        )
    });
    let verdict = match &neighbour.verdict {
        Verdict::Affected => "lowered too",
        Verdict::Unaffected => "not touched",
        Verdict::Hidden(reason) | Verdict::Unsupported(reason) => reason,
    };
    let _ = writeln!(
        text,
        "\nBeside {} code, {who} (CPU {}): {verdict}{clock}",
        class_words(neighbour.class),
        neighbour.cpu
    );
}

fn rate_row(text: &mut String, rate: &RateFinding) {
    let found = match rate.reaches_level_from_permille {
        Some(permille) => format!("from {permille} instructions in 1000 cycles on"),
        None => "at none of the rates below full density".to_owned(),
    };
    let _ = writeln!(text, "\n{} code lowers the clock fully {found}", class_words(rate.class));
    for (permille, ratio) in &rate.ratios {
        let _ = writeln!(
            text,
            "  at most {permille:4} in 1000 cycles   clock {:+.2} % ({:+.2} to {:+.2})",
            (ratio.value - 1.0) * 100.0,
            (ratio.low - 1.0) * 100.0,
            (ratio.high - 1.0) * 100.0
        );
    }
}

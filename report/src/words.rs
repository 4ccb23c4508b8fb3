//! Words and numbers as every output shows them.

use crate::comparison::{Comparison, Run};
use crate::published::Published;
use crate::sample::Replicates;

/// A name that came from a user, harmless to a terminal: control characters and those that
/// reorder or hide text are shown as their code point.
pub(crate) fn clean(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || hides_or_reorders(c) {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

fn hides_or_reorders(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// A percentage with one decimal; never `-0.0`.
pub(crate) fn percent(value: f64) -> String {
    format!("{} %", tenths(value))
}

/// A percentage with its sign.
pub(crate) fn signed_percent(value: f64) -> String {
    let text = tenths(value);
    if text.starts_with('-') || text == "0.0" { format!("{text} %") } else { format!("+{text} %") }
}

/// One decimal; never `-0.0`.
pub(crate) fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// Seconds, or milliseconds below one tenth of a second.
pub(crate) fn seconds(value: f64) -> String {
    if value == 0.0 {
        "0 s".to_owned()
    } else if value < 0.1 {
        format!("{:.2} ms", value * 1e3)
    } else if value < 100.0 {
        format!("{value:.2} s")
    } else {
        format!("{value:.0} s")
    }
}

/// A count with at most four digits.
pub(crate) fn short_count(value: f64) -> String {
    match value {
        v if v >= 1e10 => format!("{:.0}G", v / 1e9),
        v if v >= 1e9 => format!("{:.1}G", v / 1e9),
        v if v >= 1e7 => format!("{:.0}M", v / 1e6),
        v if v >= 1e6 => format!("{:.1}M", v / 1e6),
        v if v >= 1e4 => format!("{:.0}k", v / 1e3),
        v if v >= 1e3 => format!("{:.1}k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

/// The usual spelling of a variant of the background; any other name as it is.
pub(crate) fn variant(background: &str) -> String {
    match background {
        "sse" | "sse2" | "sse4" | "avx" | "avx2" | "amx" => background.to_uppercase(),
        "avx512" => "AVX-512".to_owned(),
        "avx512-light" => "light AVX-512".to_owned(),
        "avx512-heavy" => "heavy AVX-512".to_owned(),
        other => clean(other),
    }
}

/// The mean slowdown with its interval, and its range over parameter sets.
pub(crate) fn slowdown(run: &Run) -> String {
    let value = tenths(run.isolation_slowdown_pct);
    let mean = match run.ci95_half_width_pct {
        // Below a tenth the width would read as exactly none.
        Some(half) if half < 0.05 && half > 0.0 => format!("{value} ±<0.1 %"),
        Some(half) => format!("{value} ±{} %", tenths(half)),
        None => format!("{value} %"),
    };
    match run.range_pct {
        Some([low, high]) => format!("{mean} ({} to {})", tenths(low), tenths(high)),
        None => mean,
    }
}

/// The published figure and what became of ours.
pub(crate) fn published(published: &Published) -> String {
    let which = match published.metric.as_str() {
        "isolation_slowdown_pct" => "",
        "signed_slowdown_pct" => " signed",
        "cpu_time_vs_sse_pct" => " CPU time",
        _ => " other",
    };
    let how = if published.calibrated { "calibrated" } else { "predicted" };
    format!("{} %{which}, {how}: {}", tenths(published.value_pct), outcome(published))
}

/// Whether ours is within the tolerance, or how far it is from the published figure.
pub(crate) fn outcome(published: &Published) -> String {
    let off = signed_percent(published.ours_pct - published.value_pct);
    let off = off.trim_end_matches(" %");
    let bound = match (published.tolerance_pct, published.at_least_pct, published.at_most_pct) {
        (Some(pct), ..) => format!("±{pct}"),
        (None, Some(low), Some(high)) => format!("{low} to {high}"),
        (None, Some(low), None) => format!("≥{low}"),
        (None, None, Some(high)) => format!("≤{high}"),
        (None, None, None) => String::new(),
    };
    match published.hit {
        Some(true) => format!("hit ({bound})"),
        Some(false) => format!("MISS, {off} ({bound})"),
        None => format!("off by {off} points"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// CPU, sensors, seed and number of runs in a line.
pub(crate) fn settings(comparison: &Comparison) -> String {
    let first = comparison.runs.first();
    let simulated_s: f64 = comparison.runs.iter().map(|run| run.simulated_s).sum();
    let fits = match comparison.replicates {
        Replicates::Seeds => "seeds",
        Replicates::ParameterSets => "fitted parameter sets",
    };
    format!(
        "{} on {}, sensors {}, seed {}, {} programs x {} {fits}, {simulated_s:.0} s simulated; \
         ± is half a 95 % interval.",
        clean(&comparison.scenario),
        clean(&comparison.cpu),
        clean(&comparison.sensors),
        comparison.seed,
        first.map_or(0, |run| run.programs),
        first.map_or(0, |run| run.replicates),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_terminal_become_visible() {
        assert_eq!(clean("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb\\u{d}\\u{a}");
        assert_eq!(clean("x\u{202e}y\u{9b}"), "x\\u{202e}y\\u{9b}");
        assert_eq!(clean("naïve-λ"), "naïve-λ");
    }

    #[test]
    fn nothing_is_printed_as_minus_nothing() {
        assert_eq!(percent(-0.04), "0.0 %");
        assert_eq!(signed_percent(-0.04), "0.0 %");
        assert_eq!(signed_percent(0.06), "+0.1 %");
        assert_eq!(signed_percent(-0.06), "-0.1 %");
    }

    #[test]
    fn lists_read_like_a_sentence() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&names), "a, b and c");
        assert_eq!(list(&names[..2]), "a and b");
        assert_eq!(list(&names[..1]), "a");
    }
}

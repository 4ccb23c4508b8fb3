//! Words and numbers as every output shows them.

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

/// Whether a name can be shown unchanged.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    !name.chars().any(|c| c.is_control() || hides_or_reorders(c))
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
    } else if value.abs() < 0.1 {
        format!("{:.2} ms", value * 1e3)
    } else if value.abs() < 100.0 {
        format!("{value:.2} s")
    } else {
        format!("{value:.0} s")
    }
}

/// The unit for times up to this one, and its length in nanoseconds.
pub(crate) fn time_unit(to_ns: u64) -> (&'static str, f64) {
    match to_ns {
        0..10_000 => ("ns", 1.0),
        10_000..10_000_000 => ("µs", 1e3),
        10_000_000..10_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// A range of time, with as many digits as distinguish adjacent ranges.
pub(crate) fn time_range(from_ns: u64, to_ns: u64) -> String {
    let unit = time_unit(to_ns);
    format!("{} {}", time_range_in(unit, from_ns, to_ns), unit.0)
}

/// A range of time in a given unit, without the unit's name.
pub(crate) fn time_range_in((_, ns): (&str, f64), from_ns: u64, to_ns: u64) -> String {
    let digits = usize::from((to_ns - from_ns) as f64 / ns < 10.0);
    let of = |time_ns: u64| format!("{:.digits$}", time_ns as f64 / ns);
    format!("{}–{}", of(from_ns), of(to_ns))
}

/// A time with its unit, in about three digits.
pub(crate) fn duration(ns: u64) -> String {
    let (unit, one) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => ("µs", 1e3),
        1_000_000..1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let value = ns as f64 / one;
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// A time in us with its unit and two decimals, one below a millisecond.
pub(crate) fn microseconds(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2} s", us / 1e6),
        us if us >= 1e3 => format!("{:.2} ms", us / 1e3),
        us => format!("{us:.1} µs"),
    }
}

/// A time in us with its unit, without decimals: the label of a decade of an axis.
pub(crate) fn axis_microseconds(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.0} s", us / 1e6),
        us if us >= 1e3 => format!("{:.0} ms", us / 1e3),
        us if us >= 1.0 => format!("{us:.0} µs"),
        us => format!("{:.0} ns", us * 1e3),
    }
}

/// A whole number in groups of three digits.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun; an `s` is the plural.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
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
#[must_use]
pub fn variant(background: &str) -> String {
    match background {
        "sse" | "sse2" | "sse4" | "avx" | "avx2" | "amx" => background.to_uppercase(),
        "avx512" => "AVX-512".to_owned(),
        "avx512-light" => "light AVX-512".to_owned(),
        "avx512-heavy" => "heavy AVX-512".to_owned(),
        other => clean(other),
    }
}

/// Whether a figure was known when parameters were chosen.
pub(crate) fn how(calibrated: bool) -> &'static str {
    if calibrated { "calibrated" } else { "predicted" }
}

/// A claimed value with its unit.
pub(crate) fn amount(figure: &str, value: f64) -> String {
    if is_percentage(figure) { percent(value) } else { format!("{value:.2}") }
}

/// Metrics as readers call them.
const METRICS: [(&str, &str); 10] = [
    ("isolation_slowdown_pct", "slowdown"),
    ("signed_slowdown_pct", "signed slowdown"),
    ("slowdown_only_pct", "slowdown with speed-ups as 0"),
    ("remote_avx_overhead_pct", "overhead"),
    ("cpu_time_vs_sse_pct", "CPU time over that with SSE4"),
    ("completion_s", "completion time"),
    ("repaid_pct", "loss repaid"),
    ("slice_mcycles", "work of a slice"),
    ("rq_sharing smt", "siblings sharing run queues"),
    (" - ", " minus "),
];

/// The name of a figure in words; what a claim adds to the metric stays.
pub(crate) fn figure_words(figure: &str) -> String {
    let replace = |text: String, &(name, words): &(&str, &str)| text.replace(name, words);
    METRICS.iter().fold(clean(figure), replace)
}

/// Whether the values of a figure are percentages, by its name.
pub(crate) fn is_percentage(figure: &str) -> bool {
    let metric = figure.split([' ', ',']).next().unwrap_or(figure);
    metric.ends_with("_pct") || figure.contains("% above")
}

/// The bounds of a claim, as a tolerance if they are symmetric about the published value.
pub(crate) fn bound(published: Option<f64>, min: Option<f64>, max: Option<f64>) -> String {
    // Bounds that are symmetric in decimal need not be so in binary.
    let is_even =
        |low: f64, high: f64| published.is_some_and(|p| (p - low - high + p).abs() < 1e-9);
    match (min, max) {
        (Some(low), Some(high)) if is_even(low, high) => {
            format!("±{}", ((high - low) * 500.0).round() / 1000.0)
        }
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("≥{low}"),
        (None, Some(high)) => format!("≤{high}"),
        (None, None) => String::new(),
    }
}

/// How many names a sentence lists.
const LISTED_MAX: usize = 6;

/// `a`, `a and b`, `a, b and c`; of many names the first ones and the number of the rest.
pub(crate) fn list(names: &[String]) -> String {
    match names {
        many if many.len() > LISTED_MAX => {
            let first = &many[..LISTED_MAX - 1];
            format!("{} and {} more", first.join(", "), many.len() - first.len())
        }
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escape_sequences_are_shown_as_text() {
        assert_eq!(clean("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb\\u{d}\\u{a}");
        assert_eq!(clean("x\u{202e}y\u{9b}"), "x\\u{202e}y\\u{9b}");
        assert_eq!(clean("naïve-λ"), "naïve-λ");
    }

    #[test]
    fn zero_is_never_printed_with_a_minus_sign() {
        assert_eq!(percent(-0.04), "0.0 %");
        assert_eq!(signed_percent(-0.04), "0.0 %");
        assert_eq!(signed_percent(0.06), "+0.1 %");
        assert_eq!(signed_percent(-0.06), "-0.1 %");
    }

    #[test]
    fn bounds_around_the_published_value_are_a_tolerance() {
        assert_eq!(bound(Some(23.5), Some(21.5), Some(25.5)), "±2");
        assert_eq!(bound(Some(12.6), Some(10.6), Some(14.6)), "±2");
        assert_eq!(bound(Some(23.5), Some(21.5), Some(25.4)), "21.5 to 25.4");
        assert_eq!(bound(Some(2.5), None, Some(4.0)), "≤4");
        assert_eq!(bound(None, Some(-0.5), Some(0.5)), "-0.5 to 0.5");
    }

    #[test]
    fn claimed_values_have_the_unit_of_their_figure() {
        assert_eq!(amount("signed_slowdown_pct of light", 2.04), "2.0 %");
        assert_eq!(amount("completion_s, % above that under fair", -10.6), "-10.6 %");
        assert_eq!(amount("slice_mcycles", 0.97), "0.97");
    }

    #[test]
    fn times_and_counts_are_short_and_distinct() {
        assert_eq!(time_range(100_000_000, 125_000_000), "100–125 ms");
        assert_eq!(time_range(12_000_000, 15_500_000), "12.0–15.5 ms");
        let durations = [999, 1_234, 56_700_000, 2_000_000_000].map(duration);
        assert_eq!(durations, ["999 ns", "1.23 µs", "56.7 ms", "2.00 s"]);
        assert_eq!(time_range(0, 60_000_000_000), "0–60 s");
        assert_eq!((grouped(50_000), grouped(999)), ("50,000".to_owned(), "999".to_owned()));
        assert_eq!((counted(1, "task"), counted(0, "task")), ("1 task".into(), "0 tasks".into()));
    }

    #[test]
    fn lists_read_like_a_sentence() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&names), "a, b and c");
        assert_eq!(list(&names[..2]), "a and b");
        assert_eq!(list(&names[..1]), "a");
        let many = vec!["x".to_owned(); 60];
        assert_eq!(list(&many), "x, x, x, x, x and 55 more");
    }
}

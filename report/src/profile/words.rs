//! Names, times and shares as the answer and the page of a profile show them.

use super::{Interval, Victim, View};
use crate::format::{clean, percent, seconds};

/// How many characters of a name and of a sentence are shown.
pub(crate) const NAME_MAX: usize = 48;
pub(crate) const NOTE_MAX: usize = 600;
/// Losses below this share of all CPU time are worth neither a sentence nor a row, and neither are
/// programs that ran and waited for less.
pub const SHOWN_MIN: f64 = 0.001;
/// No profile has so much CPU time: 30 years of a thousand CPUs. In s.
const TIME_MAX_S: f64 = 1e12;
/// What stands for a culprit that is not known.
pub(crate) const UNKNOWN: &str = "(unknown)";

/// The text without invisible characters, cut to a number of characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    // What is cut off need not be cleaned.
    let text = clean(&text.chars().take(most + 1).collect::<String>());
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A name, or a placeholder for one that shows nothing.
pub(crate) fn name(text: &str) -> String {
    if text.trim().is_empty() { "(no name)".to_owned() } else { cut(text, NAME_MAX) }
}

/// The name of a culprit.
pub(crate) fn culprit(name_of: Option<&str>) -> String {
    name_of.map_or_else(|| UNKNOWN.to_owned(), name)
}

/// A time in s with its unit; a dash for none, and for one that is not known.
pub(crate) fn time(time_s: f64) -> String {
    if visible(time_s) == 0.0 { "–".to_owned() } else { seconds(time_s) }
}

/// A time in s; 0 for one that would be shown as 0.00 ms, and for one that is not known.
pub(crate) fn visible(time_s: f64) -> f64 {
    if known(time_s).abs() < 5e-6 { 0.0 } else { time_s }
}

/// Whether a program ran and waited for a thousandth of all CPU time, as on the terminal. A large
/// share of a smaller one says nothing.
pub(crate) fn is_worth_a_row(view: &View, victim: &Victim) -> bool {
    known(victim.cpu_time_s) + known(victim.waited_s) >= SHOWN_MIN * all_cpu_time_s(view)
}

/// A time in s that can be added up: 0 for one that is not a number or beyond any profile.
pub(crate) fn known(time_s: f64) -> f64 {
    if time_s.abs() < TIME_MAX_S { time_s } else { 0.0 }
}

/// A part in percent of a whole; 0 of nothing.
pub(crate) fn share_pct(part: f64, whole: f64) -> f64 {
    let pct = 100.0 * part / whole;
    if whole > 0.0 && pct.is_finite() { pct } else { 0.0 }
}

/// The bounds of an interval in percent, if they are known.
pub(crate) fn bounds_pct(interval: &Interval, scale: f64) -> Option<String> {
    let [low, high] = [interval.low * scale, interval.high * scale];
    let is_known = low.is_finite() && high.is_finite();
    is_known.then(|| format!("{low:.1} to {}", percent(high)))
}

/// CPU time of all programs, in s.
pub(crate) fn all_cpu_time_s(view: &View) -> f64 {
    view.victims.iter().map(|victim| known(victim.cpu_time_s)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_what_hides_is_shown() {
        assert_eq!(name("nginx"), "nginx");
        assert_eq!(name(" \n"), "(no name)");
        assert_eq!(name("a\u{202e}b"), "a\\u{202e}b");
        let long = name(&"é\n".repeat(5000));
        assert_eq!((long.chars().count(), long.chars().last()), (NAME_MAX, Some('…')));
    }

    #[test]
    fn what_is_not_a_number_is_a_dash_or_nothing() {
        assert_eq!([time(f64::NAN), time(4e-6), time(1.5)], ["–", "–", "1.50 s"]);
        assert_eq!(
            [share_pct(1.0, 0.0), share_pct(f64::NAN, 1.0), share_pct(1.0, 4.0)],
            [0.0, 0.0, 25.0]
        );
        assert_eq!(bounds_pct(&Interval::unbounded(1.0), 1.0), None);
        let known = Interval { value: 4.1, low: 3.9, high: 4.4 };
        assert_eq!(bounds_pct(&known, 1.0).as_deref(), Some("3.9 to 4.4 %"));
    }
}

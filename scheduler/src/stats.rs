//! Statistics of the scheduler, in the format of sched_ext's tools.
//!
//! | Question | Where |
//! |---|---|
//! | Which figures are reported, and as which text? | here |
//! | How are requests and answers written? | `protocol.rs` |
//! | How do programs connect, and how are they answered? | `socket.rs` |

pub mod protocol;
pub mod socket;

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::counters::Counter;

/// The counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Since the scheduler was loaded.
    pub since_start: Duration,
    /// The value of each counter, indexed by [`Counter`].
    pub counts: Vec<u64>,
    /// Names of the hardware counters that are disabled, so that other programs can use them.
    pub given_up: Vec<&'static str>,
    /// The CPUs of wide cores, as a list; empty without core specialization.
    pub wide_cpus: String,
    /// Whether a program switched core specialization off for now.
    pub is_switched_off: bool,
}

impl Snapshot {
    fn count(&self, counter: Counter) -> u64 {
        self.counts.get(counter as usize).copied().unwrap_or(0)
    }

    fn seconds_after(&self, before: &Self) -> f64 {
        self.since_start.saturating_sub(before.since_start).as_secs_f64()
    }

    /// Increase of a counter per second since `before`; 0 if no time passed.
    #[must_use]
    pub fn rate(&self, before: &Self, counter: Counter) -> f64 {
        let more = self.count(counter).saturating_sub(before.count(counter));
        per(more as f64, self.seconds_after(before))
    }

    /// Refunds since `before`, in percent of the time of all CPUs.
    #[must_use]
    pub fn refunded_percent(&self, before: &Self, cpus: usize) -> f64 {
        per(self.rate(before, Counter::RefundedNs) / 1e7, cpus as f64)
    }
}

fn per(what: f64, of: f64) -> f64 {
    if of > 0.0 { what / of } else { 0.0 }
}

/// Facts that stay the same while the scheduler runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Name of the mode.
    pub mode: &'static str,
    /// The sources of classes and frequencies; empty in mode `fair`.
    pub sensors: String,
    /// Number of online CPUs at the start.
    pub cpus: usize,
}

/// Fields besides the counters: name, type and description.
const FIELDS: [(&str, &str, &str); 7] = [
    ("seconds", "float", "Time since the scheduler was loaded."),
    ("mode", "string", "What is done about time lost."),
    ("sensors", "string", "What tells classes and frequencies."),
    ("cpus", "u64", "CPUs of the machine."),
    ("wide_cpus", "string", "CPUs of the cores that run 512-bit code, under core specialization."),
    (
        "specialization_off",
        "bool",
        "Whether a program switched core specialization off for as long as it is connected.",
    ),
    (
        "refunded_percent",
        "float",
        "Part of the time of all CPUs that was given back since the last request.",
    ),
];

/// The report for a program whose last report was made from `before`; the default [`Snapshot`]
/// stands for a program that has had none.
#[must_use]
pub fn report(about: &About, now: &Snapshot, before: &Snapshot) -> Value {
    let rates: Map<String, Value> = Counter::ALL
        .into_iter()
        .map(|counter| (counter.name().to_owned(), json!(now.rate(before, counter))))
        .collect();
    let mut fields = Map::from_iter([
        ("seconds".to_owned(), json!(now.since_start.as_secs_f64())),
        ("mode".to_owned(), json!(about.mode)),
        ("sensors".to_owned(), json!(about.sensors)),
        ("cpus".to_owned(), json!(about.cpus)),
        ("wide_cpus".to_owned(), json!(now.wide_cpus)),
        ("specialization_off".to_owned(), json!(now.is_switched_off)),
        ("refunded_percent".to_owned(), json!(now.refunded_percent(before, about.cpus))),
        ("given_up".to_owned(), json!(now.given_up)),
        ("per_second".to_owned(), rates.into()),
    ]);
    for counter in Counter::ALL {
        fields.insert(counter.name().to_owned(), json!(now.count(counter)));
    }
    fields.into()
}

/// The types and descriptions of all fields of a report.
#[must_use]
pub fn meta() -> Value {
    let mut fields: Map<String, Value> = FIELDS
        .into_iter()
        .map(|(name, form, says)| (name.to_owned(), json!({ "datum": form, "desc": says })))
        .collect();
    let given_up = "Hardware counters that are left to others for now.";
    fields.insert("given_up".to_owned(), json!({ "array": "string", "desc": given_up }));
    let per_second = "Of each counter, how often in a second since the last request.";
    let dict = json!({ "key": "string", "datum": "float" });
    fields.insert("per_second".to_owned(), json!({ "dict": dict, "desc": per_second }));
    for counter in Counter::ALL {
        let field = json!({ "datum": "u64", "desc": counter.sentence() });
        fields.insert(counter.name().to_owned(), field);
    }
    json!({
        "Evenkeel": {
            "name": "Evenkeel",
            "desc": "What scx_evenkeel did",
            "top": "true",
            "fields": fields,
        }
    })
}

/// One line: the rate of each counter since `before`, and in brackets its value since the start.
#[must_use]
pub fn line(now: &Snapshot, before: &Snapshot, cpus: usize) -> String {
    let mut line = format!("{:.1} s", now.since_start.as_secs_f64());
    for counter in Counter::ALL {
        if now.count(counter) > 0 {
            let rate = now.rate(before, counter);
            // Writing to a string cannot fail.
            let _ = write!(line, "  {} {rate:.0}/s ({})", counter.name(), now.count(counter));
        }
    }
    if now.count(Counter::Refunded) > 0 {
        let percent = now.refunded_percent(before, cpus);
        let _ = write!(line, "  given back {percent:.2} % of the time");
    }
    if !now.wide_cpus.is_empty() {
        let _ = write!(line, "  wide CPUs {}", now.wide_cpus);
    }
    if now.is_switched_off {
        line += "  specialization off";
    }
    if !now.given_up.is_empty() {
        let _ = write!(line, "  given up {}", now.given_up.join(" "));
    }
    line
}

/// A report as a table, cut at `width` columns; `None` if the value is no report of ours.
#[must_use]
pub fn table(report: &Value, width: usize) -> Option<String> {
    let text = |name: &str| report.get(name)?.as_str();
    let number = |name: &str| report.get(name)?.as_f64();
    let mut table = format!(
        "scx_evenkeel: {} for {:.0} s on {:.0} CPUs\n",
        text("mode")?,
        number("seconds")?,
        number("cpus")?,
    );
    let sensors = text("sensors")?;
    if !sensors.is_empty() {
        let _ = writeln!(table, "seen by: {sensors}");
    }
    let wide_cpus = text("wide_cpus")?;
    if !wide_cpus.is_empty() {
        let is_off = report.get("specialization_off")?.as_bool()?;
        let off = if is_off { ", switched off for now" } else { "" };
        let _ = writeln!(table, "CPUs for 512-bit code: {wide_cpus}{off}");
    }
    let _ = writeln!(table, "given back: {:.2} % of the time", number("refunded_percent")?);
    for name in report.get("given_up")?.as_array()?.iter().filter_map(Value::as_str) {
        let _ = writeln!(table, "given up for now: {name}");
    }
    let _ = writeln!(table, "\n{:23}{:>12}{:>18}", "", "a second", "since the start");
    let rates = report.get("per_second")?;
    for counter in Counter::ALL {
        let name = counter.name();
        let rate = rates.get(name)?.as_f64()?;
        let total = report.get(name)?.as_u64()?;
        let _ = writeln!(table, "{name:23}{rate:12.1}{total:18}  {}", counter.sentence());
    }
    let cut = |line: &str| line.chars().take(width).collect::<String>().trim_end().to_owned();
    Some(table.lines().map(|line| cut(line) + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About { mode: "fair-isolation", sensors: "xinuse".to_owned(), cpus: 4 }
    }

    fn snapshot(seconds: u64, count: u64) -> Snapshot {
        let mut counts = vec![count; Counter::ALL.len()];
        counts[Counter::RefundedNs as usize] = count * 10_000_000;
        Snapshot {
            since_start: Duration::from_secs(seconds),
            counts,
            given_up: vec![],
            ..Snapshot::default()
        }
    }

    #[test]
    fn rates_are_since_the_last_request() {
        let report = report(&about(), &snapshot(12, 70), &snapshot(10, 50));
        assert_eq!(report["dispatched"], 70);
        assert_eq!(report["per_second"]["dispatched"], 10.0);
        // 20 x 10 ms of 2 s on 4 CPUs.
        assert_eq!(report["refunded_percent"], 2.5);
    }

    #[test]
    fn a_request_at_once_has_rates_of_0() {
        let report = report(&about(), &snapshot(10, 50), &snapshot(10, 50));
        assert_eq!(report["per_second"]["dispatched"], 0.0);
        assert_eq!(report["refunded_percent"], 0.0);
    }

    #[test]
    fn every_field_of_a_report_is_described_and_no_other() {
        let report = report(&about(), &snapshot(1, 1), &Snapshot::default());
        let names = |value: &Value| {
            value.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>()
        };
        let meta = meta();
        let fields = &meta["Evenkeel"]["fields"];
        assert_eq!(names(&report), names(fields));
        for (name, field) in fields.as_object().unwrap() {
            assert!(field["desc"].as_str().unwrap().ends_with('.'), "{name}");
        }
    }

    #[test]
    fn a_table_shows_each_counter_within_its_width() {
        let now = Snapshot { given_up: vec!["bound-on-stores"], ..snapshot(12, 70) };
        let table = table(&report(&about(), &now, &snapshot(10, 50)), 60).unwrap();
        assert!(table.starts_with("scx_evenkeel: fair-isolation for 12 s on 4 CPUs\n"), "{table}");
        let dispatched = "\ndispatched                     10.0                70  A CPU\n";
        assert!(table.contains(dispatched), "{table:?}");
        assert!(table.contains("given up for now: bound-on-stores\n"));
        assert!(table.lines().all(|line| line.len() <= 60));
        assert_eq!(super::table(&json!({ "mode": 1 }), 60), None);
    }

    #[test]
    fn a_line_leaves_out_what_never_happened() {
        let mut now = snapshot(12, 0);
        now.counts[Counter::Dispatched as usize] = 30;
        let before = Snapshot { since_start: Duration::from_secs(10), ..Snapshot::default() };
        assert_eq!(line(&now, &before, 2), "12.0 s  dispatched 15/s (30)");
    }
}

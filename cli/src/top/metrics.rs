//! The totals as metrics of Prometheus, in its text format 0.0.4.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::serve::Source;
use super::totals::{CpuTotal, GroupTotal, PairTotal, Totals};

/// What stays the same while the metrics are served.
#[derive(Clone, Debug)]
pub struct About {
    /// What groups are: `process` or `control-group`.
    pub by: &'static str,
    /// Name of the CPU table; `None`: there is none, and nothing is known of lost clock.
    pub cpu_table: Option<String>,
    /// Whether the table is that of this machine's CPU; else losses are as if on that CPU.
    pub is_own_table: bool,
}

/// The totals that are served, and their text while they are the newest.
pub struct Metrics {
    about: About,
    newest: Mutex<Newest>,
}

#[derive(Default)]
struct Newest {
    totals: Arc<Totals>,
    own_cpu_ns: u64,
    text: Option<Arc<str>>,
}

impl Metrics {
    /// Metrics without a reading so far.
    pub fn new(about: About) -> Self {
        Self { about, newest: Mutex::default() }
    }

    /// Takes the totals of a reading, and the CPU time of this process.
    pub fn set(&self, totals: &Totals, own_cpu_ns: u64) {
        let newest = Newest { totals: Arc::new(totals.clone()), own_cpu_ns, text: None };
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
    }
}

/// One reading, to be written.
#[derive(Debug)]
struct Page {
    about: About,
    totals: Arc<Totals>,
    own_cpu_ns: u64,
}

impl Page {
    fn text(self) -> String {
        let mut registry = Registry::with_prefix("evenkeel");
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        prometheus_text::encode(&mut text, &registry).expect("a string takes all text");
        text
    }

    fn groups(&self, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut each = |name, help, unit, value: &dyn Fn(&GroupTotal) -> f64| {
            let rows = self.totals.groups.iter();
            let rows = rows.map(|(group, total)| ([("group", group.as_str())], value(total)));
            counters(out, name, help, unit, rows)
        };
        let help = "CPU time of a group of tasks";
        each("cpu", help, Some(&Unit::Seconds), &|total| seconds(total.cpu_time_ns))?;
        let help = "Times that tasks of a group left a CPU with 512-bit registers or tiles in use";
        each("wide_leaves", help, None, &|total| total.wide_leaves as f64)
    }

    fn pairs(&self, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut each = |name, help, value: &dyn Fn(&PairTotal) -> u64| {
            let pairs = self.totals.pairs.iter();
            let rows = pairs.filter(|(_, total)| value(total) > 0).map(|(pair, total)| {
                let labels = [("victim", pair.0.as_str()), ("culprit", pair.1.as_str())];
                (labels, seconds(value(total)))
            });
            counters(out, name, help, Some(&Unit::Seconds), rows)
        };
        let help = "Time that tasks of the victim were runnable while the culprit had the CPU that \
                    they then got";
        each("waited", help, &|total| total.waited_ns)?;
        let help = "CPU time of the victim while the culprit ran on a sibling of its CPU";
        each("beside", help, &|total| total.beside_ns)?;
        if self.about.cpu_table.is_none() {
            return Ok(());
        }
        let help = "CPU time that the victim lost to a lower clock that the culprit's instructions \
                    caused, by the CPU table";
        each("clock_lost", help, &|total| total.lost_ns)
    }

    fn cpus(&self, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let cpus = self.totals.cpus.iter().enumerate();
        let rows = |value: fn(&CpuTotal) -> f64| {
            cpus.clone().map(move |(cpu, total)| ([("cpu", cpu as u64)], value(total)))
        };
        let unit = Some(&Unit::Seconds);
        let help = "Time that a CPU had a task";
        counters(out, "cpu_busy", help, unit, rows(|total| seconds(total.busy_ns)))?;
        let help = "Switches of a CPU from a task to another";
        counters(out, "cpu_switches", help, None, rows(|total| total.switches as f64))?;
        if self.about.cpu_table.is_none() {
            return Ok(());
        }
        let help = "Time that a CPU had a task while its core was believed to hold a license level";
        counters(out, "cpu_held", help, unit, rows(|total| seconds(total.held_ns)))
    }

    fn collector(&self, out: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let one = |value: f64| std::iter::once(([] as [(&str, u64); 0], value));
        let help = "CPU time of this collector in user space and for reading; without what its \
                    probes add to each switch";
        counters(out, "collector_cpu", help, Some(&Unit::Seconds), one(seconds(self.own_cpu_ns)))?;
        let help = "Readings of the kernel's sums";
        counters(out, "collector_readings", help, None, one(self.totals.readings as f64))?;
        let help = "Times that found no room in the kernel's tables; all other sums are too small \
                    where this grows";
        counters(out, "collector_without_room", help, None, one(self.totals.without_room as f64))?;
        let help = "What groups are, and the CPU table of the lost clock, if there is one";
        let labels = [
            ("by", self.about.by),
            ("cpu_table", self.about.cpu_table.as_deref().unwrap_or_default()),
            ("is_own_table", if self.about.is_own_table { "true" } else { "false" }),
            ("version", env!("CARGO_PKG_VERSION")),
        ];
        let kind = MetricType::Gauge;
        let mut family = out.encode_descriptor("collector_info", help, None, kind)?;
        ConstGauge::new(1_i64).encode(family.encode_family(&labels)?)
    }
}

impl Collector for Page {
    fn encode(&self, mut out: DescriptorEncoder<'_>) -> fmt::Result {
        self.groups(&mut out)?;
        self.pairs(&mut out)?;
        self.cpus(&mut out)?;
        self.collector(&mut out)
    }
}

/// Writes a family of counters; a family without a counter is left out.
fn counters<'l, V, const N: usize>(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    rows: impl Iterator<Item = ([(&'l str, V); N], f64)>,
) -> fmt::Result
where
    [(&'l str, V); N]: prometheus_client::encoding::EncodeLabelSet,
{
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut family = out.encode_descriptor(name, help, unit, MetricType::Counter)?;
    for (labels, value) in rows {
        ConstCounter::new(value).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Source for Metrics {
    /// The text of the newest reading; written once a reading, however many ask.
    fn text(&self) -> Arc<str> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = &newest.text {
            return Arc::clone(text);
        }
        let page = Page {
            about: self.about.clone(),
            totals: Arc::clone(&newest.totals),
            own_cpu_ns: newest.own_cpu_ns,
        };
        let text: Arc<str> = page.text().into();
        newest.text = Some(Arc::clone(&text));
        text
    }

    fn media_type(&self) -> &'static str {
        prometheus_text::CONTENT_TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals() -> Totals {
        let mut totals = Totals::default();
        totals.cpus.push(CpuTotal { busy_ns: 2_500_000_000, held_ns: 500_000_000, switches: 7 });
        let group = GroupTotal { cpu_time_ns: 1_500_000_000, wide_leaves: 3 };
        totals.groups.insert("x265".to_owned(), group);
        let pair = ("a\"b\\".to_owned(), "x265".to_owned());
        let total = PairTotal { waited_ns: 1_000_000, beside_ns: 2_000_000, lost_ns: 0 };
        totals.pairs.insert(pair.clone(), total);
        totals.pairs.insert((pair.1, pair.0), PairTotal { lost_ns: 1, ..PairTotal::default() });
        totals.readings = 4;
        totals
    }

    fn samples(cpu_table: Option<&str>) -> String {
        let cpu_table = cpu_table.map(str::to_owned);
        let metrics = Metrics::new(About { by: "process", cpu_table, is_own_table: true });
        metrics.set(&totals(), 250_000_000);
        let text = metrics.text();
        assert!(Arc::ptr_eq(&text, &metrics.text()), "it is written once a reading");
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_total_is_a_metric_in_base_units() {
        let expected = r#"
evenkeel_cpu_seconds_total{group="x265"} 1.5
evenkeel_wide_leaves_total{group="x265"} 3.0
evenkeel_waited_seconds_total{victim="a\"b\\",culprit="x265"} 0.001
evenkeel_beside_seconds_total{victim="a\"b\\",culprit="x265"} 0.002
evenkeel_clock_lost_seconds_total{victim="x265",culprit="a\"b\\"} 1e-9
evenkeel_cpu_busy_seconds_total{cpu="0"} 2.5
evenkeel_cpu_switches_total{cpu="0"} 7.0
evenkeel_cpu_held_seconds_total{cpu="0"} 0.5
evenkeel_collector_cpu_seconds_total 0.25
evenkeel_collector_readings_total 4.0
evenkeel_collector_without_room_total 0.0
evenkeel_collector_info{by="process",cpu_table="a",is_own_table="true",version="VERSION"} 1"#;
        let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
        assert_eq!(samples(Some("a")), expected.trim_start());
    }

    #[test]
    fn without_a_cpu_table_there_are_no_counters_of_levels() {
        let samples = samples(None);
        assert!(!samples.contains("clock_lost") && !samples.contains("held"), "{samples}");
        assert!(samples.contains(r#"cpu_table="""#));
    }
}

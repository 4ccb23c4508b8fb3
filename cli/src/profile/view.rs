//! Converts a profile for the page and for other tools.

use ::report::profile::{
    Comparison, Core, Interval, Lane, Loss, Span, Stack, TimeLine, Victim, View,
};

use sensors::control_groups::Labels;

#[cfg(feature = "record")]
use super::gain_text;
use super::{
    EstimateReport, LossReport, Report, StackReport, VictimReport, clock, estimator, labels,
};

/// Digits of a container's id, as Docker shows them.
const SHORT_ID: usize = 12;

/// The content of the page.
pub fn view(report: &Report) -> View {
    let mut facts = vec![
        ("Work".to_owned(), report.work.clone()),
        ("Length".to_owned(), format!("{:.1} s", report.length_s)),
        ("CPUs".to_owned(), report.cpus.to_string()),
    ];
    facts.extend(report.machine_cpu.clone().map(|it| ("CPU".to_owned(), it)));
    if estimator::has_clock(report) {
        facts.extend(report.cpu.clone().map(|it| ("CPU table".to_owned(), it)));
    }
    facts.extend(report.scheduler.clone().map(|it| ("Simulated scheduler".to_owned(), it)));
    if !report.focus.is_empty() {
        facts.push(("Asked for".to_owned(), report.focus.join(", ")));
    }
    let title = match &report.scheduler {
        Some(_) => format!("Simulated: {}", report.work),
        None => report.work.clone(),
    };
    let mut sentences = estimator::sentences(report).into_iter();
    let first = sentences.next().unwrap_or_default();
    View {
        title,
        facts,
        notes: sentences.chain(report.notes.iter().cloned()).chain(truth(report)).collect(),
        verdict: clock::answer(report),
        comparison: comparison(report),
        by: report.by.to_owned(),
        focus: report.focus.clone(),
        has_clock: estimator::has_clock(report),
        estimator: first,
        victims: report.victims.iter().map(victim).collect(),
        losses: report.losses.iter().map(loss).collect(),
        time_line: time_line(report),
        stacks: stacks(report),
    }
}

/// What is true of the programs of a simulation.
fn truth(report: &Report) -> Option<String> {
    let of = |it: &VictimReport| {
        let pct = it.true_overhead_pct?;
        Some(format!("{} {pct:.1} % (estimated {:.1} %)", it.name, it.overhead_pct.value))
    };
    let all: Vec<String> = report.victims.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| {
        format!(
            "A simulation, whose truth is known: the clock of others made programs longer by {}.",
            all.join(", ")
        )
    })
}

/// What wide code gained and cost.
#[cfg(feature = "record")]
fn comparison(report: &Report) -> Option<Comparison> {
    report.gain.as_ref().map(gain_text::comparison)
}

/// Without the recorder nothing is compared.
#[cfg(not(feature = "record"))]
fn comparison(_report: &Report) -> Option<Comparison> {
    None
}

/// The stacks of wide code.
fn stacks(report: &Report) -> Vec<Stack> {
    let of = |it: &StackReport| Stack {
        thread: it.thread.clone(),
        group: it.culprit.clone(),
        frames: it.functions.clone(),
        lost_s: it.lost_s,
        count: it.count,
        kind: "wide code".to_owned(),
    };
    report.stacks.iter().map(of).collect()
}

fn interval(estimate: &EstimateReport) -> Interval {
    Interval { value: estimate.value, low: estimate.low, high: estimate.high }
}

fn victim(victim: &VictimReport) -> Victim {
    Victim {
        name: victim.name.clone(),
        labels: victim.labels.as_ref().map_or_else(Vec::new, shown_labels),
        path: victim.labels.as_ref().map(|it| it.path.clone()),
        cpu_time_s: victim.cpu_time_s,
        waited_s: victim.waited_s,
        lost_s: interval(&victim.lost_s),
        overhead_pct: interval(&victim.overhead_pct),
        basis: victim.basis,
        demands: victim.demands.clone(),
    }
}

/// The labels as a reader needs them: 12 digits of a container's id, and the unit only of what is
/// no container, as the names of its units repeat the id.
fn shown_labels(labels: &Labels) -> Vec<(String, String)> {
    let short_id = labels.container_id.as_ref().map(|id| id.chars().take(SHORT_ID).collect());
    let is_container = labels.container_id.is_some();
    labels::pairs(&Labels {
        container_id: short_id,
        systemd_unit: labels.systemd_unit.clone().filter(|_| !is_container),
        systemd_slice: labels.systemd_slice.clone().filter(|_| !is_container),
        ..labels.clone()
    })
}

fn loss(loss: &LossReport) -> Loss {
    Loss {
        victim: loss.victim.clone(),
        culprit: loss.culprit.clone(),
        lost_s: interval(&loss.lost_s),
        by_hold_s: loss.by_hold_s,
        by_sibling_s: loss.by_sibling_s,
        by_transition_s: loss.by_transition_s,
        waited_s: loss.waited_s,
        by_shared_core_s: loss.by_shared_core_s,
        by_row_s: 0.0,
        stalled_s: None,
    }
}

/// By core, where the CPUs of cores are known.
fn time_line(report: &Report) -> TimeLine {
    let Some(line) = &report.time_line else { return TimeLine::default() };
    let lane = |cpu: u32| Lane {
        cpu,
        spans: line
            .spans
            .iter()
            .filter(|span| span.cpu == cpu)
            .map(|span| Span {
                from_s: span.from_ns as f64 / 1e9,
                to_s: span.to_ns as f64 / 1e9,
                group: span.group as usize,
            })
            .collect(),
    };
    // Without an estimate of the clock all levels are 0, which is not known to be so.
    let known = if estimator::has_clock(report) { &line.levels[..] } else { &[] };
    let levels_of = |core: u32| {
        let of_core = known.iter().filter(move |it| it.core == core);
        of_core.map(|it| (it.from_ns as f64 / 1e9, it.to_ns as f64 / 1e9, it.level))
    };
    let core = |(core, cpus): (usize, &Vec<u32>)| Core {
        name: format!("core {core}"),
        cpus: cpus.iter().copied().map(lane).collect(),
        levels: levels_of(core as u32).collect(),
    };
    TimeLine {
        length_s: line.length_ns as f64 / 1e9,
        cores: report.cores.iter().enumerate().map(core).collect(),
        groups: line.groups.clone(),
    }
}

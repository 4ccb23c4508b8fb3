//! Several policies on the same history.

use std::collections::BTreeMap;

use cpu_model::CpuModel;
use serde::Serialize;
use thiserror::Error;
use trace::History;

use crate::oracle;
use crate::policy::Policy;
use crate::timeline::{Timeline, timelines};
use crate::walk::{Clock, Walked, walk};

/// The machine of a history.
#[derive(Clone, Copy, Debug)]
pub struct Domains {
    /// Hardware threads of a core.
    pub threads_per_core: u32,
    /// Cores of a package.
    pub cores_per_package: u32,
    /// Active cores of a package, which decide the frequencies.
    pub active_cores: u32,
    /// Earlier events do not count.
    pub start_ns: u64,
}

/// A history without a task that ran.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no task ran")]
pub struct StudyError;

/// A history under a policy.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The policy's name.
    pub policy: String,
    /// By application: its CPU time beyond that at the clock of level 0 without changes, in percent
    /// of the latter (D 5.3).
    pub overhead_pct: BTreeMap<String, f64>,
    /// The part of `overhead_pct` that is due to delays of changes: of all applications together.
    pub delays_pct: f64,
    /// Time lost by that of the oracle; 1 where neither loses time.
    pub competitive_ratio: f64,
    /// The largest competitive ratio of a license domain.
    pub worst_ratio: f64,
    /// How often the clock rose, each second of busy time.
    pub rises_per_s: f64,
}

/// The policies on a history.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    /// In the order of the policies.
    pub outcomes: Vec<Outcome>,
    /// By application: CPU time at the clock of level 0, in seconds.
    pub cpu_time_s: BTreeMap<String, f64>,
}

/// Each policy on a history that was made at a constant clock.
///
/// # Errors
/// [`StudyError`].
pub fn study(
    history: &History,
    cpu: &CpuModel,
    domains: &Domains,
    policies: &[Policy],
) -> Result<Study, StudyError> {
    let Domains { threads_per_core, cores_per_package, active_cores, start_ns } = *domains;
    let timelines = timelines(history, cpu, threads_per_core, cores_per_package, start_ns);
    let clock = Clock::new(cpu, active_cores);
    let application: BTreeMap<u32, &str> =
        history.header.tasks.iter().map(|task| (task.tid, task.app.as_str())).collect();
    let by_application = |times: &mut dyn Iterator<Item = (u32, u64)>| {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (task, ns) in times {
            let name = application.get(&task).copied().unwrap_or("unknown");
            *sums.entry(name.to_owned()).or_default() += ns;
        }
        sums
    };
    let base = by_application(&mut timelines.iter().flat_map(|timeline| {
        timeline.stretches.iter().flat_map(|stretch| {
            timeline.running(stretch).iter().map(|&task| (task, stretch.work_ns))
        })
    }));
    if base.is_empty() {
        return Err(StudyError);
    }
    let busy_ns: u64 = timelines.iter().map(busy_ns).sum();
    let best: Vec<Walked> =
        timelines.iter().map(|timeline| oracle::walk(timeline, &clock)).collect();
    let outcome = |&policy: &Policy| {
        let walked: Vec<Walked> = timelines
            .iter()
            .zip(&best)
            .map(|(timeline, best)| match policy {
                Policy::Oracle => best.clone(),
                _ => walked(timeline, &clock, policy),
            })
            .collect();
        let times = by_application(
            &mut walked
                .iter()
                .flat_map(|walked| walked.cpu_time_ns.iter().map(|(&task, &ns)| (task, ns))),
        );
        let overhead = |(name, &base_ns): (&String, &u64)| {
            let ns = times.get(name).copied().unwrap_or(base_ns);
            (name.clone(), 100.0 * (ns as f64 / base_ns as f64 - 1.0))
        };
        let sum =
            |of: fn(&Walked) -> u64, walked: &[Walked]| -> u64 { walked.iter().map(of).sum() };
        let lost_ns = |walked: &Walked| walked.lost_ns;
        let ratios = walked.iter().zip(&best).map(|(it, best)| ratio(it.lost_ns, best.lost_ns));
        Outcome {
            policy: policy.to_string(),
            overhead_pct: base.iter().map(overhead).collect(),
            delays_pct: 100.0 * sum(|it| it.delays_ns, &walked) as f64 / busy_ns as f64,
            competitive_ratio: ratio(sum(lost_ns, &walked), sum(lost_ns, &best)),
            worst_ratio: ratios.fold(1.0, f64::max),
            rises_per_s: 1e9 * sum(|it| it.falls, &walked) as f64 / busy_ns as f64,
        }
    };
    let seconds = |(name, ns): (String, u64)| (name, ns as f64 / 1e9);
    Ok(Study {
        outcomes: policies.iter().map(outcome).collect(),
        cpu_time_s: base.clone().into_iter().map(seconds).collect(),
    })
}

/// A timeline under a policy.
#[must_use]
pub fn walked(timeline: &Timeline, clock: &Clock<'_>, policy: Policy) -> Walked {
    match clock.holds(policy) {
        Some(holds) => walk(timeline, clock, &holds),
        None => oracle::walk(timeline, clock),
    }
}

fn busy_ns(timeline: &Timeline) -> u64 {
    timeline.stretches.iter().filter(|it| !it.is_idle()).map(|it| it.work_ns).sum()
}

fn ratio(lost_ns: u64, least_ns: u64) -> f64 {
    if lost_ns == least_ns { 1.0 } else { lost_ns as f64 / least_ns as f64 }
}

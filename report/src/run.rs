//! One run of a comparison: a scheduler with a background, over programs and replicates.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use simulator::TaskOutcome;

use crate::application::Got;
use crate::attribution::{Attribution, LossEntry};
use crate::compare::Summed;
use crate::comparison::{Run, Task, WakeLatency};
use crate::metrics::{self, Slowdowns};
use crate::sample::{Replicates, ReportError, Sample};
use crate::specialization::Specialization;
use crate::statistics::{ci95_half_width, mean};

/// A sample and its control.
type Paired<'a> = (&'a Summed, &'a Summed);

const NS_PER_S: f64 = 1e9;

/// Takes the means of a group; its samples are by ascending replicate.
pub(crate) fn build(pairs: &[Paired], replicates: Replicates) -> Result<Run, ReportError> {
    let programs = by_program(pairs);
    check_even(&programs)?;
    let first = &pairs[0].0.sample;
    let mut tasks = Vec::new();
    let mut slowdowns = Slowdowns::default();
    for program in &programs {
        for index in 0..program[0].0.got.len() {
            let (task, each) = build_task(program, index)?;
            if program[0].0.got[index].is_judged() {
                slowdowns.0.push(each);
            }
            tasks.push(task);
        }
    }
    let shares = slowdowns.isolation_shares_pct();
    let over_programs = |of: &dyn Fn(Paired) -> f64| {
        let means: Vec<f64> = programs
            .iter()
            .map(|program| mean(&program.iter().map(|&pair| of(pair)).collect::<Vec<_>>()))
            .collect();
        mean(&means)
    };
    let sum = |of: fn(&Sample) -> u64| pairs.iter().map(|pair| of(&pair.0.sample)).sum::<u64>();
    let histogram = merged_latency(pairs);
    let losses = losses(&programs);
    Ok(Run {
        scheduler: first.scheduler.clone(),
        background: first.background.clone(),
        sensors: first.sensors.clone(),
        control: first.control,
        programs: programs.len(),
        replicates: programs[0].len(),
        unfinished: pairs.iter().filter(|pair| !pair.0.sample.outcome.completed).count(),
        tasks,
        attribution: Attribution::of(&losses),
        losses,
        isolation_slowdown_pct: slowdowns.isolation_pct(),
        ci95_half_width_pct: ci95_half_width(&shares),
        range_pct: range(&shares).filter(|_| replicates == Replicates::ParameterSets),
        signed_slowdown_pct: slowdowns.signed_pct(),
        signed_ci95_half_width_pct: ci95_half_width(&slowdowns.signed_by_replicate_pct()),
        slowdown_only_pct: slowdowns.slowdown_only_pct(),
        remote_avx_overhead_pct: over_programs(&|(ours, _)| {
            metrics::remote_avx_overhead_pct(judged(ours, CPU_TIME), judged(ours, LOST))
        }),
        cpu_time_vs_sse_pct: over_programs(&|(ours, control)| {
            metrics::excess_pct(judged(ours, CPU_TIME) as f64, judged(control, CPU_TIME) as f64)
        }),
        unfairness: over_programs(&|pair| metrics::unfairness(&all_slowdowns(pair))),
        jain: over_programs(&|pair| metrics::jain(&all_slowdowns(pair))),
        published: None,
        switches: sum(|sample| sample.outcome.switches),
        migrations: sum(|sample| sample.outcome.migrations),
        simulated_s: sum(|sample| sample.outcome.simulated_ns) as f64 / NS_PER_S,
        events: sum(|sample| sample.outcome.events),
        specialization: Specialization::of(
            pairs.iter().map(|pair| pair.0.sample.outcome.specialization),
            sum(|sample| sample.outcome.simulated_ns),
        ),
        core_forced_idle_pct: core_forced_idle_pct(pairs),
        level_share_pct: level_shares(pairs),
        wake_latency: quantiles(&histogram),
        wake_histogram_ns: histogram,
    })
}

/// Time for which core scheduling forced CPUs idle, of all CPU time.
fn core_forced_idle_pct(pairs: &[Paired]) -> Option<f64> {
    let outcomes = || pairs.iter().map(|pair| &pair.0.sample.outcome);
    let idle_ns = outcomes().map(|outcome| outcome.core_forced_idle_ns).sum::<Option<u64>>()?;
    let all_ns: u64 = outcomes().map(|outcome| outcome.busy_ns + outcome.idle_ns).sum();
    Some(100.0 * idle_ns as f64 / all_ns.max(1) as f64)
}

const CPU_TIME: fn(&TaskOutcome) -> u64 = |task| task.cpu_time_ns;
const LOST: fn(&TaskOutcome) -> u64 = |task| task.lost_ns;

/// Sum over the foreground of a run.
fn judged(summed: &Summed, of: fn(&TaskOutcome) -> u64) -> u64 {
    summed.got.iter().filter(|got| got.is_judged()).map(|got| of(&got.sum)).sum()
}

fn by_program<'a>(pairs: &[Paired<'a>]) -> Vec<Vec<Paired<'a>>> {
    let mut programs: Vec<Vec<Paired>> = Vec::new();
    for &pair in pairs {
        let name = &pair.0.sample.program;
        match programs.iter_mut().find(|program| program[0].0.sample.program == *name) {
            Some(program) => program.push(pair),
            None => programs.push(vec![pair]),
        }
    }
    programs
}

fn check_even(programs: &[Vec<Paired>]) -> Result<(), ReportError> {
    let expected = programs[0].len();
    for program in programs {
        let sample = &program[0].0.sample;
        if program.len() != expected {
            return Err(ReportError::Uneven {
                scheduler: sample.scheduler.clone(),
                background: sample.background.clone(),
                program: sample.program.clone().unwrap_or_else(|| "-".to_owned()),
                found: program.len(),
                expected,
            });
        }
        let names = |summed: &Summed| {
            summed.got.iter().map(|got| got.application.name.clone()).collect::<Vec<_>>()
        };
        if program.iter().any(|pair| names(pair.0) != names(program[0].0)) {
            return Err(ReportError::Inconsistent {
                scheduler: sample.scheduler.clone(),
                background: sample.background.clone(),
                what: "replicates have different applications",
            });
        }
    }
    Ok(())
}

/// An application of a program, and its slowdown in each replicate.
fn build_task(program: &[Paired], index: usize) -> Result<(Task, Vec<f64>), ReportError> {
    let got: Vec<&Got> = program.iter().map(|pair| &pair.0.got[index]).collect();
    let sample = &program[0].0.sample;
    let slowdowns: Option<Vec<f64>> = program
        .iter()
        .zip(&got)
        .map(|((_, control), got)| got.slowdown(got.counterpart(index, &control.got)?))
        .collect();
    if slowdowns.is_none() && got[0].is_judged() {
        return Err(ReportError::NoProgress {
            scheduler: sample.scheduler.clone(),
            background: sample.background.clone(),
            application: got[0].application.name.clone(),
        });
    }
    let mean_of = |of: &dyn Fn(&TaskOutcome) -> f64| {
        mean(&got.iter().map(|got| of(&got.sum)).collect::<Vec<_>>())
    };
    let seconds = |of: fn(&TaskOutcome) -> u64| mean_of(&|task| of(task) as f64 / NS_PER_S);
    let ends: Option<Vec<f64>> =
        got.iter().map(|got| got.sum.completion_ns.map(|ns| ns as f64 / NS_PER_S)).collect();
    let task = Task {
        name: got[0].application.name.clone(),
        program: sample.program.clone(),
        role: got[0].application.role,
        class: got[0].application.class.name().to_owned(),
        threads: got[0].threads,
        cpu_time_s: seconds(CPU_TIME),
        lost_s: seconds(LOST),
        completion_s: ends.map(|ends| mean(&ends)),
        progress: mean_of(&|task| task.ref_cycles as f64),
        rate_mcycles_per_s: mean(&got.iter().map(|got| 1e3 * got.rate).collect::<Vec<_>>()),
        slowdown: slowdowns.as_deref().map(mean),
        slowdown_ci95_half_width: slowdowns.as_deref().and_then(ci95_half_width),
        remote_avx_overhead_pct: mean_of(&|task| {
            metrics::remote_avx_overhead_pct(task.cpu_time_ns, task.lost_ns)
        }),
        slices: mean_of(&|task| task.slices as f64).round() as u64,
        migrations: mean_of(&|task| task.migrations as f64).round() as u64,
        waited_s: seconds(|task| task.waited_ns),
        refunded_s: seconds(|task| task.refunded_ns),
        billed_s: seconds(|task| task.billed_ns),
    };
    Ok((task, slowdowns.unwrap_or_default()))
}

/// Slowdowns of every application of a run that has one.
fn all_slowdowns((ours, control): Paired) -> Vec<f64> {
    let all = ours.got.iter().enumerate();
    all.filter_map(|(index, got)| got.slowdown(got.counterpart(index, &control.got)?)).collect()
}

fn losses(programs: &[Vec<Paired>]) -> Vec<LossEntry> {
    let mut sums: BTreeMap<(&str, &str), [f64; 3]> = BTreeMap::new();
    for program in programs {
        let share = 1.0 / (program.len() as f64 * NS_PER_S);
        for (Summed { sample, .. }, _) in program {
            let name = |index: u32| sample.applications[index as usize].name.as_str();
            for loss in &sample.outcome.losses {
                let sum = sums.entry((name(loss.victim), name(loss.culprit))).or_default();
                let times_ns = [loss.lost_ns, loss.repaid_ns, loss.idle_compensation_ns];
                for (sum, ns) in sum.iter_mut().zip(times_ns) {
                    *sum += ns as f64 * share;
                }
            }
        }
    }
    sums.into_iter()
        .map(|((victim, culprit), [lost_s, repaid_s, idle_compensation_s])| LossEntry {
            victim: victim.to_owned(),
            culprit: culprit.to_owned(),
            lost_s,
            repaid_s,
            idle_compensation_s,
        })
        .collect()
}

fn range(values: &[f64]) -> Option<[f64; 2]> {
    let lowest = values.iter().copied().reduce(f64::min)?;
    let highest = values.iter().copied().reduce(f64::max)?;
    Some([lowest, highest])
}

fn level_shares(pairs: &[Paired]) -> Vec<f64> {
    let level = |level: usize| -> u64 {
        pairs.iter().map(|pair| pair.0.sample.outcome.level_ns[level]).sum()
    };
    let levels: Vec<u64> = (0..cpu_model::LEVELS_MAX).map(level).collect();
    let used = levels.iter().rposition(|&ns| ns > 0).map_or(0, |last| last + 1);
    let all: u64 = levels.iter().sum();
    levels[..used].iter().map(|&ns| 100.0 * ns as f64 / all as f64).collect()
}

fn merged_latency(pairs: &[Paired]) -> Histogram<u64> {
    let mut merged = pairs[0].0.sample.outcome.wake_latency_ns.clone();
    merged.auto(true);
    for (one, _) in &pairs[1..] {
        merged
            .add(&one.sample.outcome.wake_latency_ns)
            .expect("a histogram that resizes takes every value");
    }
    merged
}

fn quantiles(histogram: &Histogram<u64>) -> WakeLatency {
    if histogram.is_empty() {
        return WakeLatency::default();
    }
    let us = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1e3;
    WakeLatency {
        count: histogram.len(),
        p50_us: us(0.5),
        p90_us: us(0.9),
        p99_us: us(0.99),
        p999_us: us(0.999),
        max_us: histogram.max() as f64 / 1e3,
    }
}

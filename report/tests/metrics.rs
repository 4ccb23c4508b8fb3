//! The figures of a comparison, against values computed by hand.

// Each test file uses another part of the made-up runs.
#[allow(dead_code)]
mod synthetic;

use cpu_model::Class;
use report::{Comparison, Replicates, ReportError, Run, Sample, Setup, compare};
use scenarios::{Claim, Figure, Role};
use simulator::{Loss, TaskOutcome};
use synthetic::{application, outcome, thread};

const S: u64 = 1_000_000_000;

/// A run of one program thread that ends and one background thread that does not.
fn sample(background: &str, program: &str, replicate: u32, completion_ns: u64) -> Sample {
    let tasks = vec![
        thread(Some(completion_ns), completion_ns, 0, 2 * S),
        thread(None, completion_ns, 0, 2 * completion_ns),
    ];
    let class = if background == "sse4" { Class::Scalar } else { Class::Avx512Heavy };
    Sample {
        scheduler: "fair".to_owned(),
        background: background.to_owned(),
        control: background == "sse4",
        program: Some(program.to_owned()),
        replicate,
        sensors: "d7".to_owned(),
        applications: vec![
            application(program, Role::Foreground, Class::Scalar),
            application("x265", Role::Background, class),
        ],
        thread_application: vec![0, 1],
        outcome: outcome(tasks, Vec::new(), completion_ns),
    }
}

/// Control completions of 1 s beside these.
fn paired(completions: &[(&str, u32, u64)]) -> Vec<Sample> {
    let pair = |&(program, replicate, ns): &(&str, u32, u64)| {
        [sample("sse4", program, replicate, S), sample("avx512", program, replicate, ns)]
    };
    completions.iter().flat_map(pair).collect()
}

fn of(samples: Vec<Sample>) -> Comparison {
    compare(Setup::default(), samples).unwrap()
}

fn judged(samples: Vec<Sample>) -> Run {
    of(samples).runs.into_iter().find(|run| !run.control).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn isolation_averages_absolute_program_means() {
    let run = judged(paired(&[
        ("a", 0, 12 * S / 10),
        ("a", 1, 14 * S / 10),
        ("b", 0, 8 * S / 10),
        ("b", 1, 10 * S / 10),
    ]));
    close(run.isolation_slowdown_pct, (30.0 + 10.0) / 2.0);
    close(run.signed_slowdown_pct, (30.0 - 10.0) / 2.0);
    close(run.slowdown_only_pct, 15.0);
    // Shares of the replicates 20 and 20, so no spread; signed 0 and 20: t(1) * 10.
    close(run.ci95_half_width_pct.unwrap(), 0.0);
    close(run.signed_ci95_half_width_pct.unwrap(), 12.706 * 10.0);
}

#[test]
fn replicates_are_paired_with_their_own_control() {
    let mut samples = paired(&[("a", 0, 2 * S), ("a", 1, 3 * S)]);
    samples[2].outcome = sample("sse4", "a", 1, 2 * S).outcome;
    close(judged(samples).isolation_slowdown_pct, (100.0 + 50.0) / 2.0);
}

#[test]
fn the_range_over_parameter_sets_surrounds_the_mean() {
    let setup = Setup { replicates: Replicates::ParameterSets, ..Setup::default() };
    let samples = paired(&[("a", 0, 12 * S / 10), ("a", 1, 8 * S / 10), ("a", 2, 9 * S / 10)]);
    let comparison = compare(setup, samples).unwrap();
    let run = comparison.runs.iter().find(|run| !run.control).unwrap();
    assert!(run.ci95_half_width_pct.is_some());
    let [low, high] = run.range_pct.unwrap();
    // The mean is a speed-up of 3.3 %, so that a set that slows by 20 % takes 20 from it.
    close(run.isolation_slowdown_pct, 10.0 / 3.0);
    close(low, -20.0);
    close(high, 20.0);
}

#[test]
fn a_control_has_slowdown_one_whatever_its_own_times() {
    let comparison = of(paired(&[("a", 0, 2 * S), ("b", 0, S / 2)]));
    let control = comparison.runs.iter().find(|run| run.control).unwrap();
    close(control.isolation_slowdown_pct, 0.0);
    close(control.unfairness, 1.0);
    assert!(control.tasks.iter().all(|task| task.slowdown == Some(1.0)));
}

#[test]
fn a_background_is_slowed_by_its_rate_of_work() {
    let mut samples = paired(&[("a", 0, 2 * S)]);
    samples[1].outcome.tasks[1].ref_cycles = S;
    let run = judged(samples);
    // Two cycles a nanosecond with the control, half a cycle now.
    close(run.tasks[1].slowdown.unwrap(), 4.0);
    close(run.unfairness, 4.0 / 2.0);
    // Progress 1/2 and 1/4: (3/4)^2 / (2 * 5/16).
    close(run.jain, 0.9);
}

#[test]
fn a_background_named_after_its_variant_is_found_by_its_place() {
    let mut samples = paired(&[("a", 0, S)]);
    samples[1].applications[1].name = "x265-avx512".to_owned();
    assert_eq!(judged(samples).tasks[1].slowdown, Some(1.0));
}

#[test]
fn an_unfinished_foreground_is_judged_by_its_rate_and_reported() {
    let mut samples = paired(&[("a", 0, S)]);
    samples[1].outcome.tasks[0] = thread(None, S, 0, S);
    samples[1].outcome.completed = false;
    let run = judged(samples);
    close(run.isolation_slowdown_pct, 100.0);
    assert_eq!((run.unfinished, run.tasks[0].completion_s), (1, None));
}

#[test]
fn an_application_ends_with_its_last_thread() {
    let mut samples = paired(&[("a", 0, S)]);
    for sample in &mut samples {
        sample.thread_application.push(0);
        let early = thread(Some(S / 2), S / 2, 0, S);
        sample.outcome.tasks.push(early);
    }
    samples[1].outcome.tasks[2].completion_ns = Some(3 * S);
    let run = judged(samples);
    close(run.tasks[0].completion_s.unwrap(), 3.0);
    close(run.isolation_slowdown_pct, 200.0);
}

#[test]
fn remote_overhead_is_lost_time_over_what_is_left_of_the_foreground_only() {
    let mut samples = paired(&[("a", 0, S), ("b", 0, S)]);
    samples[1].outcome.tasks[0].lost_ns = S / 5;
    samples[1].outcome.tasks[1].lost_ns = S / 2;
    let run = judged(samples);
    close(run.remote_avx_overhead_pct, 25.0 / 2.0);
    close(run.tasks[1].remote_avx_overhead_pct, 100.0);
}

#[test]
fn cpu_time_is_compared_with_that_of_the_control() {
    let mut samples = paired(&[("a", 0, S)]);
    samples[1].outcome.tasks[0].cpu_time_ns = 13 * S / 10;
    close(judged(samples).cpu_time_vs_sse_pct, 30.0);
}

#[test]
fn losses_are_means_over_replicates_summed_over_programs() {
    let mut samples = paired(&[("a", 0, S), ("a", 1, S), ("b", 0, S), ("b", 1, S)]);
    let loss = |lost_ns, repaid_ns| {
        let idle_compensation_ns = 0;
        Loss { victim: 1, culprit: 1, lost_ns, repaid_ns, idle_compensation_ns }
    };
    for (index, lost) in [(1, 4), (3, 2), (5, 1), (7, 1)] {
        samples[index].outcome.losses = vec![loss(lost * S, lost * S / 2)];
    }
    let run = judged(samples);
    assert_eq!(run.losses.len(), 1);
    assert_eq!((&*run.losses[0].victim, &*run.losses[0].culprit), ("x265", "x265"));
    close(run.losses[0].lost_s, 3.0 + 1.0);
    close(run.losses[0].repaid_s, 2.0);
}

#[test]
fn counts_are_sums_and_wake_ups_are_merged() {
    let mut samples = paired(&[("a", 0, S), ("b", 0, 3 * S)]);
    for (index, ns) in [(1, 1_000), (3, 9_000_000_000)] {
        samples[index].outcome.wake_latency_ns = hdrhistogram::Histogram::new(3).unwrap();
        samples[index].outcome.wake_latency_ns.record(ns).unwrap();
    }
    let run = judged(samples);
    assert_eq!((run.switches, run.migrations, run.events), (2000, 20, 10_000));
    close(run.simulated_s, 4.0);
    assert_eq!(run.wake_latency.count, 2);
    assert!(run.wake_latency.max_us > 8_900_000.0 && run.wake_latency.p50_us < 1.1);
}

#[test]
fn sensor_sets_are_runs_of_their_own() {
    let mut samples = paired(&[("a", 0, 2 * S)]);
    let mut others = paired(&[("a", 0, 3 * S)]);
    others.iter_mut().for_each(|sample| sample.sensors = "truth".to_owned());
    samples.extend(others);
    let comparison = of(samples);
    let found: Vec<(&str, f64)> =
        comparison.compared().map(|run| (&*run.sensors, run.isolation_slowdown_pct)).collect();
    assert_eq!(found, [("d7", 100.0), ("truth", 200.0)]);
}

#[test]
fn order_of_replicates_does_not_change_a_byte() {
    let forward = of(paired(&[("a", 0, S), ("a", 1, 2 * S), ("a", 2, 4 * S)]));
    let backward = of(paired(&[("a", 2, 4 * S), ("a", 1, 2 * S), ("a", 0, S)]));
    assert_eq!(forward.to_json().unwrap(), backward.to_json().unwrap());
}

fn claim(scheduler: &str, metric: &str, max: f64) -> Claim {
    let figure = Figure {
        metric: metric.to_owned(),
        scheduler: scheduler.to_owned(),
        rq_sharing: "none".to_owned(),
        sensors: "d7".to_owned(),
        background: "avx512".to_owned(),
        application: None,
    };
    Claim {
        id: Some("T089".to_owned()),
        figure,
        minus: None,
        over: None,
        min: None,
        max: Some(max),
        published: Some(5.0),
        calibrated: false,
        must_fail: false,
        known_miss: None,
        source: "our choice".to_owned(),
    }
}

fn claimed(claims: Vec<Claim>, samples: Vec<Sample>) -> Comparison {
    let setup = Setup { claims, rq_sharing: "smt".to_owned(), ..Setup::default() };
    compare(setup, samples).unwrap()
}

#[test]
fn a_claim_is_judged_on_its_run() {
    let with_minus = |scheduler: &str, max| {
        let mut claim = claim(scheduler, "isolation_slowdown_pct", max);
        let minus = Figure { metric: "signed_slowdown_pct".to_owned(), ..claim.figure.clone() };
        claim.minus = Some((minus, 0.5));
        claim
    };
    let claims = vec![with_minus("fair", 6.0), with_minus("fair", 4.0), with_minus("cfs", 6.0)];
    let claims = claimed(claims, paired(&[("a", 0, 11 * S / 10)])).claims;
    close(claims[0].found.unwrap(), 5.0);
    let holds: Vec<_> = claims.iter().map(|claimed| claimed.holds).collect();
    assert_eq!(holds, [Some(true), Some(false), None]);
    assert_eq!(claims[0].figure, "isolation_slowdown_pct - 0.5 signed_slowdown_pct");
}

#[test]
fn a_claim_may_be_about_one_application_and_another_background() {
    let mut claim = claim("fair", "completion_s", 50.0);
    claim.figure.application = Some("b".to_owned());
    claim.over = Some(Figure { background: "sse4".to_owned(), ..claim.figure.clone() });
    let samples = paired(&[("a", 0, 9 * S), ("b", 0, 15 * S / 10)]);
    let comparison = claimed(vec![claim], samples);
    close(comparison.claims[0].found.unwrap(), 50.0);
    assert_eq!(comparison.claims[0].figure, "completion_s of b, % above that with sse4");
    assert!(comparison.runs.iter().all(|run| run.published.is_none()), "of no whole run");
}

#[test]
fn figures_of_applications_are_those_of_their_losses_and_slices() {
    let mut samples = paired(&[("a", 0, S), ("b", 0, S)]);
    let loss = |lost_ns, repaid_ns| {
        let idle_compensation_ns = 0;
        Loss { victim: 0, culprit: 1, lost_ns, repaid_ns, idle_compensation_ns }
    };
    samples[1].outcome.losses = vec![loss(4 * S, S)];
    samples[3].outcome.losses = vec![loss(4 * S, 4 * S)];
    let repaid = |application: Option<&str>| {
        let mut claim = claim("fair", "repaid_pct", 0.0);
        claim.figure.application = application.map(str::to_owned);
        claim
    };
    let claims = vec![
        repaid(Some("a")),
        repaid(Some("b")),
        repaid(None),
        claim("fair", "slice_mcycles", 20.0),
    ];
    let found: Vec<f64> =
        claimed(claims, samples).claims.iter().map(|claimed| claimed.found.unwrap()).collect();
    // Two thousand million cycles in a hundred slices each.
    assert_eq!(found, [25.0, 100.0, 62.5, 20.0]);
}

#[test]
fn a_claim_is_about_its_sensors_and_queues_and_no_others() {
    let with = |scheduler: &str, sensors: &str, rq_sharing: &str| {
        let mut claim = claim(scheduler, "isolation_slowdown_pct", 60.0);
        claim.figure.sensors = sensors.to_owned();
        claim.figure.rq_sharing = rq_sharing.to_owned();
        claim
    };
    let run_as = |scheduler: &str| {
        let mut samples = paired(&[("a", 0, 15 * S / 10)]);
        samples.iter_mut().for_each(|sample| sample.scheduler = scheduler.to_owned());
        samples
    };
    let holds = |claim: Claim, scheduler| claimed(vec![claim], run_as(scheduler)).claims[0].holds;
    assert_eq!(holds(with("fair-isolation", "d7", "none"), "fair-isolation"), Some(true));
    assert_eq!(holds(with("fair-isolation", "truth", "none"), "fair-isolation"), None);
    assert_eq!(holds(with("fair", "truth", "none"), "fair"), Some(true), "it has no sensors");
    assert_eq!(holds(with("muqss", "d7", "smt"), "muqss"), Some(true));
    assert_eq!(holds(with("muqss", "d7", "none"), "muqss"), None);
}

#[test]
fn a_miss_is_unexpected_unless_it_is_known() {
    let is_unexpected = |change: fn(&mut Claim)| {
        let mut claim = claim("fair", "isolation_slowdown_pct", 4.0);
        change(&mut claim);
        claimed(vec![claim], paired(&[("a", 0, 11 * S / 10)])).claims[0].is_unexpected()
    };
    assert!(is_unexpected(|_| ()));
    assert!(!is_unexpected(|claim| claim.max = Some(10.0 + 1e-9)));
    assert!(!is_unexpected(|claim| claim.must_fail = true));
    assert!(!is_unexpected(|claim| claim.known_miss = Some("it is so".to_owned())));
    assert!(is_unexpected(|claim| {
        claim.known_miss = Some("it is so".to_owned());
        claim.max = Some(11.0);
    }));
    assert!(!is_unexpected(|claim| claim.max = None), "without bounds nothing is wrong");
}

#[test]
fn a_figure_without_a_value_keeps_no_claim() {
    let mut samples = paired(&[("a", 0, S)]);
    samples[1].outcome.tasks[0] = thread(None, S, 0, S);
    let claims = claimed(vec![claim("fair", "completion_s", 1e9)], samples).claims;
    assert_eq!((claims[0].holds, claims[0].found.unwrap().is_nan()), (Some(false), true));
}

#[test]
fn the_published_figure_is_shown_beside_its_run() {
    let claims = vec![claim("cfs", "jain", 1.0), claim("fair", "signed_slowdown_pct", 9.0)];
    let comparison = claimed(claims, paired(&[("a", 0, 11 * S / 10)]));
    let [control, run] = &comparison.runs[..] else { panic!("two runs") };
    assert_eq!(control.published, None);
    let published = run.published.as_ref().unwrap();
    assert_eq!((published.id.as_deref(), published.hit), (Some("T089"), Some(false)));
    close(published.ours, 10.0);
}

fn refused(change: impl FnOnce(&mut Vec<Sample>)) -> ReportError {
    let mut samples = paired(&[("a", 0, S), ("b", 0, S)]);
    change(&mut samples);
    compare(Setup::default(), samples).unwrap_err()
}

#[test]
fn samples_without_a_valid_comparison_are_refused() {
    assert_eq!(refused(Vec::clear), ReportError::Empty);
    let error = refused(|samples| drop(samples.remove(0)));
    assert!(matches!(error, ReportError::NoControl { program, .. } if program == "a"));
    let error = refused(|samples| samples.extend(paired(&[("b", 1, S)])));
    assert!(matches!(error, ReportError::Uneven { found: 2, expected: 1, .. }));
    let error = refused(|samples| samples[0].thread_application[0] = 7);
    assert!(matches!(error, ReportError::Inconsistent { .. }));
    let error = refused(|samples| samples[1].outcome.tasks.push(TaskOutcome::default()));
    assert!(matches!(error, ReportError::Inconsistent { .. }));
    let error = refused(|samples| samples[1].outcome.tasks[0] = thread(None, 0, 0, 0));
    assert!(matches!(error, ReportError::NoProgress { application, .. } if application == "a"));
}

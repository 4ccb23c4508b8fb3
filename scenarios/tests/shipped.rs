//! The shipped scenarios are read, and say what their sources say.

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{Case, MachineDefaults, Role, Scenario, Step, Workload};

const GOLD_6130: MachineDefaults =
    MachineDefaults { ref_khz: 2_100_000, packages: 1, cores_per_package: 16, threads_per_core: 2 };

fn shipped(name: &str) -> Scenario {
    let (file, text) = scenarios::by_name(name).unwrap();
    Scenario::parse(text, file).unwrap_or_else(|error| panic!("{error}"))
}

fn workload(scenario: &Scenario, foreground: &str, background: &str) -> Workload {
    let foreground = scenario.foreground_names().position(|name| name == foreground);
    let background = scenario.background_names().position(|name| name == background).unwrap();
    let case = Case { foreground, background };
    scenario.workload(case, None, &BTreeMap::new(), &GOLD_6130).unwrap()
}

/// Mean work by class of one round of a program's endless loop.
fn work_by_class(program: &[Step]) -> BTreeMap<Class, f64> {
    let mut weight = vec![1.0; program.len()];
    for (at, step) in program.iter().enumerate() {
        if let Step::Loop { to, times: Some(times) } = *step {
            weight[to as usize..at].iter_mut().for_each(|weight| *weight *= times as f64);
        }
    }
    let mut work = BTreeMap::new();
    for (step, weight) in program.iter().zip(weight) {
        if let Step::Compute(done) = step {
            *work.entry(done.class).or_insert(0.0) += done.ref_cycles.mean as f64 * weight;
        }
    }
    work
}

#[test]
fn every_shipped_scenario_is_read_and_has_its_file_name() {
    for name in scenarios::names() {
        let scenario = shipped(name);
        assert_eq!(scenario.name, name);
        assert!(!scenario.cases().is_empty());
    }
}

#[test]
fn example_of_the_readme_is_a_scenario() {
    let readme = include_str!("../README.md");
    let example = readme.split("```toml").nth(1).and_then(|rest| rest.split("```").next());
    let scenario = Scenario::parse(example.unwrap(), "README.md").unwrap();
    assert_eq!(scenario.cases().len(), 2);
}

#[test]
fn x265_classes_get_the_shares_of_the_parameters() {
    let workload = workload(&shipped("parsec-x265"), "ferret", "avx512");
    let x265 = workload.threads.iter().find(|thread| thread.name == "x265.2/5").unwrap();
    let work = work_by_class(&x265.program);
    let total: f64 = work.values().sum();
    let share = |class| work[&class] / total;
    assert!((share(Class::Avx512Heavy) - 0.7).abs() < 1e-3);
    assert!((share(Class::Avx512Light) - 0.2).abs() < 1e-3);
    assert!((share(Class::Scalar) - 0.1).abs() < 1e-3);
}

/// Share of a frame that the threads of an instance are busy: mean over largest of their work.
fn busy_share(workload: &Workload, instance: &str) -> f64 {
    let threads = workload.threads.iter().filter(|thread| thread.name.starts_with(instance));
    let frames: Vec<Vec<f64>> = threads
        .map(|thread| {
            let frames = thread.program.split(|step| matches!(step, Step::Barrier(_)));
            let mut start = 0;
            let mut work = Vec::new();
            for frame in frames.take_while(|frame| frame.len() > 1) {
                let local: Vec<Step> = frame.iter().map(|step| shifted(*step, start)).collect();
                work.push(work_by_class(&local).values().sum());
                start += frame.len() as u32 + 1;
            }
            work
        })
        .collect();
    let share = |frame: usize| {
        let work: Vec<f64> = frames.iter().map(|frames| frames[frame]).collect();
        work.iter().sum::<f64>() / work.len() as f64 / work.iter().copied().fold(0.0, f64::max)
    };
    (0..frames[0].len()).map(share).sum::<f64>() / frames[0].len() as f64
}

fn shifted(step: Step, start: u32) -> Step {
    match step {
        Step::Loop { to, times } => Step::Loop { to: to.saturating_sub(start), times },
        other => other,
    }
}

#[test]
fn x265_threads_wait_for_each_other_as_published() {
    let scenario = shipped("parsec-x265");
    for (background, published) in [("avx2", 20.8 / 32.0), ("avx512", 24.6 / 32.0)] {
        let workload = workload(&scenario, "ferret", background);
        let instances = ["x265.0/", "x265.1/", "x265.2/", "x265.3/"];
        let share = instances.iter().map(|name| busy_share(&workload, name)).sum::<f64>() / 4.0;
        assert!((share - published).abs() < 0.03, "{background}: {share}");
    }
}

#[test]
fn two_cores_have_four_threads_each_and_the_row_of_sixteen_cores() {
    for name in ["parsec-x265-two-cores", "parsec-synthetic-two-cores"] {
        let workload = workload(&shipped(name), "canneal", "avx512");
        assert_eq!(workload.machine.cpus(), 4);
        assert_eq!(workload.machine.turbo_cores, Some(16));
        assert_eq!(workload.threads.len(), 8);
    }
}

#[test]
fn classes_of_a_single_application_follow_the_background() {
    let scenario = shipped("nginx-crypto");
    let class = |background| workload(&scenario, "nginx", background).applications[0].class;
    assert_eq!(class("sse4"), Class::Scalar);
    assert_eq!(class("avx512"), Class::Avx512Heavy);
    let workload = workload(&scenario, "nginx", "avx512");
    let work = work_by_class(&workload.threads[0].program);
    let crypto = work[&Class::Avx512Heavy] / work.values().sum::<f64>();
    assert!((crypto - 0.025).abs() < 1e-4, "{crypto}");
}

#[test]
fn pingpong_turns_have_the_cycles_of_the_thesis() {
    let workload = workload(&shipped("pingpong"), "scalar-pair", "avx512");
    let Step::Compute(work) = workload.threads[0].program[0] else { panic!("no work first") };
    assert_eq!(work.ref_cycles.mean, 970_000);
    assert!(!workload.machine.turbo);
}

#[test]
fn tolerances_are_those_fixed_before_the_first_run() {
    let bounds = |scenario: &str, scheduler: &str, background: &str| {
        let claims = shipped(scenario).claims;
        let claim = claims
            .into_iter()
            .find(|claim| claim.scheduler == scheduler && claim.background == background);
        let claim = claim.unwrap();
        (claim.published.unwrap(), claim.min, claim.max)
    };
    let within = |published: f64, tolerance: f64| {
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        (published, Some(tenth(published - tolerance)), Some(tenth(published + tolerance)))
    };
    let x265 = "parsec-x265";
    assert_eq!(bounds(x265, "fair", "avx2"), within(7.3, 2.0));
    assert_eq!(bounds(x265, "fair", "avx512"), within(23.5, 2.0));
    assert_eq!(bounds(x265, "fair-relative", "avx2"), within(2.9, 2.0));
    assert_eq!(bounds(x265, "fair-relative", "avx512"), within(12.6, 2.0));
    assert_eq!(bounds(x265, "fair-isolation", "avx2"), within(2.1, 1.5));
    assert_eq!(bounds(x265, "fair-isolation", "avx512"), within(6.4, 1.5));
    let two_cores = bounds("parsec-x265-two-cores", "fair-isolation", "avx512");
    assert_eq!(two_cores, (2.5, None, Some(4.0)));
    let synthetic = "parsec-synthetic-two-cores";
    assert_eq!(bounds(synthetic, "fair-isolation", "avx2"), (1.2, None, Some(2.0)));
    assert_eq!(bounds(synthetic, "fair-isolation", "avx512"), (2.3, None, Some(4.0)));
}

#[test]
fn only_the_two_x265_baselines_are_calibrated() {
    let calibrated: Vec<_> = scenarios::names()
        .flat_map(|name| shipped(name).claims.into_iter().map(move |claim| (name, claim)))
        .filter(|(_, claim)| claim.calibrated)
        .map(|(name, claim)| (name, claim.scheduler, claim.published))
        .collect();
    let fair = |published| ("parsec-x265", "fair".to_owned(), Some(published));
    assert_eq!(calibrated, [fair(7.3), fair(23.5)]);
}

#[test]
fn claims_compare_with_another_metric_where_they_say_so() {
    let claim = shipped("closed-form-relative").claims.remove(0);
    let results = |slowdown: f64| {
        move |metric: &str| if metric == "signed_slowdown_pct" { slowdown } else { 24.0 }
    };
    assert!(claim.holds(results(12.3)));
    assert!(!claim.holds(results(24.0)));
}

#[test]
fn fits_change_the_drawn_totals_and_overrides_win() {
    let scenario = shipped("parsec-x265");
    let case = Case { foreground: Some(0), background: 2 };
    let build = |fit, overrides: &BTreeMap<String, f64>| {
        scenario.workload(case, fit, overrides, &GOLD_6130).unwrap()
    };
    let none = BTreeMap::new();
    assert_ne!(build(Some(1), &none), build(Some(2), &none));
    assert_eq!(build(Some(1), &none), build(Some(1), &none));
    let fewer = BTreeMap::from([("x265_instances".to_owned(), 2.0)]);
    assert_eq!(build(Some(1), &fewer).threads.len(), 32 + 16);
}

#[test]
fn foreground_threads_are_the_same_beside_every_background() {
    let scenario = shipped("parsec-x265");
    let foreground = |background| {
        let workload = workload(&scenario, "vips", background);
        workload
            .threads
            .into_iter()
            .filter(|thread| {
                workload.applications[thread.application as usize].role == Role::Foreground
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(foreground("sse4").len(), 32);
    assert_eq!(foreground("sse4"), foreground("avx512"));
}

#[test]
fn random_streams_are_used_once() {
    let workload = workload(&shipped("parsec-x265"), "vips", "avx2");
    let streams: std::collections::BTreeSet<_> =
        workload.threads.iter().map(|thread| thread.stream).collect();
    assert_eq!(streams.len(), workload.threads.len());
}

//! The shipped scenarios can be read, and agree with their sources.

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{Case, MachineDefaults, Role, Scenario, Step, Workload};

const GOLD_6130: MachineDefaults =
    MachineDefaults { ref_khz: 2_100_000, packages: 1, cores_per_package: 16, threads_per_core: 2 };

fn shipped(name: &str) -> Scenario {
    let (file, text) = scenarios::by_name(name).unwrap();
    Scenario::parse(text, file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_shipped_scenario_is_read_by_its_name_as_it_is_parsed() {
    for name in scenarios::names() {
        let read = Scenario::shipped(name).unwrap().unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", shipped(name)));
    }
    assert!(Scenario::shipped("none").is_none());
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
        if let Some(done) = step.work() {
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
    assert!((share(Class::Avx512Heavy) - 0.67).abs() < 1e-3);
    assert!((share(Class::Avx512Light) - 0.33).abs() < 1e-3);
    assert!(!work.contains_key(&Class::Scalar));
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

/// A published figure: id, scenario, scheduler, background, value, bounds.
type Target =
    (&'static str, &'static str, &'static str, &'static str, f64, Option<f64>, Option<f64>);

/// Every published figure that is judged or shown, with the tolerance fixed before the first run.
#[rustfmt::skip]
const TARGETS: [Target; 37] = [
    ("T035", "parsec-onednn", "cfs", "avx2", 5.1, Some(3.1), Some(7.1)),
    ("T035", "parsec-x265", "cfs", "avx2", 5.1, Some(3.1), Some(7.1)),
    ("T036", "parsec-onednn", "cfs", "avx512", 16.8, Some(14.8), Some(18.8)),
    ("T036", "parsec-x265", "cfs", "avx512", 16.8, Some(14.8), Some(18.8)),
    ("T037", "nginx-crypto", "cfs", "avx512", 13.2, Some(11.2), Some(15.2)),
    ("T073", "parsec-onednn", "muqss", "avx512", 12.3, Some(10.8), Some(13.8)),
    ("T074", "parsec-onednn", "specialize", "avx512", 1.2, None, Some(2.0)),
    ("T076", "parsec-onednn", "core-scheduling", "avx512", 3.5, Some(2.5), Some(4.5)),
    ("T078", "nginx-crypto-no-ht", "specialize", "avx512", -4.0, Some(-4.5), Some(-3.5)),
    ("T083", "parsec-x265", "cfs", "avx2", 1.7, None, None),
    ("T083", "parsec-x265", "cfs", "avx512", 13.7, None, None),
    ("T083", "parsec-x265-builds", "cfs", "avx2", 1.7, Some(-1.3), Some(4.7)),
    ("T083", "parsec-x265-builds", "cfs", "avx512", 13.7, Some(10.7), Some(16.7)),
    ("T084", "parsec-synthetic", "cfs", "avx2", 5.1, None, None),
    ("T084", "parsec-synthetic", "cfs", "avx512", 15.9, None, None),
    ("T086", "parsec-x265", "fair", "avx2", 7.3, Some(5.3), Some(9.3)),
    ("T086", "parsec-x265-builds", "fair", "avx2", 7.3, Some(5.3), Some(9.3)),
    ("T087", "parsec-x265", "fair-isolation", "avx2", 2.1, Some(0.6), Some(3.6)),
    ("T087", "parsec-x265-builds", "fair-isolation", "avx2", 2.1, Some(0.6), Some(3.6)),
    ("T088", "parsec-x265", "fair-relative", "avx2", 2.9, Some(0.9), Some(4.9)),
    ("T088", "parsec-x265-builds", "fair-relative", "avx2", 2.9, Some(0.9), Some(4.9)),
    ("T089", "parsec-x265", "fair", "avx512", 23.5, Some(21.5), Some(25.5)),
    ("T089", "parsec-x265-builds", "fair", "avx512", 23.5, Some(21.5), Some(25.5)),
    ("T090", "parsec-x265", "fair-isolation", "avx512", 6.4, Some(4.9), Some(7.9)),
    ("T090", "parsec-x265-builds", "fair-isolation", "avx512", 6.4, Some(4.9), Some(7.9)),
    ("T091", "parsec-x265", "fair-relative", "avx512", 12.6, Some(10.6), Some(14.6)),
    ("T091", "parsec-x265-builds", "fair-relative", "avx512", 12.6, Some(10.6), Some(14.6)),
    ("T092", "parsec-x265-two-cores", "fair", "avx512", 28.3, None, None),
    ("T092", "parsec-x265-two-cores", "fair-isolation", "avx512", 2.5, None, Some(4.0)),
    ("T093", "parsec-synthetic-two-cores", "fair", "avx2", 8.7, None, None),
    ("T093", "parsec-synthetic-two-cores", "fair-isolation", "avx2", 1.2, None, Some(2.0)),
    ("T094", "parsec-synthetic-two-cores", "fair", "avx512", 26.9, None, None),
    ("T094", "parsec-synthetic-two-cores", "fair-isolation", "avx512", 2.3, None, Some(4.0)),
    ("T100", "pingpong", "machauer", "avx512", -10.6, Some(-12.6), Some(-8.6)),
    ("T102", "pingpong", "machauer-without-refund", "avx512", 0.9, None, Some(1.5)),
    ("T103", "pingpong", "cfs", "avx512", 0.97, Some(0.873), Some(1.067)),
    ("T103", "pingpong", "cfs", "avx512", 37.6, Some(33.9), Some(41.4)),
];

#[test]
fn published_figures_and_tolerances_are_those_fixed_before_the_first_run() {
    let mut found = Vec::new();
    for name in scenarios::names() {
        for claim in shipped(name).claims {
            assert_eq!(claim.id.is_some(), claim.published.is_some(), "{name}: {claim:?}");
            let (Some(id), Some(published)) = (claim.id, claim.published) else { continue };
            let figure = claim.figure;
            let (scheduler, background) = (figure.scheduler, figure.background);
            found.push((id, name, scheduler, background, published, claim.min, claim.max));
        }
    }
    let text = |target: &Target| format!("{target:?}");
    let mut found: Vec<String> = found.iter().map(|target| format!("{target:?}")).collect();
    let mut expected: Vec<String> = TARGETS.iter().map(text).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn no_shipped_scenario_is_calibrated() {
    for name in scenarios::names() {
        let scenario = shipped(name);
        assert!(scenario.fits.is_empty() && scenario.calibrated_on.is_empty(), "{name}");
        assert!(scenario.claims.iter().all(|claim| !claim.calibrated), "{name}");
    }
}

#[test]
fn claims_name_existing_schedulers_and_sensors() {
    const SCHEDULERS: [&str; 11] = [
        "cfs",
        "machauer",
        "machauer-without-refund",
        "core-scheduling",
        "eevdf",
        "muqss",
        "specialize",
        "fair",
        "fair-relative",
        "fair-isolation",
        "even",
    ];
    const SENSORS: [&str; 5] = ["d7", "xinuse", "fp-retired", "rules", "truth"];
    for name in scenarios::names() {
        for claim in shipped(name).claims {
            for figure in claim.figures() {
                assert!(SCHEDULERS.contains(&figure.scheduler.as_str()), "{name}: {figure:?}");
                assert!(SENSORS.contains(&figure.sensors.as_str()), "{name}: {figure:?}");
            }
        }
    }
}

#[test]
fn muqss_is_claimed_about_with_the_run_queues_of_its_source() {
    let claims = shipped("parsec-onednn").claims;
    let claim = claims.iter().find(|claim| claim.figure.scheduler == "muqss").unwrap();
    assert_eq!(claim.figure.rq_sharing, "smt");
}

#[test]
fn a_control_differs_from_its_cases_in_classes_alone() {
    let none = BTreeMap::new();
    let machine = MachineDefaults { cores_per_package: 64, ..GOLD_6130 };
    for name in scenarios::names() {
        let scenario = shipped(name);
        assert_eq!(scenario.unlike_control().count(), 0, "{name}");
        let control = scenario.control();
        for case in scenario.cases().into_iter().filter(|case| case.background != control) {
            let beside = Case { background: control, ..case };
            for fit in 0..scenario.fits.len().max(1) {
                let build = |case| scenario.workload(case, Some(fit), &none, &machine).unwrap();
                let placebo = scenario.placebo(case, Some(fit), &none, &machine).unwrap();
                let expected = build(beside).without_classes();
                assert_ne!(build(case), build(beside), "{name}: nothing differs");
                // Its control is slower, as the SSE4 build of x265 is.
                if name != "parsec-x265-builds" {
                    assert_eq!(build(case).without_classes(), expected, "{name}");
                }
                assert_eq!(placebo.without_classes(), expected, "{name}");
            }
        }
    }
}

#[test]
fn fits_change_amounts_and_overrides_win() {
    let (file, text) = scenarios::by_name("parsec-x265").unwrap();
    let fit = |us: u32| format!("[[fit]]\nx265_compute_us = {us}\n");
    let fitted = format!("{text}\n{}{}{}", fit(8000), fit(9000), fit(11_000));
    let scenario = Scenario::parse(&fitted, file).unwrap();
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

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

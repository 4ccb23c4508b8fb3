//! Random program mixes are scenarios, and their backgrounds differ in nothing but classes.

use std::collections::{BTreeMap, BTreeSet};

use cpu_model::Class;
use scenarios::{Case, MachineDefaults, Role, Scenario, Step, Workload};

const GOLD_6130: MachineDefaults =
    MachineDefaults { ref_khz: 2_100_000, packages: 1, cores_per_package: 16, threads_per_core: 2 };

fn scenario(seed: u64) -> Scenario {
    let text = scenarios::mix(seed);
    Scenario::parse(&text, "mix.toml").unwrap_or_else(|error| panic!("mix {seed}: {error}\n{text}"))
}

fn workload(scenario: &Scenario, case: Case) -> Workload {
    scenario.workload(case, Some(0), &BTreeMap::new(), &GOLD_6130).unwrap()
}

#[test]
fn backgrounds_of_a_mix_differ_in_their_classes_alone() {
    for seed in 1..=500 {
        let scenario = scenario(seed);
        let names: Vec<&str> = scenario.background_names().collect();
        assert_eq!((names.as_slice(), scenario.control()), (&["sse4", "avx2", "avx512"][..], 0));
        for control in scenario.cases().into_iter().filter(|case| case.background == 0) {
            let beside = |background| workload(&scenario, Case { background, ..control });
            let sse4 = beside(0);
            assert_eq!(sse4, sse4.clone().without_classes(), "mix {seed}");
            for (background, class) in [(1, Class::Avx2Heavy), (2, Class::Avx512Heavy)] {
                let avx = beside(background);
                let is_culprit = |one: &&scenarios::Application| one.class == class;
                let culprits = avx.applications.iter().filter(is_culprit);
                assert!(culprits.clone().count() > 0, "mix {seed}");
                assert!(culprits.clone().all(|one| one.role == Role::Background), "mix {seed}");
                assert_eq!(sse4, avx.without_classes(), "mix {seed}");
                let placebo = Case { background, ..control };
                let placebo =
                    scenario.placebo(placebo, Some(0), &BTreeMap::new(), &GOLD_6130).unwrap();
                assert!(placebo.applications.iter().all(|one| one.class == Class::Scalar));
                assert_eq!(sse4, placebo.without_classes(), "mix {seed}");
            }
        }
    }
}

/// Every feature of the table in the decision occurs in some mix.
#[test]
fn five_hundred_mixes_have_everything_that_is_promised() {
    let mut seen = BTreeSet::new();
    for seed in 1..=500 {
        let scenario = scenario(seed);
        let case = *scenario.cases().last().unwrap();
        let workload = workload(&scenario, case);
        let machine = &workload.machine;
        seen.insert(format!("{} cores", machine.cores_per_package));
        assert_eq!(machine.turbo_cores.unwrap_or(machine.cores_per_package), 16, "mix {seed}");
        seen.insert(format!("{} programs", scenario.foreground_names().count()));
        seen.insert(format!("each: {}", case.foreground.is_some()));
        for application in &workload.applications {
            seen.insert(application.name.trim_end_matches(|c: char| c != '-').to_owned());
            seen.insert(format!("{:?}", application.class));
        }
        for thread in &workload.threads {
            seen.insert(format!("nice {}", thread.nice));
        }
        let lighter =
            |step: &Step| step.work().is_some_and(|work| work.class == Class::Avx512Light);
        if workload.threads.iter().flat_map(|thread| &thread.program).any(lighter) {
            seen.insert("lighter".to_owned());
        }
    }
    let promised = "2 cores,4 cores,8 cores,16 cores,1 programs,2 programs,3 programs,each: true,\
                    each: false,loop-,steps-,serial-,locked-,pipeline-,service-,steady-,bursts-,\
                    frames-,phases-,,Scalar,Avx512Heavy,nice 0,nice -5,nice -2,nice 2,nice 5,\
                    lighter";
    let promised: BTreeSet<String> = promised.split(',').map(str::to_owned).collect();
    assert_eq!(seen, promised);
}

#[test]
fn a_seed_has_the_same_mix_on_every_machine_and_in_every_version() {
    let bytes = (1..=500).flat_map(|seed| scenarios::mix(seed).into_bytes());
    assert_eq!(
        random::fnv1a(bytes),
        0x851a_2e7f_f924_10a2,
        "a new distribution needs new figures everywhere"
    );
}

#[test]
fn held_out_seeds_follow_from_the_release_and_are_none_of_development() {
    let seeds = |tag| (0..1000).map(move |index| scenarios::held_out_seed(tag, index));
    let all: BTreeSet<u64> = seeds("v0.1.0").chain(seeds("v0.2.0")).collect();
    assert_eq!(all.len(), 2000, "no two alike");
    assert!(all.iter().all(|seed| (1 << 52..1 << 53).contains(seed)));
    assert!((0..1000).all(|index| !all.contains(&scenarios::development_seed(index))));
    assert_eq!(scenarios::held_out_seed("v0.1.0", 0), scenarios::held_out_seed("v0.1.0", 0));
}

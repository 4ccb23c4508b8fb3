//! Estimates of whole runs against their truth.

use cpu_model::Class;
use profiler::matrix::{Entry, Matrix};
use profiler::{Basis, Cause, Method, Plan, Profile};
use scenarios::{Draw, Spread, Step, Workload};

use crate::build::{add, matrix, pair, profile, skylake, truth_pct, two_cores, work};

/// A hundred samples a second.
fn plan() -> Plan {
    Plan::ours(&skylake(), 1).with_rate(100.0)
}

fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected}");
}

fn entry<'a>(profile: &Profile, matrix: &'a Matrix, victim: &str, culprit: &str) -> &'a Entry {
    let group = |name: &str| profile.groups.iter().position(|known| known == name);
    let (victim, culprit) = (group(victim).unwrap(), group(culprit));
    matrix.entries.iter().find(|it| it.victim == victim && it.culprit == culprit).unwrap()
}

/// Both estimators, the published one included, on a victim beside each class.
#[test]
fn a_victim_beside_a_culprit_loses_what_it_loses() {
    for class in [Class::Avx2Heavy, Class::Avx512Light, Class::Avx512Heavy] {
        let workload = pair(class, 1000);
        let (profile, outcome) = profile(&workload, plan());
        let truth = truth_pct(&workload, &outcome, 0);
        assert!(truth > 5.0);
        let ours = matrix(&profile);
        assert_near(ours.victims[0].overhead_pct.value, truth, 0.3);
        let of_culprit = ours.victims[1].overhead_pct.value;
        assert!(of_culprit < 0.3, "{class:?} is no victim: {of_culprit}");
        let lost = entry(&profile, &ours, "victim", "culprit");
        let by_sibling = lost.by_cause_ns[Cause::Sibling as usize];
        assert!(by_sibling > 0.9 * ours.victims[0].lost_ns.value, "{lost:?}");
        if class.is_heavy() {
            // Instructions that retired name the culprit.
            let counted = Matrix::of_slices(&profile, 1);
            assert_near(counted.victims[0].overhead_pct.value, truth, 0.3);
        }
    }
}

/// Without counters all of the time counts as if it depended on the clock, of which a fifth waits
/// for memory here.
#[test]
fn clocks_alone_overestimate_by_the_stalls() {
    for class in [Class::Avx2Heavy, Class::Avx512Heavy] {
        let workload = pair(class, 1000);
        let (profile, outcome) = profile(&workload, plan());
        let truth = truth_pct(&workload, &outcome, 0);
        let clocks = Matrix::of_clocks(&profile, 1);
        let victim = &clocks.victims[0];
        let value = victim.overhead_pct.value;
        assert!((1.1 * truth..1.5 * truth).contains(&value), "{class:?}: {value} of {truth}");
        assert!(victim.overhead_pct.low > 0.0 && victim.basis == Basis::Measured);
        let of_culprit = clocks.victims[1].overhead_pct.value;
        assert!(of_culprit < 1.0, "{class:?} is no victim: {of_culprit}");
        let lost = entry(&profile, &clocks, "victim", "culprit");
        assert!(lost.lost_ns.value > 0.9 * victim.lost_ns.value, "{lost:?}");
    }
}

/// Method that are counted alone, as published, are a greater share than beside the sibling.
#[test]
fn counting_stalls_alone_underestimates() {
    let workload = pair(Class::Avx512Heavy, 1000);
    let (profile, outcome) = profile(&workload, plan());
    let truth = truth_pct(&workload, &outcome, 0);
    let published = Matrix::of_samples(&profile, Method::Published, 1);
    let value = published.victims[0].overhead_pct.value;
    assert!((truth - 10.0..truth - 1.0).contains(&value), "{value} of {truth}");
}

/// D l. 949: threads of 300 permille each demand level 2 together, and level 1 alone, so the
/// profiler reports a loss that does not exist.
#[test]
fn threads_that_exceed_the_rate_only_together_are_overestimated() {
    let mut workload = two_cores();
    let step = [work(Class::Avx512Heavy, 300, 1000)];
    add(&mut workload, "first", 0, &step, Some(2000));
    add(&mut workload, "second", 1, &step, None);
    let (profile, outcome) = profile(&workload, plan());
    let truth = truth_pct(&workload, &outcome, 0);
    let value = matrix(&profile).victims[0].overhead_pct.value;
    // The simulator, too, counts losses by the level of each thread alone, and overestimates: 2.4
    // over 1.9 GHz, less the share of stalls.
    assert_near(value, truth, 0.5);
    assert!(value > 15.0, "{value}");
}

/// Wide and scalar code that alternate every 300 us on one core: all is lost to the hold.
#[test]
fn losses_to_the_own_hold_and_to_earlier_tasks_have_their_culprits() {
    let mut workload = two_cores();
    let step = [work(Class::Avx512Heavy, 1000, 100), work(Class::Scalar, 1000, 900)];
    add(&mut workload, "mixed", 0, &step, Some(2000));
    let sleep = Step::Sleep(Draw { mean: 1_000_000, spread: Spread::Uniform(500) });
    add(&mut workload, "wide", 2, &[work(Class::Avx512Heavy, 1000, 300), sleep], None);
    add(&mut workload, "scalar", 2, &[work(Class::Scalar, 1000, 2000)], None);
    let (profile, outcome) = profile(&workload, plan().with_rate(300.0));
    let ours = matrix(&profile);
    for group in 0..3 {
        let truth = truth_pct(&workload, &outcome, group);
        let value = ours.victims[group as usize].overhead_pct;
        assert_near(value.value, truth, 3.0);
    }
    let own = entry(&profile, &ours, "mixed", "mixed");
    let scalar = entry(&profile, &ours, "scalar", "wide");
    for lost in [own, scalar] {
        assert_eq!(lost.by_cause_ns[Cause::Sibling as usize], 0.0);
        assert!(lost.by_cause_ns[Cause::Hold as usize] > 0.0);
    }
    let lost = ours.entries.iter().filter(|it| it.lost_ns.value > 0.0);
    let others = lost.filter(|it| it.culprit != Some(it.victim));
    assert_eq!(others.count(), 1, "{:?}", ours.entries);
}

/// Step 5 agrees with what the tasks on the core suggest.
#[test]
fn measuring_the_split_finds_the_sibling() {
    let workload = pair(Class::Avx512Heavy, 1000);
    let (profile, _) = profile(&workload, Plan { splits_causes: true, ..plan() });
    let measured = profile.samples.iter().filter(|it| it.sample.task == 0);
    let by_sibling: Vec<bool> = measured
        .filter_map(|it| it.sample.level_beside)
        .map(|level_beside| level_beside == 2)
        .collect();
    assert!(by_sibling.len() > 50 && by_sibling.iter().all(|&it| it), "{by_sibling:?}");
}

/// Without wide code there is nothing to lose, whatever the seed.
#[test]
fn nothing_is_lost_where_nothing_is_wide() {
    let workload = pair(Class::Scalar, 1000);
    for seed in 0..20 {
        let (profile, _) = profile(&workload, Plan { seed, ..plan() });
        for matrix in [matrix(&profile), Matrix::of_slices(&profile, seed)] {
            assert!(matrix.entries.iter().all(|entry| entry.lost_ns.high == 0.0));
            assert!(matrix.victims.iter().all(|victim| victim.overhead_pct.high == 0.0));
        }
    }
}

/// A group without samples is taken for scalar, and said to be.
#[test]
fn groups_without_samples_rest_on_an_assumption() {
    let workload = pair(Class::Avx512Heavy, 1000);
    let (mut profile, outcome) = profile(&workload, plan());
    profile.samples.retain(|seen| seen.sample.task == 1);
    let matrix = matrix(&profile);
    let basis = [matrix.victims[0].basis, matrix.victims[1].basis];
    assert_eq!(basis, [Basis::Assumed, Basis::Measured]);
    assert_near(matrix.victims[0].overhead_pct.value, truth_pct(&workload, &outcome, 0), 0.3);
}

#[test]
fn profiles_of_machines_merge_by_the_names_of_groups() {
    let of = |workload: &Workload, seed| profile(workload, Plan { seed, ..plan() }).0;
    let first = of(&pair(Class::Avx512Heavy, 1000), 1);
    let second = of(&pair(Class::Avx512Heavy, 1000), 2);
    let mut both = first.clone();
    both.merge(second.clone());
    assert_eq!(both.groups, first.groups);
    assert_eq!(both.tally.taken, first.tally.taken + second.tally.taken);
    let lost = |profile: &Profile| matrix(profile).victims[0].lost_ns.value;
    assert_near(lost(&both) / (lost(&first) + lost(&second)), 1.0, 0.01);
    let mut other = two_cores();
    add(&mut other, "third", 0, &[work(Class::Scalar, 1000, 1000)], Some(100));
    both.merge(of(&other, 3));
    assert_eq!(both.groups, ["victim", "culprit", "third"]);
    assert_near(lost(&both) / (lost(&first) + lost(&second)), 1.0, 0.01);
}

/// A thread that never leaves its CPU is accounted when the run ends.
#[test]
fn tasks_without_a_switch_have_their_cpu_time() {
    let workload = pair(Class::Avx512Heavy, 1000);
    let (profile, outcome) = profile(&workload, plan());
    let matrix = matrix(&profile);
    for (victim, task) in matrix.victims.iter().zip(&outcome.tasks) {
        assert_eq!(victim.cpu_time_ns, task.cpu_time_ns);
    }
}

/// Tasks that are always together cannot be told apart: neither is taken for a victim.
#[test]
fn counters_alone_do_not_guess_between_tasks_that_are_always_together() {
    let workload = pair(Class::Avx512Light, 1000);
    let (profile, _) = profile(&workload, plan());
    let matrix = Matrix::of_slices(&profile, 1);
    let basis = matrix.victims.iter().map(|victim| victim.basis);
    assert!(basis.eq([Basis::AtLeast, Basis::AtLeast]), "{:?}", matrix.victims);
    // Of runs of a second.
    let lost_ns = matrix.entries.iter().map(|entry| entry.lost_ns.value);
    assert!(lost_ns.fold(0.0, f64::max) < 100_000.0, "{:?}", matrix.entries);
}

/// Rises of Granite Rapids halt the core for a moment, and throttle nothing.
#[test]
fn demands_show_on_cpus_without_throttles_too() {
    let table = cpu_model::CpuTable::by_name("granite-rapids").unwrap();
    let cpu = table.model(cpu_model::TurboMode::On).unwrap();
    let workload = pair(Class::Avx512Heavy, 1000);
    let plan = Plan::ours(&cpu, 1).with_rate(100.0);
    let config = crate::build::config();
    let (profile, outcome) =
        profiler::simulated::profile(&cpu, &workload, &config, Some(plan)).unwrap();
    let matrix = matrix(&profile);
    for group in 0..2 {
        let truth = truth_pct(&workload, &outcome, group);
        assert_near(matrix.victims[group as usize].overhead_pct.value, truth, 0.3);
    }
}

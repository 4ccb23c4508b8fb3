//! The pitfalls of a model of D ch. 7, each shown to be avoided or to exist.
//!
//! That |slowdown| also counts speed-ups is a matter of the report, not of a run.

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{Barrier, Draw, Role, Spread, Step, Workload};
use simulator::{Compensation, SensorSet};

use crate::build::{
    MS, add, completion_ns, empty, fair, machine, pinned_half_load, run, saturating, skylake,
    slowdown_pct, work,
};

const MODES: [Compensation; 3] =
    [Compensation::None, Compensation::Relative, Compensation::Isolation];

/// Scalar and other threads, one of each a CPU; `turbo_cores` decides the row.
fn mixed(cores: u32, turbo_cores: Option<u32>, culprit: Class) -> Workload {
    let mut machine = machine(cores, 2);
    machine.turbo_cores = turbo_cores;
    let mut workload = empty(machine);
    let threads = u64::from(2 * cores);
    add(&mut workload, Role::Foreground, threads, &saturating(Class::Scalar, Some(1000)));
    add(&mut workload, Role::Background, threads, &saturating(culprit, None));
    workload
}

#[test]
fn the_row_of_two_cores_cannot_show_the_slowdown_that_d_7_6_measured_on_two_cores() {
    let config = fair(Compensation::None);
    let slowdown = |row| slowdown_pct(|c| mixed(2, row, c), Class::Avx512Heavy, &config);
    let (own_row, full_row) = (slowdown(None), slowdown(Some(16)));
    assert!(own_row < 8.0, "row of two cores: {own_row:.1} %");
    assert!(full_row > 20.0, "row of sixteen: {full_row:.1} %");
}

#[test]
fn compensation_cannot_help_where_no_task_waits() {
    let slowdowns =
        MODES.map(|mode| slowdown_pct(pinned_half_load, Class::Avx512Heavy, &fair(mode)));
    assert!(slowdowns[0] > 40.0, "{slowdowns:?}");
    assert!(slowdowns.iter().all(|slowdown| (slowdown - slowdowns[0]).abs() < 0.01));
}

#[test]
fn the_gap_of_virtual_time_grows_where_no_task_waits() {
    let workload = pinned_half_load(Class::Avx512Heavy);
    let outcome = run(&workload, &fair(Compensation::Isolation));
    let seconds = outcome.simulated_ns as f64 / 1e9;
    let billed_ns: u64 = outcome.tasks[16..].iter().map(|task| task.billed_ns).sum();
    let refunded_ns: u64 = outcome.tasks[..16].iter().map(|task| task.refunded_ns).sum();
    let gap_s = (billed_ns + refunded_ns) as f64 / 1e9 / 16.0 / seconds;
    // A third of the time goes to the victim and comes off the culprit: 2 (1 - 1900/2800).
    assert!((gap_s - 0.64).abs() < 0.03, "{gap_s:.2} s a second");
}

/// A gang at a barrier beside a saturating background, as many threads each as CPUs.
fn gang(culprit: Class) -> Workload {
    let mut workload = empty(machine(8, 2));
    workload.barriers.push(Barrier { threads: 16 });
    let scalar = Step::Compute(work(Class::Scalar, 5 * MS));
    let gang = [scalar, Step::Barrier(0), Step::Loop { to: 0, times: Some(300) }];
    add(&mut workload, Role::Foreground, 16, &gang);
    add(&mut workload, Role::Background, 16, &saturating(culprit, None));
    workload
}

/// Equal slices would run all victims at once and all culprits at once, which leaves 3.8 %.
#[test]
fn jittered_slices_keep_gangs_out_of_step() {
    let config = fair(Compensation::None);
    let always = slowdown_pct(|c| mixed(8, Some(16), c), Class::Avx512Heavy, &config);
    assert!(always > 15.0, "always runnable: {always:.1} %");
    let gang = slowdown_pct(gang, Class::Avx512Heavy, &config);
    assert!(gang > 8.0, "at a barrier: {gang:.1} %");
}

/// A victim, a culprit, and an innocent of the same kind as the victim, on one core.
#[test]
fn bills_go_to_the_culprit_and_not_to_an_innocent() {
    for sensors in [SensorSet::Truth, SensorSet::D7, SensorSet::Rules, SensorSet::FpRetired] {
        let mut workload = empty(machine(1, 2));
        add(&mut workload, Role::Foreground, 2, &saturating(Class::Scalar, Some(2000)));
        add(&mut workload, Role::Background, 2, &saturating(Class::Avx512Heavy, None));
        add(&mut workload, Role::Background, 2, &saturating(Class::Scalar, None));
        let config = simulator::Config { sensors, ..fair(Compensation::Isolation) };
        let outcome = run(&workload, &config);
        let billed = |tasks: std::ops::Range<usize>| -> u64 {
            outcome.tasks[tasks].iter().map(|task| task.billed_ns).sum()
        };
        assert!(billed(2..4) > 100 * MS, "{sensors:?}");
        assert_eq!(billed(0..2) + billed(4..6), 0, "{sensors:?}");
        assert!(outcome.losses.iter().all(|loss| loss.culprit == 1), "{sensors:?}");
    }
}

/// With the XCR0 trap alone a program that touches 512-bit registers now and then is
/// taken for one that demands the top level and is never a victim.
#[test]
fn a_foreground_that_looks_like_avx512_gets_nothing_back() {
    let build = |touches: Class, culprit| {
        let mut workload = empty(machine(2, 2));
        let glibc = work(touches, 20_000);
        let touch = Step::Compute(scenarios::Work { rate_permille: 100, ..glibc });
        let scalar = Step::Compute(work(Class::Scalar, 2 * MS));
        let program = [touch, scalar, Step::Loop { to: 0, times: Some(500) }];
        add(&mut workload, Role::Foreground, 4, &program);
        add(&mut workload, Role::Background, 4, &saturating(culprit, None));
        workload
    };
    let d7 = simulator::Config { sensors: SensorSet::D7, ..fair(Compensation::Isolation) };
    let refunded_ns = |touches| {
        let workload = build(touches, Class::Avx512Heavy);
        let outcome = run(&workload, &d7);
        outcome.tasks[..4].iter().map(|task| task.refunded_ns).sum::<u64>()
    };
    let (seen, voided) = (refunded_ns(Class::Scalar), refunded_ns(Class::Avx512Light));
    assert!(voided * 5 < seen, "{voided} ns instead of {seen}");
}

/// A program may sleep for a nanosecond at a time, for ever.
#[test]
fn a_run_that_would_take_for_ever_is_given_up() {
    let mut workload = empty(machine(1, 1));
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, None));
    let config = simulator::Config { events_max: 1000, ..fair(Compensation::None) };
    let error = simulator::run(&skylake(), &workload, &config).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("1000 events bring the run to "), "{said}");
}

/// A background whose wide build does the same work in less time, once or for ever.
#[test]
fn a_finite_background_hides_its_effect() {
    let build = |class, endless: bool| {
        let mut workload = empty(machine(2, 2));
        add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, Some(1000)));
        let rounds = if class == Class::Scalar { 900 } else { 450 };
        let rounds = if endless { None } else { Some(rounds) };
        add(&mut workload, Role::Background, 4, &saturating(class, rounds));
        workload
    };
    let config = fair(Compensation::None);
    let slowdown =
        |endless| slowdown_pct(|class| build(class, endless), Class::Avx512Heavy, &config);
    let (finite, endless) = (slowdown(false), slowdown(true));
    assert!(finite < endless / 2.0, "finite {finite:.1} %, endless {endless:.1} %");
}

#[test]
fn another_background_leaves_the_work_of_the_foreground_as_it_was() {
    let build = |culprit, threads| {
        let mut workload = empty(machine(2, 2));
        let ref_cycles = Draw { mean: 3_000_000, spread: Spread::Exponential };
        let random = scenarios::Work { ref_cycles, ..work(Class::Scalar, 0) };
        let sleep = Step::Sleep(Draw { mean: 500_000, spread: Spread::Exponential });
        let again = Step::Loop { to: 0, times: Some(100) };
        let program = [Step::Compute(random), sleep, again];
        add(&mut workload, Role::Foreground, 4, &program);
        let other = [Step::Compute(scenarios::Work { class: culprit, ..random }), sleep];
        let other = [&other[..], &[Step::Loop { to: 0, times: None }]].concat();
        add(&mut workload, Role::Background, threads, &other);
        workload
    };
    let mut seen = BTreeMap::new();
    for (culprit, threads) in [(Class::Scalar, 4), (Class::Avx512Heavy, 4), (Class::Scalar, 9)] {
        let workload = build(culprit, threads);
        let outcome = run(&workload, &fair(Compensation::Isolation));
        let work: Vec<u64> = outcome.tasks[..4].iter().map(|task| task.ref_cycles).collect();
        assert!(work[0] != work[1], "threads draw for themselves");
        seen.insert(completion_ns(&workload, &outcome, 0), work);
    }
    assert_eq!(seen.len(), 3, "the backgrounds differ");
    let all: Vec<_> = seen.into_values().collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

/// A program that always waits for the one CPU is made whole; one that never waits is not.
#[test]
fn the_remaining_loss_under_isolation_falls_on_tasks_that_never_wait() {
    let slowdown = |load_permille: u64| {
        let build = |culprit| {
            let mut workload = empty(machine(4, 2));
            let busy = Step::Compute(work(Class::Scalar, load_permille * 1000));
            let mean = (1000 - load_permille) * 1000;
            let sleep = Step::Sleep(Draw { mean, spread: Spread::Fixed });
            let program = [busy, sleep, Step::Loop { to: 0, times: Some(1000) }];
            add(&mut workload, Role::Foreground, 4, &program);
            add(&mut workload, Role::Background, 8, &saturating(culprit, None));
            workload
        };
        slowdown_pct(build, Class::Avx512Heavy, &fair(Compensation::Isolation))
    };
    let (light, heavy) = (slowdown(100), slowdown(1000));
    assert!(heavy.abs() < 4.0, "always runnable: {heavy:.1} %");
    assert!(light > 0.5, "mostly asleep: {light:.1} %");
}

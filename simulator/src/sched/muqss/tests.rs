use super::*;
use crate::config::{Config, Scheduler as Kind};
use crate::testing::{machine, skylake, sleeper, spinner, workload};

const S: u64 = 1_000_000_000;

fn muqss(rq_sharing: RqSharing, interactive: bool) -> Kind {
    Kind::Muqss { rq_sharing, interactive }
}

#[test]
fn deadlines_are_6_29_41_09_and_250_13_ms_away() {
    assert_eq!([-20, 0, 19].map(deadline_ns), [6_291_456, 41_091_072, 250_134_528]);
}

#[test]
fn slices_last_6_29_ms() {
    let threads = vec![spinner(0, &[]), spinner(0, &[])];
    let outcome = crate::run(
        &skylake(),
        &workload(machine(1, 1, 1), threads),
        &Config::plain(muqss(RqSharing::Mc, true), 20 * S),
    )
    .unwrap();
    let slices: u64 = outcome.tasks.iter().map(|task| task.slices).sum();
    let mean_ns = 20 * S / slices;
    assert!(mean_ns.abs_diff(SLICE_NS) < SLICE_NS / 50, "{mean_ns}");
}

#[test]
fn three_spinners_share_two_cpus_equally_whatever_is_shared() {
    let sharings = [RqSharing::None, RqSharing::Smt, RqSharing::Mc, RqSharing::All];
    for (sharing, interactive) in sharings.map(|sharing| (sharing, true)) {
        let threads = vec![spinner(0, &[]), spinner(0, &[]), spinner(0, &[])];
        let outcome = crate::run(
            &skylake(),
            &workload(machine(1, 2, 1), threads),
            &Config::plain(muqss(sharing, interactive), 10 * S),
        )
        .unwrap();
        for task in &outcome.tasks {
            let share = task.cpu_time_ns as f64 / (20.0 * S as f64 / 3.0);
            assert!((share - 1.0).abs() < 0.02, "{sharing:?}: {share}");
        }
    }
}

#[test]
fn only_interactive_mode_takes_an_earlier_deadline_from_a_queue_that_is_no_longer() {
    let migrations = |interactive| {
        let threads = vec![spinner(0, &[]), spinner(5, &[]), spinner(0, &[]), spinner(5, &[])];
        let outcome = crate::run(
            &skylake(),
            &workload(machine(1, 2, 1), threads),
            &Config::plain(muqss(RqSharing::None, interactive), 10 * S),
        )
        .unwrap();
        outcome.migrations
    };
    let (all, longer) = (migrations(true), migrations(false));
    assert!(all > 10 * longer.max(1), "{all} {longer}");
}

#[test]
fn no_cpu_idles_while_a_task_waits() {
    for interactive in [false, true] {
        let mut threads: Vec<_> = (0..5).map(|_| spinner(0, &[])).collect();
        threads.push(sleeper(3_000_000, 2_000_000, &[]));
        let outcome = crate::run(
            &skylake(),
            &workload(machine(1, 2, 2), threads),
            &Config::plain(muqss(RqSharing::None, interactive), 2 * S),
        )
        .unwrap();
        assert_eq!(outcome.idle_ns, 0);
    }
}

#[test]
fn a_sleeper_keeps_its_deadline_and_so_gets_the_cpu_soon() {
    let threads = vec![spinner(0, &[]), sleeper(300_000, 20_000_000, &[])];
    let outcome = crate::run(
        &skylake(),
        &workload(machine(1, 1, 1), threads),
        &Config::plain(muqss(RqSharing::Mc, true), 10 * S),
    )
    .unwrap();
    assert!(outcome.wake_latency_ns.value_at_quantile(0.5) < 100_000);
}

/// A task that never runs, bound to one CPU, makes every pick visit the queues one by one.
#[test]
fn the_earliest_of_all_is_what_a_visit_of_all_queues_finds() {
    for sharing in [RqSharing::None, RqSharing::Smt, RqSharing::Mc, RqSharing::All] {
        let run = |bound: bool| {
            let mut threads: Vec<_> = (0..20).map(|i| spinner((i % 3) as i8, &[])).collect();
            threads.extend((0..20).map(|i| sleeper(500_000 + 7_000 * i, 300_000, &[])));
            let mut absent = spinner(0, if bound { &[0] } else { &[] });
            absent.arrival_ns = 100 * S;
            threads.push(absent);
            let config = Config::plain(muqss(sharing, true), S);
            crate::run(&skylake(), &workload(machine(2, 3, 2), threads), &config).unwrap()
        };
        let (free, bound) = (run(false), run(true));
        assert_eq!(free.switches, bound.switches, "{sharing:?}");
        assert_eq!(free.tasks, bound.tasks, "{sharing:?}");
        assert!(free.switches > 1000, "{sharing:?}");
    }
}

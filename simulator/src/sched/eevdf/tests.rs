use super::*;
use crate::random::{Purpose, Stream};

const CPUS: usize = 8;
const MS: u64 = 1_000_000;
const TICK_NS: u64 = 4 * MS;
const SLICE: i64 = 2_800_000;

fn eevdf(kernel: EevdfKernel, weights: &[u64]) -> Eevdf {
    Eevdf::with(CPUS, weights.iter().copied(), kernel, SLICE as u64, TICK_NS)
}

fn run_first(eevdf: &mut Eevdf, ns: u64) {
    eevdf.enqueue(0, 0, Enqueue::New);
    assert_eq!(eevdf.pick(0, 0), Choice::Run(0));
    eevdf.update(0, ns);
}

fn stop_and_pick(eevdf: &mut Eevdf, task: usize, stop: Stop, now_ns: u64) -> Choice {
    eevdf.update(0, now_ns);
    eevdf.put(0, task, stop);
    eevdf.pick(0, now_ns)
}

#[test]
fn a_new_task_has_half_a_slice_at_first() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024]);
    eevdf.enqueue(0, 0, Enqueue::New);
    assert_eq!(eevdf.tasks[0].deadline - eevdf.tasks[0].vruntime, SLICE / 2);
}

#[test]
fn lag_survives_joining_a_queue() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 335]);
    run_first(&mut eevdf, MS);
    eevdf.tasks[1].lag = 700_000;
    eevdf.enqueue(0, 1, Enqueue::Woken);
    let lag = eevdf.average(0) - eevdf.tasks[1].vruntime;
    assert!((lag - 700_000).abs() <= 2, "{lag}");
}

#[test]
fn a_task_that_is_owed_time_preempts_at_once_and_another_waits_for_the_request() {
    for kernel in [EevdfKernel::V6_12, EevdfKernel::V6_18] {
        for (lag, preempts) in [(500_000, true), (0, false)] {
            let mut eevdf = eevdf(kernel, &[1024, 1024]);
            run_first(&mut eevdf, 1);
            eevdf.tasks[1].lag = lag;
            eevdf.enqueue(0, 1, Enqueue::Woken);
            assert_eq!(eevdf.preempts(0, 1), preempts, "{kernel:?} {lag}");
        }
    }
}

#[test]
fn requests_end_at_the_first_tick_after_the_slice() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
    eevdf.enqueue(0, 0, Enqueue::Woken);
    eevdf.enqueue(0, 1, Enqueue::Woken);
    let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
    eevdf.update(0, SLICE as u64 - 1);
    assert!(!eevdf.tick(0));
    eevdf.update(0, TICK_NS);
    assert!(eevdf.tick(0));
    let next = stop_and_pick(&mut eevdf, first, Stop::Preempted, TICK_NS);
    assert_eq!(next, Choice::Run(1 - first));
}

#[test]
fn a_sleeper_that_had_too_much_stays_until_it_is_owed_time() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
    eevdf.enqueue(0, 0, Enqueue::Woken);
    eevdf.enqueue(0, 1, Enqueue::Woken);
    let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
    let other = 1 - first;
    assert_eq!(stop_and_pick(&mut eevdf, first, Stop::Blocked, MS), Choice::Run(other));
    assert!(eevdf.tasks[first].delayed);
    // The other has caught up after a millisecond and is done with its request at 3.8 ms.
    assert_eq!(stop_and_pick(&mut eevdf, other, Stop::Preempted, 5 * MS), Choice::Drop(first));
    assert!(eevdf.tasks[first].lag <= 0, "waiting in the queue earns nothing");
    assert_eq!(eevdf.pick(0, 5 * MS), Choice::Run(other));
}

#[test]
fn a_delayed_sleeper_that_wakes_goes_on_where_it_stands_without_credit() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
    eevdf.enqueue(0, 0, Enqueue::Woken);
    eevdf.enqueue(0, 1, Enqueue::Woken);
    let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
    stop_and_pick(&mut eevdf, first, Stop::Blocked, MS);
    eevdf.update(0, 3 * MS);
    assert!(eevdf.lag(0, first) > 0);
    eevdf.revive(0, first);
    assert!(eevdf.lag(0, first).abs() <= 1);
    assert!(!eevdf.tasks[first].delayed);
}

#[test]
fn an_ended_task_leaves_even_when_it_had_too_much() {
    let mut eevdf = eevdf(EevdfKernel::V6_18, &[1024, 1024]);
    eevdf.enqueue(0, 0, Enqueue::Woken);
    eevdf.enqueue(0, 1, Enqueue::Woken);
    let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
    eevdf.update(0, MS);
    assert!(!eevdf.put(0, first, Stop::Ended));
}

#[test]
fn a_moved_task_keeps_its_lag_and_what_is_left_of_its_request() {
    let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024, 1024]);
    run_first(&mut eevdf, 2 * MS);
    eevdf.enqueue(0, 1, Enqueue::Woken);
    eevdf.enqueue(1, 2, Enqueue::Woken);
    let request = eevdf.tasks[1].deadline - eevdf.tasks[1].vruntime;
    let lag = eevdf.lag(0, 1);
    eevdf.dequeue(0, 1);
    eevdf.enqueue(1, 1, Enqueue::Moved);
    assert_eq!(eevdf.tasks[1].deadline - eevdf.tasks[1].vruntime, request);
    assert!((eevdf.lag(1, 1) - lag).abs() <= 2);
}

#[test]
fn an_unprotected_task_of_6_18_gives_way_at_every_tick() {
    let due_again = |kernel| {
        let mut eevdf = eevdf(kernel, &[1024, 1024]);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        eevdf.tasks[0].lag = 20 * MS as i64;
        eevdf.enqueue(0, 0, Enqueue::Woken);
        assert_eq!(eevdf.pick(0, 0), Choice::Run(0));
        // It is owed so much that its next request is due first again.
        assert_eq!(stop_and_pick(&mut eevdf, 0, Stop::Preempted, TICK_NS), Choice::Run(0));
        eevdf.update(0, TICK_NS + MS);
        eevdf.tick(0)
    };
    assert!(!due_again(EevdfKernel::V6_12));
    assert!(due_again(EevdfKernel::V6_18));
}

#[test]
fn lags_sum_to_nothing_and_stay_within_two_slices_or_a_tick() {
    for kernel in [EevdfKernel::V6_12, EevdfKernel::V6_18] {
        let weights = [1024, 335, 9548, 1024, 110, 1024];
        let mut eevdf = eevdf(kernel, &weights);
        let mut draws = Stream::new(3, Purpose::Scheduler, 0);
        for task in 0..weights.len() {
            eevdf.enqueue(0, task, Enqueue::New);
        }
        let mut seen = [false; 6];
        let mut now_ns = 0;
        let Choice::Run(mut running) = eevdf.pick(0, 0) else { panic!("a task") };
        for _ in 0..5_000 {
            now_ns += TICK_NS;
            eevdf.update(0, now_ns);
            if eevdf.tick(0) || draws.chance(100) {
                let next = stop_and_pick(&mut eevdf, running, Stop::Preempted, now_ns);
                let Choice::Run(next) = next else { panic!("a task") };
                running = next;
            }
            seen[running] = true;
            let average = eevdf.average(0);
            let sum: i64 = (0..weights.len())
                .map(|task| weights[task] as i64 * (average - eevdf.tasks[task].vruntime))
                .sum();
            let total: i64 = weights.iter().map(|&weight| weight as i64).sum();
            assert!((-total..=0).contains(&sum), "{sum}: rounded down by less than one each");
            for (task, &weight) in weights.iter().enumerate() {
                let lag = (average - eevdf.tasks[task].vruntime) * weight as i64 / 1024;
                assert!(lag.unsigned_abs() <= 2 * SLICE as u64 + TICK_NS, "{task}: {lag}");
            }
        }
        assert_eq!(seen, [true; 6]);
    }
}

//! Causes of losses in a history, and latencies of requests from switches.

use cpu_model::Class;
use scenarios::Workload;
use simulator::Config;

use crate::build::{add, config, pair, skylake, two_cores, work};
use crate::causes::{self, Lost};
use crate::requests::Requests;

/// What the first application lost by cause, over two seeds, and what the simulator states.
fn lost(workload: &Workload) -> (Lost, f64) {
    let (mut lost, mut stated_ns) = (Lost::default(), 0.0);
    for seed in [1, 2] {
        let config = Config { history: true, seed, ..config() };
        let outcome = simulator::run(&skylake(), workload, &config).unwrap();
        let history = outcome.history.unwrap();
        lost.add(&causes::lost(&skylake(), workload, &config, &history, 0));
        stated_ns += outcome.tasks[0].lost_ns as f64;
    }
    (lost, stated_ns)
}

fn assert_share(part: f64, all: f64, least: f64, most: f64) {
    assert!((least..=most).contains(&(part / all)), "{part} of {all}");
}

#[test]
fn causes_add_up_to_the_stated_loss() {
    let step = [work(Class::Avx512Heavy, 1000, 100), work(Class::Scalar, 1000, 900)];
    let mut alternating = two_cores();
    add(&mut alternating, "mixed", 0, &step, Some(2000));
    for workload in [pair(Class::Avx512Heavy, 1000), pair(Class::Avx2Heavy, 1000), alternating] {
        let (lost, stated_ns) = lost(&workload);
        assert_share(lost.sum_ns(), stated_ns, 0.999, 1.001);
    }
}

#[test]
fn a_steady_sibling_causes_all() {
    let (lost, _) = lost(&pair(Class::Avx512Heavy, 1000));
    assert_share(lost.sibling_ns, lost.sum_ns(), 0.99, 1.0);
}

/// Wide code of 100 us, then scalar code of 900: the hold, and the way to the level.
#[test]
fn alone_on_a_core_the_hold_causes_nearly_all() {
    let mut workload = two_cores();
    let step = [work(Class::Avx512Heavy, 1000, 100), work(Class::Scalar, 1000, 900)];
    add(&mut workload, "mixed", 0, &step, Some(2000));
    let (lost, _) = lost(&workload);
    assert_eq!((lost.sibling_ns, lost.hold_beside_ns), (0.0, 0.0));
    assert_share(lost.hold_ns, lost.sum_ns(), 0.8, 0.999);
    assert!(lost.transition_ns > 0.0);
}

/// The sibling goes from level 2 to level 1 and back: at level 1 it causes the smaller part of what
/// a held level 2 costs.
#[test]
fn a_lower_demand_of_the_sibling_shares_with_the_hold() {
    let mut workload = two_cores();
    add(&mut workload, "victim", 0, &[work(Class::Scalar, 1000, 1000)], Some(2000));
    let step = [work(Class::Avx512Heavy, 1000, 300), work(Class::Avx512Light, 1000, 300)];
    add(&mut workload, "culprit", 1, &step, None);
    let (lost, stated_ns) = lost(&workload);
    assert_share(lost.sum_ns(), stated_ns, 0.999, 1.001);
    assert!(lost.hold_ns > 0.0 && lost.sibling_ns > lost.hold_ns, "{lost:?}");
    assert_share(lost.hold_beside_ns, lost.hold_ns, 0.99, 1.0);
}

const US: u64 = 1000;

/// A client on CPU 0, task 0, and a server on CPU 1, task 1.
fn requests() -> Requests {
    Requests::new(vec![true, false], 2)
}

/// The client begins at 10 us, and sends a request after a wait of 5 us.
fn send(requests: &mut Requests, at_us: u64) {
    requests.switched(at_us * US, 0, Some(0), 5 * US);
    requests.switched((at_us + 2) * US, 0, None, 0);
}

fn serve(requests: &mut Requests, from_us: u64, until_us: u64, busy_us: u64) {
    requests.switched(from_us * US, 1, Some(1), 0);
    requests.ran(1, busy_us * US);
    requests.switched(until_us * US, 1, None, 0);
}

#[test]
fn a_latency_is_from_the_client_s_wake_up_until_the_server_blocks() {
    let mut requests = requests();
    send(&mut requests, 10);
    send(&mut requests, 100);
    serve(&mut requests, 103, 403, 100);
    // A look at the empty queue is no answer.
    serve(&mut requests, 404, 406, 2);
    send(&mut requests, 500);
    serve(&mut requests, 502, 602, 100);
    assert_eq!(requests.latencies().unwrap().sorted_ns, [107 * US, 308 * US]);
}

#[test]
fn a_preempted_server_still_answers_the_same_request() {
    let mut requests = requests();
    send(&mut requests, 10);
    send(&mut requests, 100);
    serve(&mut requests, 103, 203, 70);
    // Runnable since 203 us, on another CPU.
    requests.switched(253 * US, 0, Some(1), 50 * US);
    requests.ran(1, 70 * US);
    requests.switched(323 * US, 0, None, 0);
    assert_eq!(requests.latencies().unwrap().sorted_ns, [228 * US]);
}

#[test]
fn a_request_is_hit_where_its_server_stands_still() {
    let mut requests = requests();
    send(&mut requests, 10);
    send(&mut requests, 100);
    serve(&mut requests, 103, 203, 100);
    send(&mut requests, 300);
    serve(&mut requests, 303, 1103, 100);
    let latencies = requests.latencies().unwrap();
    assert_eq!((latencies.sorted_ns, latencies.hit), (vec![108 * US, 808 * US], 1));
}

#[test]
fn switches_that_do_not_fit_are_refused() {
    let mut requests = requests();
    serve(&mut requests, 10, 110, 100);
    let error = requests.latencies().unwrap_err();
    assert!(error.contains("1 of 0 requests"), "{error}");
}

//! The guarantees of `even`, on random runs and on the worst that a search finds.
//!
//! The bounds are those of the policy's headers. A run is judged afterwards, by its history and
//! the policy's events. `EVENKEEL_SEARCH_ROUNDS` asks for a longer search than a run of all tests
//! has time for.

mod bounds;
mod genome;
mod judge;
mod latency;
#[path = "../invariants/rng.rs"]
mod rng;
mod search;
mod walk;
mod worst;

use genome::Genome;
use judge::Question;
use rng::Rng;
use simulator::{Compensation, EvenParts};

/// Rounds of a search for one question.
const ROUNDS: u32 = 400;

fn rounds() -> u32 {
    let text = std::env::var("EVENKEEL_SEARCH_ROUNDS").ok();
    text.map_or(ROUNDS, |text| text.parse().expect("EVENKEEL_SEARCH_ROUNDS is a number"))
}

fn search(question: Question) {
    let (ratio, genome) = search::worst(question, question as u64, rounds()).unwrap();
    println!("{question:?}: {ratio:.3} of what is allowed\n{genome:?}");
    assert!(ratio <= 1.0, "{question:?}: {ratio:.3} of what is allowed\n{genome:#?}");
}

#[test]
fn a_beginning_task_is_ahead_of_a_waiting_one_by_a_price_at_most() {
    search(Question::Order);
}

#[test]
fn no_task_waits_longer_than_all_other_tasks_may_run() {
    search(Question::Wait);
}

#[test]
fn no_task_that_never_sleeps_falls_behind_by_more_than_the_bound() {
    search(Question::Lag);
}

#[test]
fn nor_gets_ahead() {
    search(Question::Lead);
}

#[test]
fn bills_and_deficits_are_bounded() {
    search(Question::Bill);
    search(Question::Deficit);
}

#[test]
fn no_forced_idle_lasts_longer_than_its_bound() {
    search(Question::ForcedIdle);
}

#[test]
fn forced_idle_repays_no_more_than_the_idle_compensation() {
    search(Question::Repaid);
}

/// Random runs are judged without regard to how near they come to a bound.
#[test]
fn a_cpu_idles_while_a_task_waits_only_by_forced_idle_and_without_repayment_never() {
    let without = EvenParts { without_repayment: true, ..EvenParts::ALL };
    let mut rng = Rng::new(2018);
    for _ in 0..2 * rounds() {
        let genome = Genome::random(&mut rng);
        for compensation in [genome::EVEN, Compensation::Even(without)] {
            let found = search::judged_with(&genome, compensation);
            let found = found.unwrap_or_else(|wrong| panic!("{wrong}\n{genome:#?}"));
            let is_without = compensation != genome::EVEN;
            assert!(!is_without || found[Question::ForcedIdle as usize] == 0.0, "{genome:#?}");
        }
    }
}

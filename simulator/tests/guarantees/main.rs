//! What `even` guarantees, on random runs and on the worst that a search finds.
//!
//! The bounds are those of the policy's headers. A run is judged afterwards, by its history and by
//! what the policy noted. `EVENKEEL_SEARCH_ROUNDS` asks for a longer search than a run of all tests
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
fn whoever_begins_is_ahead_of_who_waits_by_a_price_at_most() {
    search(Question::Order);
}

#[test]
fn nobody_waits_longer_than_what_others_may_run() {
    search(Question::Wait);
}

#[test]
fn nobody_who_never_sleeps_falls_behind_by_more_than_the_bound() {
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
fn no_cpu_is_quiet_for_long_at_once() {
    search(Question::QuietOnce);
}

#[test]
fn quiet_cpus_give_no_more_than_was_lost_in_kind() {
    search(Question::Repaid);
}

/// Random runs are judged without regard to how near they come to a bound.
#[test]
fn cpus_idle_beside_who_waits_only_while_they_are_quiet_and_without_repayment_never() {
    let without = EvenParts { without_repayment: true, ..EvenParts::ALL };
    let mut rng = Rng::new(2018);
    for _ in 0..2 * rounds() {
        let genome = Genome::random(&mut rng);
        for compensation in [genome::EVEN, Compensation::Even(without)] {
            let found = search::judged_with(&genome, compensation);
            let found = found.unwrap_or_else(|wrong| panic!("{wrong}\n{genome:#?}"));
            let is_without = compensation != genome::EVEN;
            assert!(!is_without || found[Question::QuietOnce as usize] == 0.0, "{genome:#?}");
        }
    }
}

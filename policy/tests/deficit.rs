//! Refunds that virtual time cannot give back are kept within bounds, and repaid to the point.

use policy::{Alone, Deficit, alone_gain_permille};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
/// `EK_DEFICIT_MAX_NS`, `EK_DEFICIT_BANK_NS`, `EK_FORCED_IDLE_MAX_NS`.
const MAX_NS: u64 = 20 * MS;
const BANK_NS: u64 = 9 * MS;
const FORCED_IDLE_MAX_NS: u64 = 4 * MS;
/// Share 0.625: alone 1.6 times as fast.
const GAIN: u32 = 600;

fn deficit(ms: u64) -> Deficit {
    Deficit { deficit_ns: ms * MS, ..Deficit::default() }
}

#[test]
fn refunds_are_banked_up_to_a_bound_and_waiting_uses_them_up() {
    let mut deficit = Deficit::default();
    assert_eq!(deficit.bank(BANK_NS - MS), BANK_NS - MS);
    assert_eq!(deficit.bank(3 * MS), MS);
    assert_eq!((deficit.banked_ns, deficit.deficit_ns), (BANK_NS, 2 * MS));
    deficit.waited(4 * MS);
    assert_eq!(deficit.bank(5 * MS), 4 * MS);
    assert_eq!((deficit.banked_ns, deficit.deficit_ns), (BANK_NS, 3 * MS));
    deficit.waited(100 * MS);
    assert_eq!(deficit.banked_ns, 0);
}

#[test]
fn forced_idle_repays_a_deficit_by_the_gain_of_being_alone() {
    let mut deficit = Deficit { deficit_ns: 1_500_000, ..Deficit::default() };
    let forced_idle_ns = deficit.forced_idle_ns(GAIN);
    assert_eq!(forced_idle_ns, 2_500_000);
    deficit.repay(forced_idle_ns, GAIN);
    assert_eq!((deficit.deficit_ns, deficit.forced_idle_ns(GAIN)), (0, 0));
}

#[test]
fn a_small_deficit_or_gain_forces_no_cpu_idle() {
    let little = Deficit { deficit_ns: 299_999, ..Deficit::default() };
    assert_eq!(little.forced_idle_ns(GAIN), 0);
    assert_eq!(deficit(20).forced_idle_ns(99), 0);
    assert_eq!(deficit(20).forced_idle_ns(100), FORCED_IDLE_MAX_NS);
}

#[test]
fn a_deficit_halves_in_sleep_and_not_while_its_task_runs() {
    let mut deficit = deficit(8);
    deficit.sleeps(10 * MS);
    deficit.wakes(0, 30 * MS);
    assert_eq!(deficit.deficit_ns, 2 * MS);
    // The task is awake already, so no time asleep counts.
    deficit.wakes(0, 1000 * MS);
    assert_eq!(deficit.deficit_ns, 2 * MS);
    deficit.sleeps(40 * MS);
    deficit.wakes(0, 45 * MS);
    assert_eq!(deficit.deficit_ns, 1_500_000);
    deficit.sleeps(50 * MS);
    deficit.wakes(0, 1050 * MS);
    assert_eq!(deficit.deficit_ns, 0);
}

#[test]
fn banked_refunds_lost_at_a_wakeup_become_a_deficit_once() {
    let mut deficit = Deficit { banked_ns: 3 * MS, ..Deficit::default() };
    deficit.sleeps(MS);
    deficit.wakes(2 * MS, 11 * MS);
    assert_eq!((deficit.deficit_ns, deficit.banked_ns), (2 * MS, MS));
    deficit.sleeps(12 * MS);
    deficit.wakes(2 * MS, 12 * MS);
    assert_eq!((deficit.deficit_ns, deficit.banked_ns), (3 * MS, 0));
}

#[test]
fn who_stalls_on_memory_gains_less_alone() {
    const ONE: u32 = policy::ONE;
    assert_eq!(alone_gain_permille(625, 0), 600);
    assert_eq!(alone_gain_permille(500, 0), 1000);
    // Half of its time stalled: 1 / (0.5 + 0.5 * 0.625) - 1.
    assert_eq!(alone_gain_permille(625, ONE / 2), 230);
    assert_eq!(alone_gain_permille(625, ONE), 0);
    assert_eq!(alone_gain_permille(1000, 0), 0);
}

#[test]
fn a_task_leads_that_is_alone_more_often_than_the_mean_task() {
    let all = Alone { alone_ns: 20 * MS, ran_ns: 80 * MS };
    let (mut leader, mut mean, mut beside) =
        (Deficit::default(), Deficit::default(), Deficit::default());
    leader.ran(&all, 6 * MS, 8 * MS, GAIN);
    mean.ran(&all, 2 * MS, 8 * MS, GAIN);
    beside.ran(&all, 0, 8 * MS, GAIN);
    // Four ms more than the mean task, at 0.6.
    assert_eq!(leader.lead_ns, 2_400_000);
    assert_eq!((mean.lead_ns, beside.lead_ns), (0, 0));
    assert_eq!([leader, mean, beside].map(|task| task.leads()), [true, false, false]);
    // As much less than the mean uses the lead up.
    leader.ran(&all, 0, 16 * MS, GAIN);
    assert!(!leader.leads());
    // A task that gains nothing alone never leads.
    mean.ran(&all, 8 * MS, 8 * MS, 0);
    assert_eq!(mean.lead_ns, 0);
}

#[test]
fn a_lead_repays_a_deficit_before_forced_idle_does() {
    let all = Alone { alone_ns: 0, ran_ns: 80 * MS };
    let mut task = Deficit { deficit_ns: 3 * MS, ..Deficit::default() };
    // Four ms alone at 0.6.
    task.ran(&all, 4 * MS, 8 * MS, GAIN);
    assert_eq!((task.deficit_ns, task.lead_ns), (600_000, 0));
    task.ran(&all, 4 * MS, 8 * MS, GAIN);
    assert_eq!((task.deficit_ns, task.lead_ns), (0, 1_800_000));
}

#[test]
fn a_lead_halves_in_sleep() {
    let mut leader = Deficit { lead_ns: 8 * MS, ..Deficit::default() };
    leader.sleeps(10 * MS);
    leader.wakes(0, 30 * MS);
    assert_eq!(leader.lead_ns, 2 * MS);
}

#[test]
fn a_sleeper_is_placed_earlier_by_its_banked_refunds() {
    let mut deficit = Deficit::default();
    assert_eq!(deficit.credit_ns(3 * MS, 40 * MS), 3 * MS);
    deficit.bank(8 * MS);
    assert_eq!(deficit.credit_ns(3 * MS, 40 * MS), 11 * MS, "it did not sleep");
    deficit.sleeps(20 * MS);
    assert_eq!(deficit.credit_ns(3 * MS, 20 * MS), 11 * MS);
    assert_eq!(deficit.credit_ns(3 * MS, 30 * MS), 7 * MS);
    assert_eq!(deficit.credit_ns(3 * MS, 40 * MS), 5 * MS);
    assert_eq!(deficit.credit_ns(3 * MS, 1000 * MS), 3 * MS);
}

#[test]
fn the_mean_forgets_old_time() {
    let mut all = Alone::default();
    for _ in 0..100 {
        all.add(10 * MS, 10 * MS);
    }
    for _ in 0..400 {
        all.add(0, 10 * MS);
    }
    assert!(all.alone_ns * 50 < all.ran_ns, "{all:?}");
    assert!(all.ran_ns <= 500 * MS);
}

proptest! {
    #[test]
    fn a_deficit_and_its_forced_idle_are_always_bounded(
        steps in prop::collection::vec((0_u8..6, any::<u64>(), any::<u64>()), 1..50),
        gain in any::<u32>(),
    ) {
        let mut deficit = Deficit::default();
        for (what, a, b) in steps {
            match what {
                0 => prop_assert!(deficit.bank(a) <= a.min(BANK_NS)),
                1 => deficit.sleeps(a),
                2 => deficit.wakes(a, b),
                3 => deficit.waited(a),
                4 => deficit.ran(&Alone { alone_ns: b, ran_ns: a }, a, b, gain),
                _ => deficit.repay(a, gain),
            }
            prop_assert!(deficit.deficit_ns <= MAX_NS && deficit.banked_ns <= BANK_NS);
            prop_assert!(deficit.lead_ns <= MAX_NS);
            prop_assert!(deficit.credit_ns(a, b) - a.min(u64::MAX - BANK_NS) <= BANK_NS);
            prop_assert!(deficit.forced_idle_ns(gain) <= FORCED_IDLE_MAX_NS);
        }
    }
}

use proptest::prelude::*;

use super::*;

const HIGH_HZ: f64 = 3.0e9;
const LOW_HZ: f64 = 2.4e9;
const CYCLES: f64 = 15_000.0;

/// Back to back from a time on, at the clock that each block's start gives.
fn blocks(from_ns: u64, count: usize, hz: impl Fn(u64) -> f64) -> Vec<Block> {
    let mut start_ns = from_ns;
    (0..count)
        .map(|_| {
            let duration_ns = CYCLES * 1e9 / hz(start_ns);
            let block = Block { start_ns, duration_ns, cycles: CYCLES };
            start_ns = block.end_ns();
            block
        })
        .collect()
}

/// A level held for 670 us at the start, and 60 us at a clock after the gap.
fn held_then(again_hz: f64) -> Blocks {
    let first = blocks(20_000, 150, |ns| if ns < 690_000 { LOW_HZ } else { HIGH_HZ });
    let resumed_ns = first.last().unwrap().end_ns() + 80_000;
    Blocks { first, again: blocks(resumed_ns, 12, |_| again_hz), ..Blocks::default() }
}

fn is_near(found_hz: f64, expected_hz: f64) -> bool {
    (found_hz / expected_hz - 1.0).abs() < 1e-3
}

#[test]
fn a_task_that_ran_at_a_level_of_another_task_lost_the_difference() {
    let look = judge(&held_then(HIGH_HZ), true).unwrap();
    assert!(is_near(look.first_hz, LOW_HZ) && is_near(look.last_hz, HIGH_HZ), "{look:?}");
    assert!((look.loss().unwrap() - 0.2).abs() < 1e-3, "{look:?}");
    assert!(look.level_returned);
}

#[test]
fn a_task_whose_own_code_demands_the_level_lost_nothing() {
    let look = judge(&held_then(LOW_HZ), true).unwrap();
    assert!(look.loss().unwrap().abs() < 1e-3, "{look:?}");
    assert!(look.level_returned);
}

#[test]
fn without_a_hold_all_three_clocks_are_the_same() {
    let steady = Blocks {
        first: blocks(0, 150, |_| HIGH_HZ),
        again: blocks(850_000, 12, |_| HIGH_HZ),
        ..Blocks::default()
    };
    let look = judge(&steady, true).unwrap();
    assert!(!look.level_returned && look.loss().unwrap().abs() < 1e-3, "{look:?}");
    assert!(look.block_rel_sd < 1e-6, "{look:?}");
    assert_eq!(look.paused_ns, 150 * 5_000 + 12 * 5_000);
    assert_eq!(look.core_paused_ns, 850_000 + 12 * 5_000);
}

#[test]
fn noise_of_blocks_is_stated_without_interrupted_ones() {
    let mut steady =
        Blocks { first: blocks(0, 150, |_| HIGH_HZ), again: Vec::new(), ..Blocks::default() };
    for (index, block) in steady.first.iter_mut().enumerate() {
        block.duration_ns *= if index % 2 == 0 { 1.003 } else { 0.997 };
    }
    steady.first[147].duration_ns += 3_000.0;
    let look = judge(&steady, false).unwrap();
    assert!((0.0025..0.0035).contains(&look.block_rel_sd), "{look:?}");
}

#[test]
fn an_interrupt_in_each_window_does_not_change_a_clock() {
    let mut held = held_then(HIGH_HZ);
    let last = held.first.len() - 4;
    for block in [2, 7, last] {
        held.first[block].duration_ns += 8_000.0;
    }
    held.again[3].duration_ns += 8_000.0;
    let look = judge(&held, true).unwrap();
    assert!(is_near(look.first_hz, LOW_HZ) && is_near(look.last_hz, HIGH_HZ), "{look:?}");
    assert!((look.loss().unwrap() - 0.2).abs() < 1e-3, "{look:?}");
}

#[test]
fn a_pause_in_which_another_task_may_have_run_is_dropped() {
    let mut held = held_then(HIGH_HZ);
    held.first[60].duration_ns += 150_000.0;
    assert_eq!(judge(&held, true), Err(Why::Interrupted));
    let mut held = held_then(HIGH_HZ);
    for block in &mut held.first[60..] {
        block.start_ns += 150_000;
    }
    assert_eq!(judge(&held, true), Err(Why::Interrupted));
}

#[test]
fn a_window_without_enough_clean_blocks_is_dropped() {
    let mut held = held_then(HIGH_HZ);
    for (index, block) in held.first[..WINDOW].iter_mut().enumerate() {
        block.duration_ns *= 1.0 + 0.05 * index as f64;
    }
    assert_eq!(judge(&held, true), Err(Why::Unclean));
    let short =
        Blocks { first: blocks(0, 19, |_| HIGH_HZ), again: Vec::new(), ..Blocks::default() };
    assert_eq!(judge(&short, false), Err(Why::Unclean));
}

/// The verdict after each block of a pause, until it is not to go on.
fn pause(course: &Course, together_ns: Option<u64>, hz: impl Fn(u64) -> f64) -> (u64, Verdict) {
    let all = blocks(0, 500, hz);
    let verdict = |count: usize| {
        let now_ns = all[count - 1].end_ns();
        (now_ns, course.verdict(now_ns, together_ns, &all[..count]))
    };
    (1..=500).map(verdict).find(|&(_, verdict)| verdict != Verdict::GoOn).unwrap()
}

#[test]
fn a_pause_lasts_for_the_raise_delay_after_the_last_sibling_came() {
    let course = Course::new(700_000, true).unwrap();
    let (ends_ns, verdict) = pause(&course, Some(100_000), |_| HIGH_HZ);
    assert_eq!((ends_ns, verdict), (800_000, Verdict::Complete));
}

#[test]
fn a_pause_is_extended_until_the_clock_is_steady() {
    let course = Course::new(700_000, true).unwrap();
    let rises = |ns: u64| if ns < 690_000 { LOW_HZ } else { HIGH_HZ };
    let (ends_ns, verdict) = pause(&course, Some(0), rises);
    assert_eq!(verdict, Verdict::Complete);
    assert!((715_000..760_000).contains(&ends_ns), "{ends_ns}");
}

#[test]
fn a_clock_that_never_settles_ends_the_pause_at_its_limit() {
    let course = Course::new(700_000, false).unwrap();
    let swings = |ns: u64| if (ns / 30_000).is_multiple_of(2) { LOW_HZ } else { HIGH_HZ };
    let (ends_ns, verdict) = pause(&course, Some(0), swings);
    assert_eq!(verdict, Verdict::Ended(Why::Held));
    assert!((2_000_000..2_007_000).contains(&ends_ns), "{ends_ns}");
}

#[test]
fn a_sibling_that_does_not_come_ends_the_pause_while_it_could_still_be_complete() {
    let course = Course::new(700_000, false).unwrap();
    let (ends_ns, verdict) = pause(&course, None, |_| HIGH_HZ);
    assert_eq!((ends_ns, verdict), (1_300_000, Verdict::Ended(Why::SiblingLate)));
}

#[test]
fn a_raise_delay_that_does_not_fit_is_refused() {
    assert_eq!(Course::new(2_000_000, false), None);
    assert_eq!(Course::new(1_900_000, true), None);
    assert!(Course::new(1_900_000, false).is_some());
    assert_eq!(Course::new(u64::MAX, true), None);
}

fn any_blocks() -> impl Strategy<Value = Vec<Block>> {
    let block = (any::<u64>(), any::<f64>(), any::<f64>());
    let block =
        block.prop_map(|(start_ns, duration_ns, cycles)| Block { start_ns, duration_ns, cycles });
    prop::collection::vec(block, 0..80)
}

proptest! {
    #[test]
    fn no_blocks_make_it_panic(
        first in any_blocks(), again in any_blocks(), looked: bool,
        now_ns: u64, together_ns: Option<u64>, raise_delay_ns in 0_u64..1_500_000,
    ) {
        let course = Course::new(raise_delay_ns, looked).unwrap();
        let _ = course.verdict(now_ns, together_ns, &first);
        let _ = judge(&Blocks { first, again, ..Blocks::default() }, looked);
    }

    #[test]
    fn up_to_two_interrupts_leave_a_clock_within_the_noise(
        noise in prop::collection::vec(0.0_f64..0.004, WINDOW),
        hits in prop::collection::vec(0_usize..WINDOW, 0..3),
    ) {
        let mut window = blocks(0, WINDOW, |_| HIGH_HZ);
        for (block, noise) in window.iter_mut().zip(noise) {
            block.duration_ns *= 1.0 + noise;
        }
        for hit in hits {
            window[hit].duration_ns += 20_000.0;
        }
        let found_hz = clock_hz(&window).unwrap();
        prop_assert!((HIGH_HZ / 1.005..=HIGH_HZ * 1.000_001).contains(&found_hz), "{found_hz}");
    }
}

//! A core that executes out of order, and models that predict its speed at another clock.

use crate::clock_models::{Empirical, leading_loads, stall_cycles};
use crate::out_of_order::{Counts, Instruction, Kind, Machine, Place, run};

const NOW_KHZ: u32 = 2_800_000;
const NEXT_KHZ: u32 = 1_900_000;
/// 14 cycles of L2, and 80 ns.
const MEMORY_CYCLES: u64 = 14 + 224;

fn counts(program: &[Instruction], khz: u32) -> Counts {
    run(program, Machine { khz, reorder_buffer: 224, l3_ns: 20.0, line_ns: 0.0 })
}

/// The speed at the lower clock over that at the higher one, and the counts at the higher one.
fn measured(program: &[Instruction]) -> (f64, Counts) {
    let [now, next] = [NOW_KHZ, NEXT_KHZ].map(|khz| counts(program, khz));
    let slower = f64::from(NOW_KHZ) / f64::from(NEXT_KHZ);
    (now.cycles as f64 / (next.cycles as f64 * slower), now)
}

/// Each instruction of a chain needs the one before.
fn chain(kind: Kind, length: usize) -> Vec<Instruction> {
    (0..length).map(|index| Instruction { kind, source: index.checked_sub(1) }).collect()
}

fn independent(kind: Kind, length: usize) -> Vec<Instruction> {
    vec![Instruction { kind, source: None }; length]
}

fn assert_near(left: f64, right: f64) {
    assert!((left / right - 1.0).abs() < 0.01, "{left} is not {right}");
}

#[test]
fn code_without_misses_follows_the_clock() {
    let program = chain(Kind::Compute { cycles: 3 }, 5000);
    let (speed, now) = measured(&program);
    assert_near(now.cycles as f64, 15_000.0);
    for predicted in [stall_cycles(&now, NOW_KHZ, NEXT_KHZ), leading_loads(&now, NOW_KHZ, NEXT_KHZ)]
    {
        assert_near(predicted, speed);
        assert_near(predicted, 1.9 / 2.8);
    }
}

#[test]
fn a_chain_of_misses_keeps_its_time() {
    let (speed, now) = measured(&chain(Kind::Load(Place::Memory), 500));
    assert_near(now.cycles as f64, (500 * MEMORY_CYCLES) as f64);
    // Cycles of L2 follow the clock.
    assert!((0.9..1.0).contains(&speed), "{speed}");
    assert!(now.stall_cycles > 9 * now.cycles / 10, "{now:?}");
    assert_near(leading_loads(&now, NOW_KHZ, NEXT_KHZ), 1.0);
}

/// The computing hides in the time of misses, so less time follows the clock than is not stalled.
#[test]
fn stall_cycles_overestimate_the_slowdown_of_overlapping_code() {
    let mut program = Vec::new();
    for _ in 0..200 {
        let miss = Instruction { kind: Kind::Load(Place::Memory), source: None };
        let last = program.len().checked_sub(200);
        program.push(Instruction { source: last, ..miss });
        program.extend(independent(Kind::Compute { cycles: 1 }, 199));
    }
    let (speed, now) = measured(&program);
    let predicted = stall_cycles(&now, NOW_KHZ, NEXT_KHZ);
    assert!(predicted < 0.95 * speed, "{predicted} of {speed}");
    assert_near(leading_loads(&now, NOW_KHZ, NEXT_KHZ), 1.0);
}

#[test]
fn l2_has_the_clock_of_the_core_and_is_no_miss() {
    for khz in [NOW_KHZ, NEXT_KHZ] {
        let counts = counts(&chain(Kind::Load(Place::L2), 500), khz);
        assert_near(counts.cycles as f64, 500.0 * 14.0);
        assert_eq!((counts.misses, counts.stall_cycles), (0, 0));
    }
}

/// 14 cycles of L2, and 20 ns.
#[test]
fn l3_has_a_clock_of_its_own() {
    let program = chain(Kind::Load(Place::L3), 500);
    assert_near(counts(&program, NOW_KHZ).cycles as f64, 500.0 * (14.0 + 56.0));
    assert_near(counts(&program, NEXT_KHZ).cycles as f64, 500.0 * (14.0 + 38.0));
}

#[test]
fn loads_that_overlap_a_leading_load_count_once() {
    let now = counts(&independent(Kind::Load(Place::Memory), 8), NOW_KHZ);
    assert_eq!((now.misses, now.leading_load_cycles), (8, MEMORY_CYCLES));
}

#[test]
fn at_most_12_misses_are_outstanding() {
    let [of_12, of_13] =
        [12, 13].map(|loads| counts(&independent(Kind::Load(Place::Memory), loads), NOW_KHZ));
    assert!(of_12.cycles < MEMORY_CYCLES + 10, "{of_12:?}");
    assert!(of_13.cycles > 2 * MEMORY_CYCLES, "{of_13:?}");
}

#[test]
fn misses_overlap_within_the_reorder_buffer() {
    let mut program = independent(Kind::Load(Place::Memory), 1);
    program.extend(independent(Kind::Compute { cycles: 1 }, 100));
    program.extend(independent(Kind::Load(Place::Memory), 1));
    let [small, large] = [64, 224].map(|reorder_buffer| {
        run(&program, Machine { khz: NOW_KHZ, reorder_buffer, l3_ns: 20.0, line_ns: 0.0 }).cycles
    });
    assert!(small > 2 * MEMORY_CYCLES && large < MEMORY_CYCLES + 60, "{small}, {large}");
}

#[test]
fn missing_stores_fill_the_store_buffer() {
    let now = counts(&independent(Kind::Store(Place::Memory), 1000), NOW_KHZ);
    assert!(now.store_bound_cycles > 9 * now.cycles / 10, "{now:?}");
    assert_eq!((now.stall_cycles, now.misses), (0, 0));
}

#[test]
fn a_mispredicted_branch_delays_the_next_instructions() {
    let predicted = counts(&chain(Kind::Branch { is_mispredicted: false }, 100), NOW_KHZ);
    let mispredicted = counts(&chain(Kind::Branch { is_mispredicted: true }, 100), NOW_KHZ);
    assert!(mispredicted.cycles >= predicted.cycles + 99 * 16, "{mispredicted:?}");
}

#[test]
fn memory_delivers_a_line_at_a_time() {
    let program = independent(Kind::Load(Place::Memory), 1000);
    let machine = Machine { khz: NOW_KHZ, reorder_buffer: 224, l3_ns: 20.0, line_ns: 100.0 };
    assert_near(run(&program, machine).cycles as f64, 1000.0 * 280.0);
}

#[test]
fn the_empirical_model_finds_a_linear_relation() {
    let run = |cycles, misses| Counts { cycles, misses, ..Counts::default() };
    let next = |now: &Counts| now.cycles - 70 * now.misses;
    let known = [run(1000, 1), run(2000, 11), run(9000, 100)].map(|now| (now, next(&now)));
    let empirical = Empirical::fit(&known);
    let other = run(5000, 30);
    let predicted = empirical.speed(&other, NOW_KHZ, NEXT_KHZ);
    assert_near(predicted, 5000.0 / next(&other) as f64 * 1.9 / 2.8);
}

//! The worst runs that were found, by thought or by a long search, and kept.

use cpu_model::Class;
use simulator::{Compensation, PolicyEvent, PolicyRecord, Queues, SensorSet};

use crate::bounds::DEFICIT_NS;
use crate::genome::{EVEN, Genome, Kind, MS, Piece};
use crate::judge::QUESTIONS;
use crate::search::judged;

const SCALAR: Class = Class::Scalar;
const WIDE: Class = Class::Avx512Heavy;

fn piece(class: Class, stall_permille: u32, ns: u64) -> Piece {
    Piece { class, stall_permille, ns }
}

/// Threads that always run the same.
fn steady(threads: u32, on: Option<(u32, u32)>, class: Class) -> Kind {
    let pieces = [piece(class, 0, MS); 2];
    Kind { threads, nice: 0, on, arrival_ns: 0, pieces, sleep_ns: 0 }
}

fn one_core(kinds: &[Kind]) -> Genome {
    Genome {
        table: 0,
        cores: 1,
        threads_per_core: 2,
        queues: Queues::Global,
        hz: 250,
        sensors: SensorSet::Rules,
        smt_share_permille: 625,
        seed: 1,
        limit_ns: 2000 * MS,
        kinds: kinds.to_vec(),
    }
}

fn keeps_all_bounds(genome: &Genome) {
    let found = judged(genome).unwrap();
    for (question, ratio) in QUESTIONS.iter().zip(found) {
        assert!(ratio <= 1.0, "{question:?}: {ratio:.3} of what is allowed");
    }
}

/// A scalar task has one hardware thread of a core for itself; on the other two scalar tasks and
/// a wide one take turns. The deficit on the sibling refuses the wide task, and might do so for
/// ever: while scalar tasks run instead, nothing is repaid.
fn deficit_beside_other_tasks() -> Genome {
    let alone = steady(1, Some((0, 0)), SCALAR);
    let [others, wide] = [(2, SCALAR), (1, WIDE)].map(|(n, class)| steady(n, Some((1, 1)), class));
    one_core(&[alone, others, wide])
}

#[test]
fn a_wide_task_gets_its_turn_although_scalar_tasks_could_run_beside_a_deficit() {
    let genome = deficit_beside_other_tasks();
    let (_, _, outcome) = genome.run(EVEN);
    let ran_ms: Vec<u64> = outcome.tasks.iter().map(|task| task.cpu_time_ns / MS).collect();
    println!("{ran_ms:?} ms");
    keeps_all_bounds(&genome);
    assert!(ran_ms[3] > 250, "{ran_ms:?} ms");
}

/// A task computes and stalls on memory in turns, so that its slices show another gain than the
/// one that its forced idle was computed with.
#[test]
fn forced_idle_is_counted_at_the_gain_that_was_assumed_when_it_began() {
    let pieces = [piece(SCALAR, 0, 3_900_000), piece(SCALAR, 1000, 3_900_000)];
    let turns = Kind { pieces, sleep_ns: 10_000, ..steady(1, Some((0, 0)), SCALAR) };
    keeps_all_bounds(&one_core(&[turns, steady(1, Some((1, 1)), WIDE)]));
}

/// A CPU refuses a task, and another that would not idles.
#[test]
fn a_refused_task_finds_another_cpu() {
    let kind = |threads, nice, (stall, ns), class, sleep_ns| Kind {
        nice,
        pieces: [piece(class, stall, ns); 2],
        sleep_ns,
        ..steady(threads, None, class)
    };
    let late = Kind { arrival_ns: 57_320_024, ..kind(4, -5, (300, 34_681), SCALAR, 188_512) };
    keeps_all_bounds(&Genome {
        table: 1,
        cores: 2,
        queues: Queues::PerLlc,
        smt_share_permille: 800,
        seed: 17_738_693_304_959_957_111,
        limit_ns: 150 * MS,
        ..one_core(&[late, kind(3, 5, (900, 48_975), WIDE, 239_024)])
    });
}

/// Bound wide tasks, among light and heavy ones that need no CPU of theirs.
#[test]
fn a_pinned_task_beside_a_deficit_waits_no_longer() {
    let pieces = [piece(SCALAR, 0, 8_098_161), piece(WIDE, 0, 3_740_425)];
    let bound = Kind { nice: -5, pieces, sleep_ns: 184_077, ..steady(3, Some((4, 4)), WIDE) };
    let pieces = [piece(SCALAR, 0, 3_730_618), piece(SCALAR, 0, 3_428_877)];
    let light = Kind { nice: 5, pieces, ..steady(3, None, SCALAR) };
    let pieces = [piece(SCALAR, 0, 42_626); 2];
    let heavy = Kind { nice: -10, pieces, ..steady(5, None, SCALAR) };
    keeps_all_bounds(&Genome {
        table: 1,
        cores: 4,
        hz: 1000,
        smt_share_permille: 500,
        seed: 10_992_530_806_276_547_547,
        limit_ns: 150 * MS,
        ..one_core(&[bound, light, heavy])
    });
}

/// How long a task waits that ran alone for so long while other tasks shared a CPU, and then meets
/// a newcomer of its own affinity for half as long; both in ms.
fn waited_with_a_lead(compensation: Compensation, ms: u64) -> u64 {
    let newcomer = Kind { arrival_ns: ms * MS, ..steady(1, Some((0, 0)), SCALAR) };
    let [alone, shared] = [(1, 0), (2, 1)].map(|(n, on)| steady(n, Some((on, on)), SCALAR));
    let genome = Genome {
        cores: 2,
        threads_per_core: 1,
        limit_ns: ms * MS * 3 / 2,
        ..one_core(&[alone, shared, newcomer])
    };
    keeps_all_bounds(&genome);
    let (_, _, outcome) = genome.run(compensation);
    outcome.tasks[0].waited_ns / MS
}

/// Not bounded under `fair`: virtual time is one for all CPUs, so a task that ran alone is ahead of
/// all others, and waits for them once a third one comes. `even` places the newcomer by the floor
/// of its affinity.
#[test]
fn a_lead_gained_while_no_task_waited_is_waited_for_in_full_under_fair_and_not_under_even() {
    for ms in [200, 400] {
        let waited_ms = waited_with_a_lead(Compensation::None, ms);
        assert!(waited_ms * 10 > ms * 4 && waited_ms * 2 <= ms, "{waited_ms} of {ms} ms");
        // The two share their CPU from the beginning.
        let waited_ms = waited_with_a_lead(EVEN, ms);
        assert!((ms * 2..=ms * 3).contains(&(waited_ms * 10)), "{waited_ms} of {ms} ms");
    }
}

/// Threads that sleep, on all CPUs and on two of them.
#[test]
fn an_arriving_task_passes_no_waiting_one() {
    let kind = |threads, nice, pieces: [(Class, u32, u64); 2], sleep_ns| Kind {
        nice,
        pieces: pieces.map(|(class, stall, ns)| piece(class, stall, ns)),
        sleep_ns,
        ..steady(threads, None, SCALAR)
    };
    let bound = [(SCALAR, 300, 153_190), (SCALAR, 300, 313_620)];
    let genome = Genome {
        table: 2,
        cores: 4,
        hz: 1000,
        sensors: SensorSet::D7,
        smt_share_permille: 500,
        seed: 9_200_584_300_114_554_585,
        limit_ns: 150 * MS,
        ..one_core(&[
            kind(8, 0, [(SCALAR, 0, 41_447), (WIDE, 0, 41_447)], 30_297),
            kind(2, 0, [(SCALAR, 1000, 1_080_895), (SCALAR, 1000, 17_916_798)], 0),
            kind(7, 2, [(Class::Avx2Heavy, 0, 81_736), (Class::Avx2Heavy, 0, 47_673)], 12_697_962),
            Kind { on: Some((3, 2)), ..kind(6, 0, bound, 437_271) },
        ])
    };
    keeps_all_bounds(&genome);
}

/// No task gains by being alone, so that nothing is ever repaid.
#[test]
fn a_deficit_that_is_never_repaid_grows_to_its_bound_and_no_further() {
    let pinned = |cpu, class| steady(1, Some((cpu, cpu)), class);
    let genome = Genome {
        smt_share_permille: 1000,
        limit_ns: 300 * MS,
        ..one_core(&[pinned(0, SCALAR), pinned(1, WIDE)])
    };
    let (_, _, outcome) = genome.run(EVEN);
    let deficit = |record: &PolicyRecord| match record.event {
        PolicyEvent::Account { deficit_ns, .. } => deficit_ns,
        _ => 0,
    };
    assert_eq!(outcome.policy_records.iter().map(deficit).max(), Some(DEFICIT_NS));
    keeps_all_bounds(&genome);
}

//! What one decision costs. `cargo test` runs each once.

use cpu_model::{LEVELS_MAX, ROWS_MAX, Turbo};
use divan::{Bencher, black_box};
use policy::{Deficit, Learned, Loss, Mode, Slice};

fn main() {
    divan::main();
}

/// The Xeon Gold 6130 (D Table 3.1).
fn turbo() -> Turbo {
    let columns = [
        [3_700_000, 3_600_000, 3_500_000],
        [3_500_000, 3_400_000, 3_100_000],
        [3_400_000, 3_100_000, 2_400_000],
        [3_100_000, 2_600_000, 2_100_000],
        [2_800_000, 2_400_000, 1_900_000],
    ];
    let mut turbo = Turbo {
        ref_khz: 2_100_000,
        levels: 3,
        rows: 5,
        cores_max: [0; ROWS_MAX],
        khz: [[0; LEVELS_MAX]; ROWS_MAX],
    };
    for (row, khz) in columns.into_iter().enumerate() {
        turbo.khz[row][..3].copy_from_slice(&khz);
    }
    turbo
}

/// 6 ms between the last two rows, at all three levels.
fn slice() -> Slice {
    Slice {
        time_ns: 6_000_000,
        cycles: 13_800_000,
        ref_cycles: 12_600_000,
        level_cycles: [0, 3_000_000, 6_000_000, 0, 0, 0],
        stall_cycles: 2_000_000,
        first_row: 0,
    }
}

#[divan::bench(args = [0, 1, 2])]
fn time_lost(bencher: Bencher, own_level: u8) {
    let (turbo, slice) = (turbo(), slice());
    bencher.bench(|| policy::time_lost(black_box(&turbo), black_box(&slice), own_level));
}

#[divan::bench]
fn time_lost_without_wide_instructions(bencher: Bencher) {
    let (turbo, slice) = (turbo(), Slice { level_cycles: [0; LEVELS_MAX], ..slice() });
    bencher.bench(|| policy::time_lost(black_box(&turbo), black_box(&slice), 0));
}

#[divan::bench]
fn compensate() -> policy::Compensation {
    let loss = Loss {
        time_ns: 6_000_000,
        lost_ns: 1_000_000,
        victim: 7,
        last_user: 9,
        room_ns: 100_000_000,
    };
    policy::compensate(black_box(Mode::Isolation), black_box(&loss))
}

#[divan::bench]
fn charge() -> u64 {
    policy::charge(black_box(1 << 40), black_box(6_000_000), 1_000_000, 0, black_box(820))
}

#[divan::bench]
fn place_waking() -> u64 {
    policy::place_waking(black_box(1 << 40), black_box(1 << 41), 12_000_000)
}

#[divan::bench]
fn slice_ns() -> u64 {
    policy::slice_ns(black_box(6_000_000), 150, black_box(123_456_789))
}

/// All that `even` decides for a slice: what it lost and shows, what counts as virtual time and
/// what in kind, and which of the heads of three levels goes next beside AVX-512, or if none does.
/// A cold first call is not to decide how many make a sample.
#[divan::bench(sample_size = 1600)]
fn even(bencher: Bencher) {
    let (turbo, slice) = (turbo(), slice());
    bencher.bench(|| {
        let (turbo, slice) = (black_box(&turbo), black_box(&slice));
        let mut learned = Learned::default();
        let mut deficit = black_box(Deficit { deficit_ns: 1_000_000, ..Deficit::default() });
        learned.learn_shown(black_box(1), black_box(1), 1 << 40);
        let lost_ns = policy::time_lost(turbo, slice, learned.level(1 << 40)).lost_ns;
        let loss = Loss {
            time_ns: slice.time_ns,
            lost_ns,
            victim: 7,
            last_user: 9,
            room_ns: policy::bill_room_ns(black_box(1_000_000)),
        };
        let back = policy::compensate(Mode::Isolation, &loss);
        let stall_q30 = policy::share_q30(slice.stall_cycles, slice.cycles);
        let gain_permille = policy::alone_gain_permille(black_box(625), stall_q30);
        let refund_ns = deficit.bank(back.refund_ns);
        deficit.repay(black_box(100_000), gain_permille);
        let vtime = policy::charge(1 << 40, slice.time_ns, refund_ns, 0, black_box(820));
        let head = |level: u8| {
            let loss_permille = policy::mix_loss_permille(turbo, 4, level, black_box(2));
            black_box(vtime) + policy::mix_price_ns(loss_permille)
        };
        let first = (0..3).map(|level| (head(level), level)).min();
        (first, deficit.forced_idle_ns(gain_permille))
    });
}

//! Every result against exact rational arithmetic, and promises for any input at all.
//!
//! The meaningful domain: slices of 10 µs to 100 ms, 0.8 to 5 GHz, 1 to 6 levels, 1 to 16
//! rows that are at least 20 MHz apart, frequencies that never rise with row or level. Here
//! frequencies are right to 1e-7 and time lost to 1e-4 and 2 ns.

mod examples;

use cpu_model::{LEVELS_MAX, ROWS_MAX, Turbo};
use num_bigint::BigInt;
use num_rational::BigRational;
use policy::{Loss, Mode, NO_TASK, ONE, Shares, Slice, TurboRow};
use proptest::array::{uniform6, uniform16};
use proptest::prelude::*;

type Exact = BigRational;

fn whole(n: u64) -> Exact {
    Exact::from_integer(BigInt::from(n))
}

fn ratio(n: u64, d: u64) -> Exact {
    Exact::new(BigInt::from(n), BigInt::from(d))
}

fn distance(a: &Exact, b: &Exact) -> Exact {
    if a > b { a - b } else { b - a }
}

/// Shares of cycles, exactly (Eq. D 7.4 for level 0).
fn shares(slice: &Slice, levels: usize) -> Vec<Exact> {
    let above: u64 = slice.level_cycles[1..levels].iter().sum();
    let mut shares = vec![ratio(slice.cycles - above, slice.cycles)];
    shares.extend(slice.level_cycles[1..levels].iter().map(|&c| ratio(c, slice.cycles)));
    shares
}

/// Hz: the inverse of the mean period (Eq. D 7.7).
fn mean(turbo: &Turbo, row: usize, shares: &[Exact]) -> Exact {
    let period: Exact = shares
        .iter()
        .zip(turbo.khz[row])
        .map(|(share, khz)| share / whole(u64::from(khz) * 1000))
        .sum();
    period.recip()
}

/// The interpolated value at the shares a task has to itself, and Eq. D 7.3.
fn ideal_and_lost(turbo: &Turbo, slice: &Slice, own: usize) -> (Exact, Exact) {
    let levels = turbo.levels as usize;
    let measured = shares(slice, levels);
    let mut moved = measured.clone();
    let above: Exact = moved.drain(own + 1..).sum();
    moved[own] += &above;
    let actual = actual(turbo, slice);
    let last = turbo.rows as usize - 1;
    let slow = (0..=last).find(|&row| mean(turbo, row, &measured) <= actual);
    let ideal = match slow {
        None => mean(turbo, last, &moved),
        Some(0) => mean(turbo, 0, &moved),
        Some(slow) => {
            let (low, high) = (mean(turbo, slow, &measured), mean(turbo, slow - 1, &measured));
            let factor = (&actual - &low) / (high - low);
            let ideal_low = mean(turbo, slow, &moved);
            &ideal_low + factor * (mean(turbo, slow - 1, &moved) - &ideal_low)
        }
    };
    if above == whole(0) || ideal <= actual {
        return (ideal, whole(0));
    }
    let busy = ratio(slice.cycles - slice.stall_cycles, slice.cycles);
    let lost = whole(slice.time_ns) * busy * (&ideal - actual) / &ideal;
    (ideal, lost)
}

fn actual(turbo: &Turbo, slice: &Slice) -> Exact {
    whole(u64::from(turbo.ref_khz) * 1000) * ratio(slice.cycles, slice.ref_cycles)
}

prop_compose! {
    fn turbos()(
        levels in 1..=LEVELS_MAX,
        rows in 1..=ROWS_MAX,
        ref_khz in 1_000_000..4_000_000u32,
        top_khz in 3_450_000..5_000_000u32,
        row_steps in uniform16(20_000..80_000u32),
        level_steps in uniform6(0..200_000u32),
        widening in uniform6(0..6_000u32),
    ) -> Turbo {
        let mut turbo = Turbo {
            ref_khz,
            levels: levels as u32,
            rows: rows as u32,
            cores_max: [0; ROWS_MAX],
            khz: [[0; LEVELS_MAX]; ROWS_MAX],
        };
        let mut row_khz = top_khz;
        for (row, step_khz) in row_steps.into_iter().enumerate().take(rows) {
            turbo.cores_max[row] = 2 * row as u32 + 2;
            let mut khz = row_khz;
            for level in 0..levels {
                turbo.khz[row][level] = khz;
                khz -= level_steps[level] + widening[level] * row as u32;
            }
            row_khz -= step_khz;
        }
        turbo
    }
}

prop_compose! {
    /// A table, a slice that ran near its frequencies, and the task's own level.
    fn cases()(
        turbo in turbos(),
        time_ns in 10_000..100_000_000u64,
        way_permille in 0..1100u64,
        weights in uniform6(prop_oneof![2 => Just(0), 1 => 0..10u64, 3 => 0..1_000_000u64]),
        stall_permille in 0..=1000u64,
        own in 0..LEVELS_MAX,
    ) -> (Turbo, Slice, usize) {
        let (levels, rows) = (turbo.levels as usize, turbo.rows as usize);
        let lowest = u64::from(turbo.khz[rows - 1][levels - 1]) * 98 / 100;
        let highest = u64::from(turbo.khz[0][0]);
        let khz = lowest + (highest - lowest) * way_permille / 1000;
        let cycles = time_ns * khz / 1_000_000;
        let sum = weights[..levels].iter().sum::<u64>().max(1);
        let mut slice = Slice {
            time_ns,
            cycles,
            ref_cycles: time_ns * u64::from(turbo.ref_khz) / 1_000_000,
            level_cycles: [0; LEVELS_MAX],
            stall_cycles: cycles * stall_permille / 1000,
            first_row: 0,
        };
        for (level, weight) in weights.into_iter().enumerate().take(levels).skip(1) {
            slice.level_cycles[level] = cycles * weight / sum;
        }
        (turbo, slice, own % levels)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn frequencies_are_exact_to_a_ten_millionth((turbo, slice, own) in cases()) {
        let levels = turbo.levels as usize;
        let bound = ratio(1, 10_000_000);
        let measured = Shares::of(&slice);
        for row in 0..turbo.rows as usize {
            let exact = mean(&turbo, row, &shares(&slice, levels));
            let ours = whole(policy::mean_frequency_hz(&turbo, row as u32, &measured));
            prop_assert!(distance(&ours, &exact) <= &bound * &exact, "row {row}");
        }
        let hz = policy::actual_frequency_hz(turbo.ref_khz, slice.cycles, slice.ref_cycles);
        let exact = actual(&turbo, &slice);
        prop_assert!(distance(&whole(hz), &exact) <= &bound * &exact);

        let at = policy::turbo_row(&turbo, &measured, hz, 0);
        let ours = whole(policy::ideal_frequency_hz(&turbo, &measured, own as u8, at));
        let (ideal, _) = ideal_and_lost(&turbo, &slice, own);
        prop_assert!(distance(&ours, &ideal) <= &bound * &ideal);
    }

    #[test]
    fn time_lost_is_exact_to_a_ten_thousandth((turbo, slice, own) in cases()) {
        let (_, exact) = ideal_and_lost(&turbo, &slice, own);
        let ours = policy::time_lost(&turbo, &slice, own as u8);
        let bound = &exact * ratio(1, 10_000) + whole(2);
        prop_assert!(distance(&whole(ours.lost_ns), &exact) <= bound, "{ours:?} {exact}");
    }

    #[test]
    fn the_stall_model_is_exact_to_a_ten_millionth(
        stall_q30 in 0..=ONE,
        now_khz in 800_000..5_000_000u64,
        next_khz in 800_000..5_000_000u64,
    ) {
        let stall = ratio(stall_q30.into(), ONE.into());
        let (now, next) = (whole(now_khz * 1000), whole(next_khz * 1000));
        let exact = &next / (stall * (&next - &now) + &now) * whole(ONE.into());
        let ours = whole(policy::stall_perf_q30(stall_q30, now_khz * 1000, next_khz * 1000));
        prop_assert!(distance(&ours, &exact) <= exact * ratio(1, 10_000_000));
    }

    #[test]
    fn products_are_exact_and_saturate(a: u64, num: u32, den: u32) {
        let exact = u128::from(a) * u128::from(num) / u128::from(den.max(1));
        let wanted = if den == 0 { u64::MAX } else { u64::try_from(exact).unwrap_or(u64::MAX) };
        prop_assert_eq!(policy::mul_div(a, num, den), wanted);
        let fraction = num.min(ONE);
        let exact = u128::from(a) * u128::from(fraction) / u128::from(ONE);
        prop_assert_eq!(u128::from(policy::mul_q30(a, num)), exact);
    }

    #[test]
    fn a_charge_is_the_exact_one_rounded_down(
        vtime_ns in 0..1u64 << 60,
        time_ns in 0..1u64 << 40,
        refund_ns in 0..1u64 << 40,
        bill_ns in 0..1u64 << 40,
        nice in -20..=19i8,
    ) {
        let weight = policy::weight(nice);
        let due_ns = time_ns.saturating_sub(refund_ns) + bill_ns;
        let exact = u128::from(vtime_ns) + u128::from(due_ns) * 1024 / u128::from(weight);
        let ours = policy::charge(vtime_ns, time_ns, refund_ns, bill_ns, weight);
        prop_assert_eq!(u128::from(ours), exact);
    }

    #[test]
    fn a_slice_is_the_exact_one_within_3_ns(
        base_ns in 1..1u64 << 40,
        jitter_permille in 0..=1000u32,
        draw: u32,
    ) {
        let jitter = whole(base_ns) * ratio(jitter_permille.into(), 1000);
        let way = ratio(draw.into(), 1 << 31) - whole(1);
        let exact = whole(base_ns) + jitter * way;
        let ours = whole(policy::slice_ns(base_ns, jitter_permille, draw));
        // A draw counts in steps of 2^-30.
        let bound = whole(3) + ratio(base_ns, 1 << 28);
        prop_assert!(distance(&ours, &exact) <= bound);
    }
}

/// Small, large and extreme numbers.
fn any_u64() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        any::<u64>(),
        (any::<u64>(), 0..64u32).prop_map(|(n, shift)| n >> shift)
    ]
}

prop_compose! {
    fn garbage()(
        head in uniform6(any_u64()),
        level_cycles in uniform6(any_u64()),
        numbers in uniform16(uniform6(any::<u32>())),
        shares in uniform6(any::<u32>()),
        small in any::<bool>(),
    ) -> (Turbo, Slice, Shares) {
        let limit = if small { 8 } else { u32::MAX };
        let turbo = Turbo {
            ref_khz: head[4] as u32,
            levels: head[5] as u32 % limit,
            rows: (head[5] >> 32) as u32 % limit,
            cores_max: [0; ROWS_MAX],
            khz: numbers,
        };
        let [time_ns, cycles, ref_cycles, stall_cycles, ..] = head;
        let first_row = level_cycles[0] % 32;
        let slice = Slice { time_ns, cycles, ref_cycles, level_cycles, stall_cycles, first_row };
        (turbo, slice, Shares { q30: shares })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn garbage_never_loses_more_than_the_slice((turbo, slice, _) in garbage(), own: u8) {
        let lost = policy::time_lost(&turbo, &slice, own);
        prop_assert!(lost.lost_ns <= slice.time_ns);
        prop_assert!(lost.lost_ns == 0 || lost.ideal_hz >= lost.actual_hz);
        prop_assert!(lost.lost_ns == 0 || u32::from(own) + 1 < turbo.levels);
    }

    #[test]
    fn garbage_still_has_shares_of_one_whole((_, slice, _) in garbage()) {
        prop_assert_eq!(Shares::of(&slice).q30.iter().sum::<u32>(), ONE);
    }

    #[test]
    fn garbage_still_finds_a_row_of_the_table(
        (turbo, slice, shares) in garbage(),
        hz in any_u64(),
    ) {
        let TurboRow { slow, factor_q30 } = policy::turbo_row(&turbo, &shares, hz, slice.first_row);
        let last = turbo.rows.clamp(1, ROWS_MAX as u32) - 1;
        prop_assert!(slow <= last && factor_q30 <= ONE);
        let first = (slice.first_row as u32).min(last);
        prop_assert!(slow > first || (slow == first && factor_q30 == 0));
    }

    #[test]
    fn what_is_billed_is_refunded_and_never_to_the_payer(
        time_ns in any_u64(),
        lost_ns in any_u64(),
        victim in 0..4u32,
        last_user in prop_oneof![0..4u32, Just(NO_TASK)],
        room_ns in any_u64(),
    ) {
        let loss = Loss { time_ns, lost_ns, victim, last_user, room_ns };
        let back = policy::compensate(Mode::Isolation, &loss);
        prop_assert_eq!(back.refund_ns, back.bill_ns);
        prop_assert!(back.refund_ns <= time_ns.min(lost_ns).min(room_ns));
        prop_assert!(back.culprit != victim);
        prop_assert_eq!(back.culprit == NO_TASK, back.bill_ns == 0);
    }

    #[test]
    fn virtual_time_and_places_never_move_back(
        vtime_ns in any_u64(),
        numbers in uniform6(any_u64()),
        weight: u32,
    ) {
        let [a, b, c, ..] = numbers;
        prop_assert!(policy::charge(vtime_ns, a, b, c, weight) >= vtime_ns);
        prop_assert!(policy::place_new(vtime_ns, a, b) >= vtime_ns);
        prop_assert!(policy::place_waking(vtime_ns, a, b) >= vtime_ns);
        prop_assert!(policy::place_waking(vtime_ns, a, b) <= vtime_ns.max(a));
    }

    #[test]
    fn a_shared_slice_stays_between_its_bounds_and_falls_with_the_queue(
        base_ns in 200_000..1u64 << 40,
        weight in 1..100_000u32,
        waiting in 0..100_000u32,
        cpus in 1..10_000u32,
    ) {
        let ours = policy::slice_shared_ns(base_ns, weight, waiting, cpus);
        prop_assert!((200_000..=base_ns).contains(&ours));
        prop_assert!(policy::slice_shared_ns(base_ns, weight, waiting + 1, cpus) <= ours);
        let exact = whole(base_ns) * ratio(weight.min(1024).into(), 1024)
            * ratio(cpus.min(waiting.max(cpus)).into(), waiting.max(cpus).into());
        let exact = exact.max(whole(200_000));
        prop_assert!(distance(&whole(ours), &exact) <= whole(2));
    }

    #[test]
    fn a_move_keeps_the_distance_to_the_minimum(
        ahead_ns in 0..1u64 << 40,
        from_ns in 0..1u64 << 60,
        to_ns in 0..1u64 << 60,
    ) {
        prop_assert_eq!(policy::move_between(from_ns + ahead_ns, from_ns, to_ns), to_ns + ahead_ns);
    }

    #[test]
    fn more_stalls_never_lose_more((turbo, slice, _) in garbage(), own: u8, more in any_u64()) {
        let stalled = Slice { stall_cycles: slice.stall_cycles.saturating_add(more), ..slice };
        let (less, lost) = (
            policy::time_lost(&turbo, &stalled, own),
            policy::time_lost(&turbo, &slice, own),
        );
        prop_assert!(less.lost_ns <= lost.lost_ns);
    }
}

//! Which levels were in force while a group demanded which, from two distributions.
//!
//! A sample measures the level in force before the pause, and the demand after the pause. If code
//! changes faster, the two do not belong together, but each is right on average: the
//! table is fitted to both (iterative proportional fitting, Deming and Stephan 1940), knowing that
//! the level in force is never below the one demanded.

use cpu_model::LEVELS_MAX;

/// Weights by level in force and level demanded.
pub(crate) type Table = [[f64; LEVELS_MAX]; LEVELS_MAX];

/// Most rounds of the fit, and the change of a cell, relative to all, that ends it.
const ROUNDS_MAX: usize = 2000;
const CHANGE_MIN: f64 = 1e-7;
/// Weight of a pair of levels that no sample showed, relative to one sample in all.
const UNSEEN: f64 = 1e-6;

/// Time by level in force and level demanded: `in_force_ns` in all at each level, and demands as
/// `demanded` says, in the proportions of `seen` where these leave a choice.
pub(crate) fn times_ns(
    seen: &Table,
    in_force_ns: &[f64; LEVELS_MAX],
    demanded: &[f64; LEVELS_MAX],
) -> Table {
    let all_ns: f64 = in_force_ns.iter().sum();
    let all_seen: f64 = seen.iter().flatten().sum();
    let all_demanded: f64 = demanded.iter().sum();
    let mut table = [[0.0; LEVELS_MAX]; LEVELS_MAX];
    if all_ns <= 0.0 || all_seen <= 0.0 || all_demanded <= 0.0 {
        return table;
    }
    for (level, row) in table.iter_mut().enumerate() {
        for (own, cell) in row.iter_mut().enumerate().take(level + 1) {
            *cell = seen[level][own] + UNSEEN * all_seen;
        }
    }
    let demanded_ns = possible(in_force_ns, &demanded.map(|it| it * all_ns / all_demanded));
    for _ in 0..ROUNDS_MAX {
        let before = table;
        for own in 0..LEVELS_MAX {
            let sum: f64 = table.iter().map(|row| row[own]).sum();
            if sum > 0.0 {
                table.iter_mut().for_each(|row| row[own] *= demanded_ns[own] / sum);
            }
        }
        for (row, &wanted_ns) in table.iter_mut().zip(in_force_ns) {
            let sum: f64 = row.iter().sum();
            if sum > 0.0 {
                row.iter_mut().for_each(|cell| *cell *= wanted_ns / sum);
            }
        }
        let pairs = table.iter().flatten().zip(before.iter().flatten());
        let change_ns = pairs.map(|(now, then)| (now - then).abs()).fold(0.0, f64::max);
        if change_ns < CHANGE_MIN * all_ns {
            break;
        }
    }
    table
}

/// The demands, cut so that no more time demands a level than had the level; the excess counts for
/// the next lower level.
fn possible(in_force_ns: &[f64; LEVELS_MAX], demanded_ns: &[f64; LEVELS_MAX]) -> [f64; LEVELS_MAX] {
    let mut possible_ns = [0.0; LEVELS_MAX];
    let (mut room_ns, mut over_ns) = (0.0, 0.0);
    for level in (0..LEVELS_MAX).rev() {
        room_ns += in_force_ns[level];
        let wanted_ns = demanded_ns[level] + over_ns;
        possible_ns[level] = f64::min(wanted_ns, room_ns);
        room_ns -= possible_ns[level];
        over_ns = wanted_ns - possible_ns[level];
    }
    possible_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(first: [f64; 3]) -> [f64; LEVELS_MAX] {
        let mut all = [0.0; LEVELS_MAX];
        all[..3].copy_from_slice(&first);
        all
    }

    fn table(cells: &[(usize, usize, f64)]) -> Table {
        let mut table = [[0.0; LEVELS_MAX]; LEVELS_MAX];
        for &(level, own, weight) in cells {
            table[level][own] = weight;
        }
        table
    }

    fn assert_near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1.0, "{actual} is not {expected}");
    }

    /// A burst demands level 2 for 16 % of the time and is over when its demand is measured.
    #[test]
    fn demands_belong_where_their_level_is_in_force() {
        let seen = table(&[(0, 0, 18.0), (0, 2, 19.0), (2, 0, 107.0), (2, 2, 5.0)]);
        let fitted = times_ns(&seen, &levels([300.0, 0.0, 700.0]), &levels([840.0, 0.0, 160.0]));
        assert_near(fitted[2][2], 160.0);
        assert_near(fitted[2][0], 540.0);
        assert_near(fitted[0][0], 300.0);
        assert_eq!(fitted[0][2], 0.0);
    }

    #[test]
    fn pairs_that_were_seen_stay_where_both_agree() {
        let seen = table(&[(0, 0, 50.0), (1, 0, 20.0), (2, 0, 10.0), (2, 1, 20.0)]);
        let fitted = times_ns(&seen, &levels([500.0, 200.0, 300.0]), &levels([80.0, 20.0, 0.0]));
        assert_near(fitted[1][0] + fitted[1][1], 200.0);
        assert!(fitted[2][1] > 180.0 && fitted[1][1] < 20.0, "{fitted:?}");
    }

    #[test]
    fn more_demand_than_time_at_a_level_counts_for_the_one_below() {
        let possible_ns = possible(&levels([900.0, 50.0, 50.0]), &levels([800.0, 0.0, 200.0]));
        assert_eq!(possible_ns, levels([900.0, 50.0, 50.0]));
    }

    /// The solution lies on the boundary, to which the fit converges slowly.
    #[test]
    fn demand_that_is_cut_fills_its_level() {
        let seen = table(&[(0, 0, 5.0), (0, 2, 95.0), (2, 0, 95.0), (2, 2, 5.0)]);
        let fitted = times_ns(&seen, &levels([510.0, 0.0, 490.0]), &levels([500.0, 0.0, 500.0]));
        assert_near(fitted[2][2], 490.0);
        assert_near(fitted[2][0], 0.0);
    }

    #[test]
    fn nothing_seen_is_nothing() {
        let none = [[0.0; LEVELS_MAX]; LEVELS_MAX];
        assert_eq!(times_ns(&none, &levels([1.0; 3]), &levels([0.0; 3])), none);
    }
}

//! A time span in columns: how much of each was idle and at which level.

use super::Stretch;

/// Kinds of time: the license levels, then idle.
pub(crate) const KINDS: usize = cpu_model::LEVELS_MAX + 1;
/// The kind of idle time.
pub(crate) const IDLE: usize = KINDS - 1;

/// Time of each kind in each of `count` columns of the same width between two times; stretches
/// outside do not count.
pub(crate) fn columns<'a>(
    stretches: impl IntoIterator<Item = &'a Stretch>,
    (from_ns, to_ns): (u64, u64),
    count: usize,
) -> Vec<[u64; KINDS]> {
    let mut columns = vec![[0; KINDS]; count];
    let span = u128::from(to_ns - from_ns).max(1);
    let edge = |column: usize| from_ns + (span * column as u128 / count as u128) as u64;
    let column_of = |ns: u64| (u128::from(ns - from_ns) * count as u128 / span) as usize;
    for stretch in stretches {
        let (begin, end) = (stretch.from_ns.max(from_ns), stretch.to_ns.min(to_ns));
        if begin >= end {
            continue;
        }
        let kind = if stretch.task == 0 { IDLE } else { usize::from(stretch.level).min(IDLE - 1) };
        let mut column = column_of(begin);
        let mut at = begin;
        while at < end && column < count {
            let next = edge(column + 1).min(end);
            columns[column][kind] += next.saturating_sub(at);
            at = at.max(next);
            column += 1;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nanosecond_is_in_one_column() {
        let stretch = |from_ns, to_ns, task, level| Stretch { from_ns, to_ns, task, level };
        let all = [stretch(0, 7, 1, 0), stretch(7, 8, 0, 0), stretch(8, 95, 2, 3)];
        for count in [1, 3, 10, 200] {
            let found = columns(&all, (0, 95), count);
            let sum = |kind: usize| found.iter().map(|column| column[kind]).sum::<u64>();
            assert_eq!((sum(0), sum(3), sum(IDLE)), (7, 87, 1), "{count}");
        }
        let halves = columns(&all, (8, 48), 2);
        assert_eq!((halves[0][3], halves[1][3]), (20, 20));
    }
}

//! The cheapest levels of a whole timeline.

use cpu_model::LEVELS_MAX;

use crate::timeline::{Stretch, Timeline};
use crate::walk::{Clock, Walked};

/// No level reaches this cost.
const IMPOSSIBLE: u64 = u64::MAX;

/// The timeline under the sequence of levels that loses least, of those that something on it
/// demands. The level changes between stretches: a change within one is never cheaper than at its
/// beginning.
pub(crate) fn walk(timeline: &Timeline, clock: &Clock<'_>) -> Walked {
    let levels = usize::from(clock.levels());
    let mut least = [IMPOSSIBLE; LEVELS_MAX];
    least[0] = 0;
    let mut is_used = [false; LEVELS_MAX];
    is_used[0] = true;
    timeline.stretches.iter().for_each(|it| is_used[usize::from(it.demand.level)] = true);
    let mut before: Vec<[u8; LEVELS_MAX]> = Vec::with_capacity(timeline.stretches.len());
    for stretch in &timeline.stretches {
        let demanded = usize::from(stretch.demand.level);
        let mut next = [IMPOSSIBLE; LEVELS_MAX];
        let mut from = [0; LEVELS_MAX];
        for to in (demanded..levels).filter(|&to| is_used[to]) {
            // Only a demand raises the level.
            let lowest = if to == demanded { 0 } else { to };
            for last in (lowest..levels).filter(|&last| least[last] != IMPOSSIBLE) {
                let cost_ns = least[last] + cost_ns(stretch, last as u8, to as u8, clock);
                if cost_ns < next[to] {
                    next[to] = cost_ns;
                    from[to] = last as u8;
                }
            }
        }
        least = next;
        before.push(from);
    }
    let mut level = (0..levels).min_by_key(|&level| least[level]).unwrap_or(0) as u8;
    let mut path = vec![0; before.len()];
    for (at, from) in before.iter().enumerate().rev() {
        path[at] = level;
        level = from[usize::from(level)];
    }
    follow(timeline, &path, clock)
}

/// The cost of a level in a stretch, with the change to the level.
fn cost_ns(stretch: &Stretch, from: u8, to: u8, clock: &Clock<'_>) -> u64 {
    let change_ns = clock.change_ns(from, to, stretch.demand.heavy == 1);
    if stretch.is_idle() {
        return change_ns;
    }
    let time_ns = |level| clock.stretched_ns(stretch.work_ns, level);
    change_ns + time_ns(to) - time_ns(stretch.demand.level)
}

fn follow(timeline: &Timeline, path: &[u8], clock: &Clock<'_>) -> Walked {
    let mut walked = Walked::default();
    let mut last = 0;
    for (stretch, &level) in timeline.stretches.iter().zip(path) {
        if level != last {
            walked.changes(timeline, stretch, (last, level), clock);
            last = level;
        }
        walked.works(timeline, stretch, stretch.work_ns, level, clock);
    }
    walked
}

//! Moments of victims from pauses without counters.

use crate::basis::Basis;
use crate::clocks::Clocks;
use crate::culprits::Where;
use crate::items::{Item, Items, SAMPLES_MIN, loss_of};
use crate::profile::{ClocksWithStays, Profile};
use crate::shown::Shown;

/// The threads that pause the CPUs of a core come within so long of each other; whatever ran on a
/// sibling before counts as there.
const TOGETHER_NS: u64 = 50_000;
/// Where no pause with a change shows what the group demands, so small a share of its pauses, 1 in
/// this many, may count with the most that was lost.
const UNKNOWN_SHARE: usize = 20;

impl Items {
    /// Of the clocks of pauses, whose times are random. Where the clock changed, and another task
    /// ran instead of the interrupted one, the pauses that show what that group demands stand for
    /// those that do not; if none does, the group is taken to demand no level. A pause without a
    /// change needs no such look.
    pub(crate) fn of_clocks(profile: &Profile, shown: &Shown) -> Self {
        let groups = profile.groups.len();
        let mut counts = vec![Counts::default(); groups];
        let with_group =
            || profile.clocks.iter().filter_map(|it| Some((profile.group(it.clocks.task)?, it)));
        for (group, ClocksWithStays { clocks, .. }) in with_group() {
            counts[group].all += 1;
            if clocks.has_changed() {
                counts[group].changed += 1;
                counts[group].changed_with_loss += usize::from(clocks.lost().is_some());
            }
        }
        let item = |(group, ClocksWithStays { clocks, stays }): (usize, &ClocksWithStays)| {
            let &Clocks { cpu, time_ns, .. } = clocks;
            let time_ns = time_ns.saturating_sub(TOGETHER_NS);
            let at = Where { cpu, time_ns, own_level: 0, stays, company: &[], sibling_share: None };
            let lost = match counts[group].changed_with_loss {
                0 => clocks.lost_at_most(),
                _ => clocks.lost(),
            };
            let losses = lost.map(|lost| loss_of(lost, &at, shown, profile));
            let level = usize::from(clocks.has_changed());
            Item { group, level, weight: 1.0, own: 0, losses: losses.into_iter().collect() }
        };
        let basis = |counts: &Counts| match counts.is_enough() {
            true => Basis::Measured,
            false => Basis::Unknown,
        };
        Self {
            items: with_group().map(item).collect(),
            samples: counts.iter().map(|counts| counts.all).collect(),
            basis: counts.iter().map(basis).collect(),
            is_published: true,
        }
    }
}

/// The pauses of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    all: usize,
    changed: usize,
    /// Of the changed ones, those that show what the task demands.
    changed_with_loss: usize,
}

impl Counts {
    /// Whether they say what the group lost.
    fn is_enough(self) -> bool {
        let is_known = self.changed_with_loss > 0 || self.changed * UNKNOWN_SHARE <= self.all;
        self.all >= SAMPLES_MIN && is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_with_changes_that_nothing_explains_is_not_known() {
        let counts = |all, changed, changed_with_loss| Counts { all, changed, changed_with_loss };
        assert!(counts(20, 6, 2).is_enough() && counts(40, 2, 0).is_enough());
        assert!(!counts(40, 3, 0).is_enough() && !counts(5, 0, 0).is_enough());
    }
}

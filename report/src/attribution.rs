//! Whether the policy attributed losses to the tasks that had caused them.
//!
//! The simulator splits each lost nanosecond equally among the tasks that demanded the level; a
//! policy attributes what a slice lost to one of them. Over a run both add up by victim and
//! culprit, and what they have in common was attributed rightly. What an application lost to its
//! own threads is left out: no other application caused it.

use serde::Serialize;

/// The CPU time that one application lost to another one, and its compensation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossEntry {
    /// Application that was slowed.
    pub victim: String,
    /// Application whose demand held the level.
    pub culprit: String,
    /// CPU time lost.
    pub lost_s: f64,
    /// Of the loss, CPU time refunded to the victim.
    pub repaid_s: f64,
    /// Of the loss, CPU time that forced idle of siblings owes the victim (idle compensation).
    pub idle_compensation_s: f64,
}

/// CPU time lost to other applications, and how much of it the policy attributed to the culprits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Attribution {
    /// CPU time lost to other applications.
    pub lost_s: f64,
    /// CPU time that the policy attributed to other applications.
    pub attributed_s: f64,
    /// Attributed CPU time that the billed applications had caused.
    pub right_s: f64,
}

impl Attribution {
    pub(crate) fn of(losses: &[LossEntry]) -> Self {
        let to_others = losses.iter().filter(|loss| loss.victim != loss.culprit);
        to_others.fold(Self::default(), |sum, loss| {
            let attributed_s = loss.repaid_s + loss.idle_compensation_s;
            sum.with(&Self {
                lost_s: loss.lost_s,
                attributed_s,
                right_s: attributed_s.min(loss.lost_s),
            })
        })
    }

    #[must_use]
    pub(crate) fn with(self, other: &Self) -> Self {
        Self {
            lost_s: self.lost_s + other.lost_s,
            attributed_s: self.attributed_s + other.attributed_s,
            right_s: self.right_s + other.right_s,
        }
    }

    /// Share of the attributed time that the culprit had caused; `None` if none was attributed.
    pub(crate) fn right_pct(&self) -> Option<f64> {
        (self.attributed_s > 0.0).then(|| 100.0 * self.right_s / self.attributed_s)
    }

    /// Share of the lost time that was attributed rightly; `None` if none was attributed.
    pub(crate) fn found_pct(&self) -> Option<f64> {
        self.right_pct().filter(|_| self.lost_s > 0.0)?;
        Some(100.0 * self.right_s / self.lost_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(culprit: &str, lost_s: f64, repaid_s: f64, idle_compensation_s: f64) -> LossEntry {
        let culprit = culprit.to_owned();
        LossEntry { victim: "victim".into(), culprit, lost_s, repaid_s, idle_compensation_s }
    }

    #[test]
    fn bills_of_innocent_tasks_are_wrong_and_unbilled_losses_are_not_found() {
        let losses = [loss("culprit", 10.0, 5.0, 1.0), loss("innocent", 0.0, 2.0, 0.0)];
        let attribution = Attribution::of(&losses);
        assert_eq!((attribution.right_pct(), attribution.found_pct()), (Some(75.0), Some(60.0)));
    }

    #[test]
    fn more_than_a_culprit_caused_is_wrong_too() {
        let attribution = Attribution::of(&[loss("culprit", 10.0, 20.0, 0.0)]);
        assert_eq!((attribution.right_pct(), attribution.found_pct()), (Some(50.0), Some(100.0)));
        let nothing = Attribution::of(&[loss("culprit", 10.0, 0.0, 0.0)]);
        assert_eq!((nothing.right_pct(), nothing.found_pct()), (None, None));
    }

    #[test]
    fn losses_of_an_application_to_itself_are_not_counted() {
        assert_eq!(Attribution::of(&[loss("victim", 10.0, 5.0, 0.0)]), Attribution::default());
    }
}

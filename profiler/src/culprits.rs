//! Which task caused the loss of a sample?

use crate::profile::{Profile, Stay};
use crate::shown::Shown;

/// How a level above its own demand slows a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The level was held after its last demand.
    Hold,
    /// A task on a sibling demanded the level meanwhile.
    Sibling,
    /// The core was throttled or halted on the way to the level.
    Transition,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hold, Self::Sibling, Self::Transition];
}

/// The part of a sample's loss that one group caused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// `None`: no task of the core is known to demand such a level.
    pub culprit: Option<usize>,
    /// How.
    pub cause: Cause,
    /// All parts of a sample add up to 1.
    pub share: f64,
}

/// Splits a loss among the tasks that ran on its core while the level was held: those that run at
/// the moment by how often their group demands more than the victim, the rest among those before,
/// the last first, because the last task to demand a level holds the level.
pub(crate) fn parts(moment: &Where, shown: &Shown, profile: &Profile) -> Vec<Part> {
    let now_ns = moment.time_ns;
    let since_ns = now_ns.saturating_sub(profile.hold_ns());
    let mut candidates = Vec::new();
    for stay in moment.stays {
        let Some(group) = profile.group(stay.task) else { continue };
        let chance = shown.above(group, moment.own_level);
        if chance <= 0.0 {
            continue;
        }
        // The victim itself was seen not to demand the level now.
        let is_there = stay.ended_ns.is_none_or(|ended_ns| ended_ns > now_ns);
        if stay.cpu != moment.cpu && is_there {
            candidates.push(Candidate { left_ns: u64::MAX, group, cause: Cause::Sibling, chance });
        }
        let left_ns = stay.ended_ns.map_or(now_ns, |ended_ns| ended_ns.min(now_ns));
        let time_ns = left_ns.saturating_sub(stay.began_ns.max(since_ns));
        let chance = 1.0 - (1.0 - chance).powf(time_ns as f64 / CHANGE_NS);
        if chance > 0.0 {
            candidates.push(Candidate { left_ns, group, cause: Cause::Hold, chance });
        }
    }
    candidates.sort_by_key(|it| (std::cmp::Reverse(it.left_ns), it.group));
    let mut parts = Parts::default();
    let mut left = 1.0;
    for equals in candidates.chunk_by(|a, b| a.left_ns == b.left_ns) {
        let sum: f64 = equals.iter().map(|it| it.chance).sum();
        let none: f64 = equals.iter().map(|it| 1.0 - it.chance).product();
        for it in equals {
            parts.add(Some(it.group), it.cause, left * (1.0 - none) * it.chance / sum);
        }
        left *= none;
    }
    if parts.0.is_empty() {
        // All of them had left for longer than a hold when a long slice ended.
        for group in moment.company.iter().filter_map(|&task| profile.group(task)) {
            parts.add(Some(group), Cause::Hold, shown.above(group, moment.own_level));
        }
    }
    parts.normalised(moment)
}

/// Time after which the demand of a task is taken to be independent of its earlier demand: our
/// choice.
const CHANGE_NS: f64 = 300_000.0;

/// The moment of a loss.
#[derive(Clone, Copy)]
pub(crate) struct Where<'a> {
    pub cpu: u32,
    pub time_ns: u64,
    /// Level that the victim demands.
    pub own_level: u8,
    /// Tasks on the core until then.
    pub stays: &'a [Stay],
    /// Tasks that ran on the core during the victim's slice or within the hold before; empty where
    /// only the moment counts.
    pub company: &'a [u32],
    /// The share of the loss that siblings cause, if step 5 measured it.
    pub sibling_share: Option<f64>,
}

/// A task that may hold the level.
struct Candidate {
    /// When the task left the core, or now; `u64::MAX` while the task runs on a sibling.
    left_ns: u64,
    group: usize,
    cause: Cause,
    /// Probability that the task demanded the level then.
    chance: f64,
}

#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, culprit: Option<usize>, cause: Cause, share: f64) {
        let known = self.0.iter_mut().find(|part| part.culprit == culprit && part.cause == cause);
        match known {
            Some(part) => part.share += share,
            None => self.0.push(Part { culprit, cause, share }),
        }
    }

    /// All parts add up to 1; those of siblings to their share, if step 5 measured it.
    fn normalised(mut self, moment: &Where) -> Vec<Part> {
        let is_by_sibling = |part: &Part| part.cause == Cause::Sibling;
        match moment.sibling_share {
            None => self.scale(|_| true, 1.0, Cause::Hold),
            Some(share) => {
                self.scale(is_by_sibling, share, Cause::Sibling);
                self.scale(|part| !is_by_sibling(part), 1.0 - share, Cause::Hold);
            }
        }
        self.0
    }

    /// Some parts add up to a share, which is of an unknown culprit if there are none of them.
    fn scale(&mut self, is_it: impl Fn(&Part) -> bool, share: f64, cause: Cause) {
        let sum: f64 = self.0.iter().filter(|part| is_it(part)).map(|part| part.share).sum();
        if sum > 0.0 {
            self.0.iter_mut().filter(|part| is_it(part)).for_each(|it| it.share *= share / sum);
        } else if share > 0.0 {
            self.0.push(Part { culprit: None, cause, share });
        }
    }
}

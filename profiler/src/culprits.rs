//! Which task caused the loss of a sample?

use crate::profile::{Profile, Slice};
use crate::shown::Shown;

/// How a level that a task does not demand slows it.
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

/// Slices of each core, by beginning.
pub(crate) struct Slices<'a> {
    profile: &'a Profile,
    /// By core: positions in the profile's slices.
    of_core: Vec<Vec<usize>>,
    core_of: Vec<usize>,
    longest_ns: u64,
}

impl<'a> Slices<'a> {
    pub(crate) fn of(profile: &'a Profile) -> Self {
        let cpus = profile.cores.iter().flatten().max().map_or(0, |&cpu| cpu as usize + 1);
        let mut core_of = vec![usize::MAX; cpus];
        for (core, cpus) in profile.cores.iter().enumerate() {
            for &cpu in cpus {
                core_of[cpu as usize] = core;
            }
        }
        let mut of_core = vec![Vec::new(); profile.cores.len()];
        for (position, slice) in profile.slices.iter().enumerate() {
            if let Some(core) = core_of.get(slice.cpu as usize).and_then(|&it| of_core.get_mut(it)) {
                core.push(position);
            }
        }
        for core in &mut of_core {
            core.sort_by_key(|&position| profile.slices[position].began_ns);
        }
        let longest = profile.slices.iter().map(|slice| slice.ended_ns - slice.began_ns).max();
        Self { profile, of_core, core_of, longest_ns: longest.unwrap_or(0) }
    }

    /// Slices on the core of a CPU that overlap a span of time.
    pub(crate) fn within(&self, cpu: u32, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &'a Slice> {
        let core = self.core_of.get(cpu as usize).and_then(|&core| self.of_core.get(core));
        let core: &[usize] = core.map_or(&[], Vec::as_slice);
        let began_ns = |&position: &usize| self.profile.slices[position].began_ns;
        // A slice that began earlier has ended before the span.
        let earliest_ns = from_ns.saturating_sub(self.longest_ns);
        let first = core.partition_point(|position| began_ns(position) < earliest_ns);
        core[first..]
            .iter()
            .take_while(move |position| began_ns(position) <= to_ns)
            .map(|&position| &self.profile.slices[position])
            .filter(move |slice| slice.ended_ns >= from_ns)
    }
}

/// Splits a loss among the tasks that ran on its core while the level was held: those that run at
/// the moment by how often their group demands more than the victim, the rest among those before,
/// the last first, as the last one to demand a level holds it.
pub(crate) fn parts(moment: &Where, shown: &Shown, slices: &Slices) -> Vec<Part> {
    let now_ns = moment.time_ns;
    let since_ns = now_ns.saturating_sub(slices.profile.hold_ns());
    let mut candidates = Vec::new();
    for slice in slices.within(moment.cpu, since_ns, now_ns) {
        let Some(group) = slices.profile.group(slice.task) else { continue };
        let chance = shown.above(group, moment.own_level);
        if chance <= 0.0 {
            continue;
        }
        // The victim itself was seen not to demand the level now.
        if slice.cpu != moment.cpu && slice.ended_ns > now_ns {
            candidates.push(Candidate { left_ns: u64::MAX, group, cause: Cause::Sibling, chance });
        }
        let left_ns = slice.ended_ns.min(now_ns);
        let time_ns = left_ns - slice.began_ns.max(since_ns).min(now_ns);
        let chance = 1.0 - (1.0 - chance).powf(time_ns as f64 / CHANGE_NS);
        candidates.push(Candidate { left_ns, group, cause: Cause::Hold, chance });
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
    parts.believe(moment);
    parts.normalised(moment)
}

/// Time after which a task's demand is taken to be independent of what it was; our choice.
const CHANGE_NS: f64 = 300_000.0;

/// The moment of a loss.
pub(crate) struct Where {
    pub cpu: u32,
    pub time_ns: u64,
    /// Level that the victim demands.
    pub own_level: u8,
    /// Whether a sibling causes the loss, where step 5 measured it.
    pub is_by_sibling: Option<bool>,
}

/// A task that may hold the level.
struct Candidate {
    /// When it left the core, or now; at the end of time while it runs on a sibling.
    left_ns: u64,
    group: usize,
    cause: Cause,
    /// That it demanded the level then.
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

    /// Keeps what step 5 measured.
    fn believe(&mut self, moment: &Where) {
        let Some(is_by_sibling) = moment.is_by_sibling else { return };
        let is_it = |part: &Part| (part.cause == Cause::Sibling) == is_by_sibling;
        if self.0.iter().any(is_it) {
            self.0.retain(is_it);
        }
    }

    fn normalised(mut self, moment: &Where) -> Vec<Part> {
        let sum: f64 = self.0.iter().map(|part| part.share).sum();
        if sum <= 0.0 {
            let is_by_sibling = moment.is_by_sibling == Some(true);
            let cause = if is_by_sibling { Cause::Sibling } else { Cause::Hold };
            return vec![Part { culprit: None, cause, share: 1.0 }];
        }
        self.0.iter_mut().for_each(|part| part.share /= sum);
        self.0
    }
}

//! Moments of victims, from samples and, for groups or levels that hardly have any, from slices.

use cpu_model::LEVELS_MAX;
use random::SplitMix64;

use crate::basis::Basis;
use crate::culprits::{Part, Where, parts};
use crate::evidence::Evidence;
use crate::machine::main_level_of;
use crate::overhead::{Method, Moment};
use crate::profile::{Demand, Profile, SampleWithStays, Slice, SliceWithStays, Times};
use crate::shown::Shown;

/// Fewer samples than this say nothing about a group.
pub(crate) const SAMPLES_MIN: usize = 8;
/// As many slices, of a group and of all groups, stand for the others.
const SLICES_OF_GROUP_MAX: usize = 400;
const SLICES_MAX: usize = 40_000;

/// One moment of a group.
pub(crate) struct Item {
    pub group: usize,
    /// Level in force.
    pub level: usize,
    /// Weight among the items of the same group.
    pub weight: f64,
    /// Level that the task demanded.
    pub own: usize,
    /// By level that the task may demand, up to the level in force: the loss; empty where it is not
    /// known.
    pub losses: Vec<ItemLoss>,
}

/// The loss of a moment if the task demanded a certain level.
pub(crate) struct ItemLoss {
    /// Share of the moment.
    pub share: f64,
    /// The culprits.
    pub parts: Vec<Part>,
}

/// The items of all groups.
pub(crate) struct Items {
    pub items: Vec<Item>,
    /// By group: samples.
    pub samples: Vec<usize>,
    /// By group.
    pub basis: Vec<Basis>,
    /// Whether the items alone say how much time was lost, as published (Eq. D 4.2), and not the
    /// counters at switches.
    pub is_published: bool,
}

/// Reads samples and slices of a profile.
struct Reader<'a> {
    profile: &'a Profile,
    shown: &'a Shown,
    evidence: &'a Evidence,
    /// By group.
    times: &'a [Times],
}

impl Items {
    /// Of samples. Groups with too few samples are judged by their slices.
    pub(crate) fn of_samples(
        profile: &Profile,
        shown: &Shown,
        evidence: &Evidence,
        times: &[Times],
        method: Method,
    ) -> Self {
        let mut samples = vec![0; profile.groups.len()];
        for seen in &profile.samples {
            if let Some(group) = profile.group(seen.sample.task) {
                samples[group] += 1;
            }
        }
        let reader = Reader { profile, shown, evidence, times };
        let has_enough = |group: usize| samples[group] >= SAMPLES_MIN;
        let sampled = profile.samples.iter().filter_map(|seen| {
            let group = profile.group(seen.sample.task).filter(|&group| has_enough(group))?;
            reader.sampled(group, seen, method)
        });
        let mut items: Vec<Item> = sampled.collect();
        let is_published = method == Method::Published;
        for (group, &count) in samples.iter().enumerate() {
            if !has_enough(group) {
                items.extend(reader.of_slices(group, |_| true));
            } else if !is_published {
                let missing = reader.levels_without(&items, group);
                items.extend(reader.instead_of_samples(group, &missing, count));
            }
        }
        let basis = |group: usize| match (has_enough(group), evidence.shown.highest(group)) {
            (true, _) => Basis::Measured,
            (false, 0) => Basis::Assumed,
            (false, _) => Basis::AtLeast,
        };
        let basis = (0..samples.len()).map(basis).collect();
        Self { items, samples, basis, is_published }
    }

    /// Of slices alone.
    pub(crate) fn of_slices(profile: &Profile, evidence: &Evidence, times: &[Times]) -> Self {
        let groups = profile.groups.len();
        let reader = Reader { profile, shown: &evidence.shown, evidence, times };
        let is_by_table =
            profile.slices.iter().any(|seen| matches!(seen.slice.demand, Demand::Level(_)));
        let basis = |group| match (is_by_table, evidence.shown.highest(group)) {
            (true, _) => Basis::Table,
            (false, 0) => Basis::Measured,
            (false, _) => Basis::AtLeast,
        };
        Self {
            items: (0..groups).flat_map(|group| reader.of_slices(group, |_| true)).collect(),
            samples: vec![0; groups],
            basis: (0..groups).map(basis).collect(),
            is_published: false,
        }
    }
}

impl Reader<'_> {
    fn sampled(&self, group: usize, seen: &SampleWithStays, method: Method) -> Option<Item> {
        let SampleWithStays { sample, stays } = seen;
        let turbo = &self.profile.cpu.turbo;
        let level = main_level_of(&sample.level_cycles)?;
        let (cpu, time_ns) = (sample.cpu, sample.time_ns);
        let at = Where { cpu, time_ns, own_level: 0, stays, company: &[], sibling_share: None };
        let lost = |level: u8| Moment::if_demanding(sample, turbo, method, level).lost();
        let losses = (0..=level).map(|own_level| {
            let all = lost(own_level);
            // With the siblings the ideal frequency is lower; what is lost beyond is the delay.
            let by_delay =
                |beside: u8| if all > 0.0 { lost(beside.max(own_level)) / all } else { 0.0 };
            let sibling_share =
                sample.level_beside.map(|beside| (1.0 - by_delay(beside)).clamp(0.0, 1.0));
            self.loss(all, own_level, &Where { sibling_share, ..at })
        });
        let own = method.own_level(sample);
        let weight = match method {
            Method::Ours => 1.0,
            // Samples weigh by the performance that they would have had (Eq. D 4.2).
            Method::Published => {
                let moment = Moment::if_demanding(sample, turbo, method, own);
                moment.actual_hz as f64 * moment.faster
            }
        };
        let (level, own) = (usize::from(level), usize::from(own));
        Some(Item { group, level, weight, own, losses: losses.collect() })
    }

    fn loss(&self, share: f64, own_level: u8, at: &Where) -> ItemLoss {
        loss_of(share, &Where { own_level, ..*at }, self.shown, self.profile)
    }

    /// Levels at which a group has time and no item.
    fn levels_without(&self, items: &[Item], group: usize) -> Vec<usize> {
        let mut has_item = [false; LEVELS_MAX];
        for item in items.iter().filter(|item| item.group == group) {
            has_item[item.level] = true;
        }
        let at_level_ns = &self.times[group].at_level_ns;
        (0..LEVELS_MAX).filter(|&it| !has_item[it] && at_level_ns[it] > 0.0).collect()
    }

    /// Items of slices for levels without a sample, with the weight of as many samples as the time
    /// at these levels would have had.
    fn instead_of_samples(&self, group: usize, levels: &[usize], samples: usize) -> Vec<Item> {
        let mut items = self.of_slices(group, |level| levels.contains(&level));
        let times = &self.times[group];
        for &level in levels {
            let of_level = |item: &&mut Item| item.level == level;
            let sum: f64 = items.iter_mut().filter(of_level).map(|item| item.weight).sum();
            let wanted = samples as f64 * times.at_level_ns[level] / times.cpu_time_ns as f64;
            for item in items.iter_mut().filter(of_level) {
                item.weight *= wanted / sum;
            }
        }
        items
    }

    /// Items of a group's slices, of some levels.
    fn of_slices(&self, group: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<Item> {
        let of_group = |seen: &&SliceWithStays| self.profile.group(seen.slice.task) == Some(group);
        let mut own: Vec<&SliceWithStays> = self.profile.slices.iter().filter(of_group).collect();
        let most = SLICES_OF_GROUP_MAX.min(SLICES_MAX / self.profile.groups.len().max(1)).max(1);
        let mut random = SplitMix64::new(group as u64);
        for at in 0..most.min(own.len()) {
            let other = at + random.below((own.len() - at) as u64) as usize;
            own.swap(at, other);
        }
        own.truncate(most);
        own.into_iter().flat_map(|seen| self.of_slice(group, seen, &is_wanted)).collect()
    }

    fn of_slice(
        &self,
        group: usize,
        SliceWithStays { slice, stays, company }: &SliceWithStays,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<Item> {
        let turbo = &self.profile.cpu.turbo;
        let own_level = self.evidence.own_level(group, slice);
        let row = policy::time_lost(turbo, &slice.counts, 0).at;
        let times = policy::counted_times(turbo, row.slow as usize, &slice.counts);
        let stall_q30 = stall_share_q30(slice);
        let (cpu, time_ns) = (slice.cpu, slice.ended_ns);
        let at = Where { cpu, time_ns, own_level: 0, stays, company, sibling_share: None };
        let of_level = |level: u8| {
            let mut shares = policy::Shares::default();
            shares.q30[usize::from(level)] = policy::ONE;
            let hz = |own: u8| policy::ideal_frequency_hz(turbo, &shares, own, row);
            let losses = (0..=level).map(|own_level| {
                let faster_q30 = policy::stall_perf_q30(stall_q30, hz(level), hz(own_level));
                self.loss(1.0 - f64::from(policy::ONE) / faster_q30 as f64, own_level, &at)
            });
            Item {
                group,
                level: usize::from(level),
                weight: times.ns[usize::from(level)] as f64,
                own: usize::from(level.min(own_level)),
                losses: losses.collect(),
            }
        };
        let levels = (0..LEVELS_MAX).filter(|&it| times.ns[it] > 0 && is_wanted(it));
        levels.map(|level| of_level(level as u8)).collect()
    }
}

/// A loss, by culprit.
pub(crate) fn loss_of(share: f64, at: &Where, shown: &Shown, profile: &Profile) -> ItemLoss {
    let parts = if share == 0.0 { Vec::new() } else { parts(at, shown, profile) };
    ItemLoss { share, parts }
}

fn stall_share_q30(slice: &Slice) -> u32 {
    policy::share_q30(slice.counts.stall_cycles, slice.counts.cycles) as u32
}

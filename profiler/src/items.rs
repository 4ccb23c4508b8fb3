//! Moments of victims, from samples and, for groups that hardly have any, from slices.

use cpu_model::LEVELS_MAX;

use crate::basis::Basis;
use crate::culprits::{Part, Where, parts};
use crate::evidence::Evidence;
use crate::machine::main_level_of;
use crate::overhead::{Method, Moment};
use crate::profile::{Profile, SampleSeen, Slice, SliceSeen};
use crate::shown::Shown;

/// Fewer samples than this say nothing about a group.
const SAMPLES_MIN: usize = 8;
/// As many slices of a group stand for all of them.
const SLICES_MAX: usize = 400;

/// One moment of a group.
pub(crate) struct Item {
    pub group: usize,
    /// Level in force.
    pub level: usize,
    /// Weight among the items of the same group and level.
    pub weight: f64,
    /// Level that the task demanded.
    pub own: usize,
    /// By level that the task may demand, up to the level in force: the loss.
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
}

impl Items {
    /// Of samples; groups with too few are taken to demand no level.
    pub(crate) fn of_samples(profile: &Profile, shown: &Shown, method: Method) -> Self {
        let mut samples = vec![0; profile.groups.len()];
        for seen in &profile.samples {
            if let Some(group) = profile.group(seen.sample.task) {
                samples[group] += 1;
            }
        }
        let has_enough = |group: usize| samples[group] >= SAMPLES_MIN;
        let sampled = profile.samples.iter().filter_map(|seen| {
            let group = profile.group(seen.sample.task).filter(|&group| has_enough(group))?;
            sampled(profile, shown, group, seen, method)
        });
        let mut items: Vec<Item> = sampled.collect();
        for group in (0..samples.len()).filter(|&group| !has_enough(group)) {
            items.extend(of_slices(profile, shown, group, |_| 0));
        }
        let basis = |group| if has_enough(group) { Basis::Measured } else { Basis::Assumed };
        let basis = (0..samples.len()).map(basis).collect();
        Self { items, samples, basis }
    }

    /// Of slices alone.
    pub(crate) fn of_slices(profile: &Profile, evidence: &Evidence) -> Self {
        let groups = profile.groups.len();
        let of_group = |group: usize| {
            let own_level = |slice: &Slice| evidence.own_level(profile, group, slice);
            of_slices(profile, &evidence.shown, group, own_level)
        };
        let basis = |group| match evidence.shown.highest(group) {
            0 => Basis::Measured,
            _ => Basis::AtLeast,
        };
        Self {
            items: (0..groups).flat_map(of_group).collect(),
            samples: vec![0; groups],
            basis: (0..groups).map(basis).collect(),
        }
    }
}

fn sampled(
    profile: &Profile,
    shown: &Shown,
    group: usize,
    SampleSeen { sample, stays }: &SampleSeen,
    method: Method,
) -> Option<Item> {
    let level = main_level_of(&sample.level_cycles)?;
    let is_by_sibling = sample.level_beside.map(|level| level > method.own_level(sample));
    let at = Where { cpu: sample.cpu, time_ns: sample.time_ns, own_level: 0, stays, is_by_sibling };
    let losses = (0..=level).map(|own_level| {
        let share = Moment::if_demanding(sample, &profile.cpu.turbo, method, own_level).lost();
        loss(share, &Where { own_level, ..at }, shown, profile)
    });
    let own = usize::from(method.own_level(sample));
    Some(Item { group, level: usize::from(level), weight: 1.0, own, losses: losses.collect() })
}

fn loss(share: f64, at: &Where, shown: &Shown, profile: &Profile) -> ItemLoss {
    let parts = if share > 0.0 { parts(at, shown, profile) } else { Vec::new() };
    ItemLoss { share, parts }
}

/// Moments of a group's slices.
fn of_slices(
    profile: &Profile,
    shown: &Shown,
    group: usize,
    own_level: impl Fn(&Slice) -> u8,
) -> Vec<Item> {
    let of_group = |seen: &&SliceSeen| profile.group(seen.slice.task) == Some(group);
    let own: Vec<&SliceSeen> = profile.slices.iter().filter(of_group).collect();
    let step = own.len().div_ceil(SLICES_MAX).max(1);
    let mut items = Vec::new();
    for SliceSeen { slice, stays, .. } in own.into_iter().step_by(step) {
        let own_level = own_level(slice);
        for level in 0..LEVELS_MAX {
            let counts = at_level(&slice.counts, level);
            if counts.cycles == 0 {
                continue;
            }
            let (cpu, time_ns) = (slice.cpu, slice.ended_ns);
            let at = Where { cpu, time_ns, own_level: 0, stays, is_by_sibling: None };
            let losses = (0..=level as u8).map(|own_level| {
                let lost_ns = policy::time_lost(&profile.cpu.turbo, &counts, own_level).lost_ns;
                let share = lost_ns as f64 / counts.time_ns.max(1) as f64;
                loss(share, &Where { own_level, ..at }, shown, profile)
            });
            let losses = losses.collect();
            let (weight, own) = (counts.time_ns as f64, level.min(usize::from(own_level)));
            items.push(Item { group, level, weight, own, losses });
        }
    }
    items
}

/// The part of a slice's counts that ran at a level, taken to be at the slice's mean frequency.
fn at_level(counts: &policy::Slice, level: usize) -> policy::Slice {
    let cycles = counts.level_cycles[level];
    let scaled = |value: u64| {
        (u128::from(value) * u128::from(cycles) / u128::from(counts.cycles.max(1))) as u64
    };
    let mut level_cycles = [0; LEVELS_MAX];
    level_cycles[level] = cycles;
    policy::Slice {
        time_ns: scaled(counts.time_ns),
        cycles,
        ref_cycles: scaled(counts.ref_cycles),
        level_cycles,
        stall_cycles: scaled(counts.stall_cycles),
        first_row: 0,
    }
}

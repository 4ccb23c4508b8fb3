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
    let at = Where {
        cpu: sample.cpu,
        time_ns: sample.time_ns,
        own_level: 0,
        stays,
        company: &[],
        is_by_sibling,
    };
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
    for SliceSeen { slice, stays, company } in own.into_iter().step_by(step) {
        let own_level = own_level(slice);
        let turbo = &profile.cpu.turbo;
        let row = policy::time_lost(turbo, &slice.counts, 0).at;
        let times = policy::counted_times(turbo, row.slow as usize, &slice.counts);
        let stall_q30 = policy::share_q30(slice.counts.stall_cycles, slice.counts.cycles) as u32;
        for level in (0..LEVELS_MAX as u8).filter(|&level| times.ns[usize::from(level)] > 0) {
            let mut shares = policy::Shares::default();
            shares.q30[usize::from(level)] = policy::ONE;
            let hz = |own: u8| policy::ideal_frequency_hz(turbo, &shares, own, row);
            let (cpu, time_ns) = (slice.cpu, slice.ended_ns);
            let at = Where { cpu, time_ns, own_level: 0, stays, company, is_by_sibling: None };
            let losses = (0..=level).map(|own_level| {
                let faster_q30 = policy::stall_perf_q30(stall_q30, hz(level), hz(own_level));
                let share = 1.0 - f64::from(policy::ONE) / faster_q30 as f64;
                loss(share, &Where { own_level, ..at }, shown, profile)
            });
            items.push(Item {
                group,
                level: usize::from(level),
                weight: times.ns[usize::from(level)] as f64,
                own: usize::from(level.min(own_level)),
                losses: losses.collect(),
            });
        }
    }
    items
}

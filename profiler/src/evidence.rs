//! Which levels do groups demand, if no core is paused? Counters at switches show:
//! wide floating-point instructions that retired, and levels that no other group can have demanded.

use cpu_model::{Class, CpuModel, LEVELS_MAX};

use crate::profile::{Demand, Profile, Slice, SliceWithStays};
use crate::shown::Shown;

/// A level that so small a share of its slices leaves unexplained names no further group.
const UNEXPLAINED_MAX: f64 = 0.01;
/// Groups that explain nearly as much as the best one cannot be told from it.
const ALIKE_MIN: f64 = 0.9;

/// The evidence of each group.
pub(crate) struct Evidence {
    pub shown: Shown,
    /// By group: the highest level that only its own tasks can have demanded. Nothing tells when.
    pub implied: Vec<u8>,
}

impl Evidence {
    pub(crate) fn of(profile: &Profile) -> Self {
        let groups = profile.groups.len();
        let mut evidence = Self { shown: Shown::nothing(groups), implied: vec![0; groups] };
        for SliceWithStays { slice, .. } in &profile.slices {
            if let Some(group) = profile.group(slice.task) {
                let level = own_demand(&profile.cpu, slice);
                evidence.shown.see(group, level, slice.counts.time_ns as f64);
            }
        }
        let is_known = |seen: &SliceWithStays| matches!(seen.slice.demand, Demand::Level(_));
        if profile.slices.iter().any(is_known) {
            return evidence;
        }
        for level in (1..profile.cpu.turbo.levels as u8).rev() {
            evidence.imply(profile, level);
        }
        evidence
    }

    /// Level that a slice's own task demands.
    pub(crate) fn own_level(&self, group: usize, slice: &Slice) -> u8 {
        match slice.demand {
            Demand::Level(level) => level,
            // Evidence of a demand does not tell when, so the group is never a victim of it.
            Demand::Retired(_) => self.implied[group].max(self.shown.highest(group)),
        }
    }

    /// Names groups until they explain where a level was in force: of the groups whose tasks ran on
    /// the core during the hold, the group that explains most, and of whose slices most had the
    /// level.
    fn imply(&mut self, profile: &Profile, level: u8) {
        let mut having = vec![(0.0, 0.0); profile.groups.len()];
        let mut unexplained: Vec<Vec<usize>> = Vec::new();
        let mut all = 0;
        for SliceWithStays { slice, company, .. } in &profile.slices {
            let Some(group) = profile.group(slice.task) else { continue };
            let has_level = share_at(slice, level) > 0.0;
            having[group].0 += share_at(slice, level);
            having[group].1 += 1.0;
            if has_level {
                all += 1;
                let mut present: Vec<usize> =
                    company.iter().filter_map(|&task| profile.group(task)).collect();
                present.sort_unstable();
                present.dedup();
                unexplained.push(present);
            }
        }
        let demands = |evidence: &Self, group: usize| {
            evidence.implied[group] >= level || evidence.shown.above(group, level - 1) > 0.0
        };
        unexplained.retain(|present| !present.iter().any(|&group| demands(self, group)));
        while unexplained.len() as f64 > UNEXPLAINED_MAX * f64::from(all) {
            let mut score = vec![0.0; profile.groups.len()];
            for &group in unexplained.iter().flatten() {
                score[group] += (having[group].0 / f64::max(having[group].1, 1.0)).powi(2);
            }
            let best = score.iter().copied().fold(0.0, f64::max);
            if best <= 0.0 {
                return;
            }
            // Groups that are always together cannot be told apart: each may be a culprit.
            let alike: Vec<usize> =
                (0..score.len()).filter(|&group| score[group] >= ALIKE_MIN * best).collect();
            for &group in &alike {
                self.implied[group] = level;
                self.shown.imply(group, level, having[group].0 / having[group].1.max(1.0));
            }
            unexplained.retain(|present| !present.iter().any(|group| alike.contains(group)));
        }
    }
}

/// The level that a slice's own task demanded.
fn own_demand(cpu: &CpuModel, slice: &Slice) -> u8 {
    match slice.demand {
        Demand::Level(level) => level,
        Demand::Retired(retired) => retired_level(cpu, slice, retired),
    }
}

/// The level that the wide floating-point instructions of a slice demanded: one that was in force.
fn retired_level(cpu: &CpuModel, slice: &Slice, retired: [u64; 2]) -> u8 {
    let permille = |retired: u64| {
        u32::try_from(1000 * retired / slice.counts.cycles.max(1)).unwrap_or(u32::MAX)
    };
    let wide = [Class::Avx2Heavy, Class::Avx512Heavy].into_iter().zip(retired);
    let demanded = wide.filter(|&(_, retired)| permille(retired) > 0).map(|(class, retired)| {
        // Bursts retire more while they last than the slice on average.
        let in_bursts = cpu.level_demanded(class, 1000);
        in_force(slice, in_bursts).max(cpu.level_demanded(class, permille(retired)))
    });
    demanded.max().unwrap_or(0)
}

/// The highest level up to a limit that was in force in a slice.
fn in_force(slice: &Slice, limit: u8) -> u8 {
    let had = |&level: &u8| slice.counts.level_cycles[usize::from(level)] > 0;
    (1..=limit.min(LEVELS_MAX as u8 - 1)).rev().find(had).unwrap_or(0)
}

/// Share of a slice's cycles at a level or above.
fn share_at(slice: &Slice, level: u8) -> f64 {
    let above: u64 = slice.counts.level_cycles[usize::from(level)..].iter().sum();
    above as f64 / slice.counts.cycles.max(1) as f64
}

//! Which levels do the tasks of each group demand themselves?

use cpu_model::LEVELS_MAX;

use crate::profile::Profile;

/// By group: how often its tasks demanded each level when they ran alone (D 4.4).
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    samples: Vec<[u32; LEVELS_MAX]>,
}

impl Shown {
    pub(crate) fn of(profile: &Profile) -> Self {
        let mut samples = vec![[0; LEVELS_MAX]; profile.groups.len()];
        for sample in &profile.samples {
            if let Some(group) = profile.group(sample.task) {
                samples[group][usize::from(sample.level_alone).min(LEVELS_MAX - 1)] += 1;
            }
        }
        Self { samples }
    }

    /// Share of a group's samples that demanded more than a level.
    pub(crate) fn above(&self, group: usize, level: u8) -> f64 {
        let samples = &self.samples[group];
        let all: u32 = samples.iter().sum();
        let above: u32 = samples.iter().skip(usize::from(level) + 1).sum();
        if all == 0 { 0.0 } else { f64::from(above) / f64::from(all) }
    }

    /// The highest level that a group demanded in at least a hundredth of its samples.
    pub(crate) fn highest(&self, group: usize) -> u8 {
        (1..LEVELS_MAX as u8).rev().find(|&level| self.above(group, level - 1) >= 0.01).unwrap_or(0)
    }
}

//! Which levels do the tasks of each group demand themselves?

use cpu_model::LEVELS_MAX;

use crate::profile::Profile;

/// By group: how often its tasks were seen to demand each level.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    seen: Vec<[f64; LEVELS_MAX]>,
}

impl Shown {
    pub(crate) fn nothing(groups: usize) -> Self {
        Self { seen: vec![[0.0; LEVELS_MAX]; groups] }
    }

    /// The levels in force while tasks ran alone (D 4.4); of groups without a sample what other
    /// evidence shows.
    pub(crate) fn by_samples(profile: &Profile, other: &Self) -> Self {
        let mut shown = Self::nothing(profile.groups.len());
        for seen in &profile.samples {
            if let Some(group) = profile.group(seen.sample.task) {
                shown.see(group, seen.sample.level_alone, 1.0);
            }
        }
        for (seen, other) in shown.seen.iter_mut().zip(&other.seen) {
            if seen.iter().all(|&weight| weight == 0.0) {
                *seen = *other;
            }
        }
        shown
    }

    /// Notes that tasks of a group demanded a level, so much.
    pub(crate) fn see(&mut self, group: usize, level: u8, weight: f64) {
        self.seen[group][usize::from(level).min(LEVELS_MAX - 1)] += weight;
    }

    /// Notes that a group demands a level in that share of its time, whatever was seen.
    pub(crate) fn imply(&mut self, group: usize, level: u8, share: f64) {
        let all: f64 = self.seen[group].iter().sum::<f64>().max(1.0);
        self.seen[group][usize::from(level)] += all * share / (1.0 - share).max(1e-3);
    }

    /// Share of a group's weight that demanded more than a level.
    pub(crate) fn above(&self, group: usize, level: u8) -> f64 {
        let seen = &self.seen[group];
        let all: f64 = seen.iter().sum();
        let above: f64 = seen.iter().skip(usize::from(level) + 1).sum();
        if all > 0.0 { above / all } else { 0.0 }
    }

    /// The highest level that at least a hundredth of a group's weight demanded.
    pub(crate) fn highest(&self, group: usize) -> u8 {
        (1..LEVELS_MAX as u8).rev().find(|&level| self.above(group, level - 1) >= 0.01).unwrap_or(0)
    }
}

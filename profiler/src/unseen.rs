//! How much may a group have lost although none of its random moments shows a loss? Moments that
//! show a loss never lower this bound.

use cpu_model::Turbo;

use crate::items::Items;
use crate::profile::{Profile, Times};

/// Chance that a value is above its interval, and that it is below.
pub(crate) const TAIL: f64 = 0.025;

/// The most that may have been lost where no random moment shows a loss.
pub(crate) struct Unseen {
    /// By group.
    pub ns: Vec<f64>,
    /// By all groups together.
    pub all_ns: f64,
}

impl Unseen {
    /// Where counters at switches saw all of the time nothing is unseen.
    pub(crate) fn of(profile: &Profile, items: &Items, times: &[Times]) -> Self {
        if !items.is_published {
            return Self { ns: vec![0.0; times.len()], all_ns: 0.0 };
        }
        let mut known = vec![0; times.len()];
        for item in items.items.iter().filter(|item| !item.losses.is_empty()) {
            known[item.group] += 1;
        }
        let worst = worst_loss(&profile.cpu.turbo);
        let most_ns =
            |moments: usize, time_ns: u64| time_ns as f64 * worst * unseen_share_max(moments);
        let by_group = known.iter().zip(times);
        Self {
            ns: by_group.map(|(&known, times)| most_ns(known, times.cpu_time_ns)).collect(),
            all_ns: most_ns(known.iter().sum(), times.iter().map(|it| it.cpu_time_ns).sum()),
        }
    }
}

/// The upper confidence bound (Clopper and Pearson) of the share of the time that has a loss, if
/// none of `moments` random samples shows one; 1 without samples.
fn unseen_share_max(moments: usize) -> f64 {
    if moments == 0 { 1.0 } else { 1.0 - TAIL.powf(1.0 / moments as f64) }
}

/// The share of its time that a task loses at the slowest level if it demands none.
fn worst_loss(turbo: &Turbo) -> f64 {
    let slowest = turbo.levels.saturating_sub(1) as u8;
    let lost = |row| 1.0 - f64::from(turbo.khz(row, slowest)) / f64::from(turbo.khz(row, 0).max(1));
    (0..turbo.rows as usize).map(lost).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_moments_without_a_loss_leave_so_much_open() {
        assert_eq!(unseen_share_max(0), 1.0);
        // The chance that 11 moments show no loss, if 28.5 % of the time has one, is 2.5 %.
        assert!((0.715_f64.powi(11) - TAIL).abs() < 1e-4);
        assert!((unseen_share_max(11) - 0.285).abs() < 1e-3);
        assert!((unseen_share_max(1000) - 3.7e-3).abs() < 1e-4);
    }
}

//! When does the clock come back, and at which cost?

use super::rounds::Burst;
use crate::statistics::{Estimate, median, typical};

/// Windows around the fall among which the longest is taken for the halt (D 5.2.2).
const NEIGHBOURHOOD: usize = 3;
/// Windows before and after the longest one, with whose mean the longest is compared.
const MEANS: usize = 16;
/// The least that a split must explain, in windows of the full difference.
const GAIN_MIN: f64 = 2.0;
/// How badly windows may fit a split, as a share of the full difference a window.
const MISFIT_MAX: f64 = 0.35;
/// D 5.2.1 and 5.2.2: larger differences are preemptions.
pub(crate) const DISCARD_NS: f64 = 100_000.0;

/// The fall of the clock after a burst, as far as the burst shows one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Split {
    /// The clock came back.
    Clear {
        /// From the last instruction of the burst, in ns.
        hold_ns: f64,
        /// Window of the fall.
        window: usize,
    },
    /// Something interrupted the burst before or at the fall.
    Interrupted,
    /// The clock was still low at the end.
    NotBack,
    /// No split explains the windows.
    Unclear,
}

/// Splits the windows of a burst into a part at the lower clock and one at the full clock.
/// `level` is the lower clock over the full one.
pub(crate) fn split(burst: &Burst, level: f64) -> Split {
    let undisturbed = burst.undisturbed();
    let windows = &burst.after()[..undisturbed];
    let Some(tail) = typical(&windows[windows.len() * 2 / 3..]) else { return Split::Interrupted };
    let difference = 1.0 - level;
    // How much better each window fits the lower clock than the full one, at most 1.
    let fits = windows.iter().map(|&window| {
        let clock = tail / f64::from(window);
        let misfit = |clock_there: f64| ((clock - clock_there).abs() / difference).min(1.0);
        (misfit(level), misfit(1.0))
    });
    let (mut gain, mut best, mut count) = (0.0, 0.0, 0);
    for (window, (low, full)) in fits.clone().enumerate() {
        gain += full - low;
        if gain > best {
            (best, count) = (gain, window + 1);
        }
    }
    let misfit = fits
        .enumerate()
        .map(|(window, (low, full))| if window < count { low } else { full })
        .sum::<f64>();
    let complete = undisturbed == burst.after().len();
    match () {
        () if best < GAIN_MIN || misfit > MISFIT_MAX * windows.len() as f64 => match complete {
            true => Split::Unclear,
            false => Split::Interrupted,
        },
        () if count + 2 * NEIGHBOURHOOD >= windows.len() => match complete {
            true => Split::NotBack,
            false => Split::Interrupted,
        },
        () => clear(windows, count, tail / level),
    }
}

/// The time of a fall after `count` windows at the lower clock, which take `low_ns` each.
fn clear(windows: &[f32], count: usize, low_ns: f64) -> Split {
    let (longest, length_ns) = longest(windows, count);
    let until = |window: usize| windows[..window].iter().map(|&ns| f64::from(ns)).sum::<f64>();
    // A window that holds a halt holds the fall; the place of the fall in the window is unknown.
    let hold_ns = match length_ns > 1.2 * low_ns {
        true => until(longest) + low_ns / 2.0,
        false => until(count),
    };
    Split::Clear { hold_ns, window: count }
}

/// The longest window around one, and its length.
fn longest(windows: &[f32], window: usize) -> (usize, f64) {
    let from = window.saturating_sub(NEIGHBOURHOOD);
    let to = (window + NEIGHBOURHOOD).min(windows.len());
    let index = (from..to).max_by(|&a, &b| windows[a].total_cmp(&windows[b])).unwrap_or(window);
    (index, f64::from(windows[index]))
}

/// D 5.2.2: how much longer the longest window around one is than the mean of those before and
/// that of those after it.
pub(crate) fn boost_ns(windows: &[f32], window: usize) -> Option<f64> {
    let from = window.saturating_sub(NEIGHBOURHOOD);
    let to = (window + NEIGHBOURHOOD).min(windows.len());
    let before = typical(&windows[from.saturating_sub(MEANS)..from]);
    let after = typical(windows.get(to..(to + MEANS).min(windows.len()))?)?;
    Some(longest(windows, window).1 - (before.unwrap_or(after) + after) / 2.0)
}

/// All falls of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Falls {
    /// Holds in ns, ascending.
    pub(crate) hold_ns: Vec<f64>,
    /// Cost of the fall over that of the same windows after scalar code, in ns.
    pub(crate) boost_ns: Vec<f64>,
    /// Bursts whose boost was more than [`DISCARD_NS`].
    pub(crate) boosts_discarded: usize,
    /// Bursts that were interrupted.
    pub(crate) interrupted: usize,
    /// Bursts that ended low.
    pub(crate) not_back: usize,
    /// Bursts without a clear split.
    pub(crate) unclear: usize,
}

/// Splits every burst of a class; `control` are the bursts of the same rounds without a fall.
pub(crate) fn falls(bursts: &[Burst], control: &[Burst], level: f64) -> Falls {
    let mut falls = Falls::default();
    for (burst, control) in bursts.iter().zip(control) {
        match split(burst, level) {
            Split::Interrupted => falls.interrupted += 1,
            Split::NotBack => falls.not_back += 1,
            Split::Unclear => falls.unclear += 1,
            Split::Clear { hold_ns, window } => {
                falls.hold_ns.push(hold_ns);
                let Some(boost) = boost_ns(burst.after(), window) else { continue };
                if boost > DISCARD_NS {
                    falls.boosts_discarded += 1;
                } else if let Some(nothing) = boost_ns(control.after(), window)
                    && nothing <= DISCARD_NS
                {
                    falls.boost_ns.push(boost - nothing);
                }
            }
        }
    }
    falls.hold_ns.sort_by(f64::total_cmp);
    falls
}

/// The windows at the lower clock in the median curve of a class over scalar code, and how low it
/// is there; `None` when nothing of it is low. The curve is the clock of each age, 1 = scalar's.
pub(crate) fn plateau(curve: &[f64]) -> Option<(usize, f64)> {
    let total: f64 = curve.iter().sum();
    let (mut sum, mut best) = (0.0, None::<(f64, usize)>);
    for (index, clock) in curve.iter().enumerate() {
        sum += clock;
        let (low, high) = ((index + 1) as f64, (curve.len() - index - 1) as f64);
        if high == 0.0 {
            break;
        }
        // The reduction of the sum of squares when the curve is split at this window.
        let (mean_low, mean_high) = (sum / low, (total - sum) / high);
        let gain = low * high * (mean_high - mean_low).powi(2);
        if mean_low < mean_high && best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, index + 1));
        }
    }
    let (_, windows) = best?;
    // The first window contains the end of the burst.
    let level = median(&curve[1.min(windows - 1)..windows]);
    Some((windows, level))
}

/// The median of samples in ns, in microseconds, with its 95 % interval.
pub(crate) fn estimate_us(samples_ns: &[f64]) -> Option<Estimate> {
    Some(Estimate::of_median(samples_ns, 0.05)?.map(|ns| ns / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Played;

    fn burst(after: Vec<f32>) -> Burst {
        Burst(Played { windows: vec![Vec::new(), vec![1000.0; 10], after], observed: Vec::new() })
    }

    /// 100 windows at 0.8 of the clock, a halt of 10 us in the last of them, 200 at the full one.
    fn halted() -> Vec<f32> {
        let mut windows = vec![1250.0; 100];
        windows[99] += 10_000.0;
        windows.resize(300, 1000.0);
        windows
    }

    #[test]
    fn a_halt_is_found_where_it_is_and_costs_what_it_takes() {
        let windows = halted();
        let Split::Clear { hold_ns, window } = split(&burst(windows.clone()), 0.8) else {
            panic!("no split")
        };
        assert_eq!((hold_ns, window), (99.0 * 1250.0 + 625.0, 99));
        // 11250 against 1250 before and 1000 after.
        assert_eq!(boost_ns(&windows, window), Some(10_125.0));
    }

    #[test]
    fn bursts_that_tell_nothing_are_named() {
        assert_eq!(split(&burst(vec![1000.0; 300]), 0.8), Split::Unclear);
        let mut interrupted = halted();
        interrupted[50] = 3e6;
        assert_eq!(split(&burst(interrupted), 0.8), Split::Interrupted);
        assert_eq!(split(&burst(Vec::new()), 0.8), Split::Interrupted);
    }

    #[test]
    fn outliers_do_not_move_the_fall() {
        let mut windows = halted();
        for window in [10, 40, 150, 250] {
            windows[window] = 9000.0;
        }
        assert!(matches!(split(&burst(windows), 0.8), Split::Clear { window: 99, .. }));
    }

    #[test]
    fn the_plateau_of_a_curve_ends_where_it_rises() {
        let mut curve = vec![0.87; 40];
        curve.resize(400, 1.0);
        let (windows, level) = plateau(&curve).unwrap();
        assert_eq!(windows, 40);
        assert!((level - 0.87).abs() < 1e-9);
        assert_eq!(plateau(&[1.0, 1.0, 1.0]), None);
    }
}

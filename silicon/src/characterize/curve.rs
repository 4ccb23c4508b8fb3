//! Curves over the time since something happened: medians and spread at each age.

use serde::Serialize;

use super::rounds::{AFTER, Burst};
use crate::machine::WINDOW_NS;
use crate::statistics::{median, quantile, typical};

/// Most points of a curve.
const POINTS_MAX: usize = 240;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Time since the event, in us.
    pub us: f64,
    /// Median.
    pub median: f64,
    /// First and third quartile.
    pub quartiles: (f64, f64),
}

/// The clock of each age over that after scalar code, medians over rounds; 1 = as after scalar
/// code. Both bursts of a round must be undisturbed until that age.
pub(crate) fn ratio_curve(class: &[Burst], scalar: &[Burst]) -> Vec<f64> {
    let pairs: Vec<(&Burst, &Burst, usize)> = class
        .iter()
        .zip(scalar)
        .map(|(class, scalar)| (class, scalar, class.undisturbed().min(scalar.undisturbed())))
        .collect();
    (0..AFTER)
        .map_while(|age| {
            let ratios: Vec<f64> = pairs
                .iter()
                .filter(|(_, _, undisturbed)| age < *undisturbed)
                .map(|(class, scalar, _)| f64::from(scalar.after()[age] / class.after()[age]))
                .collect();
            (!ratios.is_empty()).then(|| median(&ratios))
        })
        .collect()
}

/// GHz over the time since the end of the burst, each burst against the scalar one of its round,
/// whose clock counts as the median of all, because neighbours move all clocks.
pub(crate) fn after_curve(bursts: &[Burst], scalar: &[Burst], scalar_ghz: f64) -> Vec<Point> {
    let mut rounds: Vec<Round> = bursts
        .iter()
        .zip(scalar)
        .filter_map(|(burst, scalar)| {
            let windows = &burst.after()[..burst.undisturbed()];
            Some(Round { windows, begin_ns: 0.0, scalar_ns: typical(scalar.after())? })
        })
        .collect();
    let mut points = Vec::new();
    let mut from_ns = 0.0;
    while from_ns < AFTER as f64 * WINDOW_NS {
        let to_ns = from_ns + step_ns(from_ns);
        let clocks = rounds
            .iter_mut()
            .filter_map(|round| Some(scalar_ghz * round.scalar_ns / round.typical_until(to_ns)?))
            .collect();
        points.extend(point((from_ns + to_ns) / 2.0, clocks));
        from_ns = to_ns;
    }
    points
}

/// The rest of a burst while a curve is drawn.
struct Round<'a> {
    windows: &'a [f32],
    /// When the first of these windows begins, after the burst.
    begin_ns: f64,
    /// A window of the scalar burst of the round.
    scalar_ns: f64,
}

impl Round<'_> {
    /// Mean length of the windows that begin before a time; these windows are used up.
    fn typical_until(&mut self, to_ns: f64) -> Option<f64> {
        let mut count = 0;
        while count < self.windows.len() && self.begin_ns < to_ns {
            self.begin_ns += f64::from(self.windows[count]);
            count += 1;
        }
        let (now, later) = self.windows.split_at(count);
        self.windows = later;
        typical(now)
    }
}

/// A window at first, then as long as keeps the curve short.
fn step_ns(from_ns: f64) -> f64 {
    let fine = POINTS_MAX / 3;
    if from_ns < fine as f64 * WINDOW_NS {
        WINDOW_NS
    } else {
        AFTER.div_ceil(POINTS_MAX - fine) as f64 * WINDOW_NS
    }
}

/// Rate of instructions over the time since the first wide one; 1 is the rate at the end.
pub(crate) fn entry_curve(bursts: &[Burst]) -> Vec<Point> {
    let windows = bursts.first().map_or(0, |burst| burst.during().len());
    let usable: Vec<(&[f32], f64)> = bursts
        .iter()
        .filter(|burst| burst.undisturbed() > 0)
        .filter_map(|burst| Some((burst.during(), typical(&burst.during()[windows / 2..])?)))
        .collect();
    let mut begins: Vec<f64> = vec![0.0; usable.len()];
    (0..windows)
        .filter_map(|window| {
            let mut rates = Vec::new();
            let mut ages = Vec::new();
            for ((durations, steady_ns), begin) in usable.iter().zip(&mut begins) {
                let ns = f64::from(durations[window]);
                rates.push(steady_ns / ns);
                ages.push(*begin + ns / 2.0);
                *begin += ns;
            }
            point(median(&ages), rates)
        })
        .collect()
}

fn point(age_ns: f64, mut values: Vec<f64>) -> Option<Point> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(Point {
        us: age_ns / 1000.0,
        median: quantile(&values, 0.5),
        quartiles: (quantile(&values, 0.25), quantile(&values, 0.75)),
    })
}

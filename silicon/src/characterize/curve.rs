//! Curves over the time since something happened: medians and spread at each age.

use serde::Serialize;

use super::rounds::{AFTER, Burst};
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

/// GHz over the time since the end of the burst. Neighbouring windows are put together where
/// there are more than a page can show, finely at first, then coarsely.
pub(crate) fn after_curve(bursts: &[Burst], window_cycles: f64) -> Vec<Point> {
    let mut points = Vec::new();
    let mut begins = vec![0.0; bursts.len()];
    let mut from = 0;
    while from < AFTER {
        let to = (from + step(from)).min(AFTER);
        let mut clocks = Vec::new();
        let mut ages = Vec::new();
        for (burst, begin) in bursts.iter().zip(&mut begins) {
            if burst.undisturbed() < to {
                continue;
            }
            let windows = &burst.after()[from..to];
            let length: f64 = windows.iter().map(|&ns| f64::from(ns)).sum();
            ages.push(*begin + length / 2.0);
            clocks.extend(typical(windows).map(|ns| window_cycles / ns));
            *begin += length;
        }
        points.extend(point(ages, clocks));
        from = to;
    }
    points
}

/// One window at first, then as many as keep the curve short.
fn step(from: usize) -> usize {
    if from < POINTS_MAX / 3 { 1 } else { AFTER.div_ceil(POINTS_MAX * 2 / 3) }
}

/// Rate of instructions over the time since the first wide one; 1 = what it is in the end.
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
            point(ages, rates)
        })
        .collect()
}

fn point(ages_ns: Vec<f64>, mut values: Vec<f64>) -> Option<Point> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(Point {
        us: median(&ages_ns) / 1000.0,
        median: quantile(&values, 0.5),
        quartiles: (quantile(&values, 0.25), quantile(&values, 0.75)),
    })
}

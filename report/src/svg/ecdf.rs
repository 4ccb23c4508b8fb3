//! Empirical distribution functions over a logarithmic axis.

use super::scale::{Linear, Log};
use crate::drawing::{Anchor, SERIES, Svg, number, text_width};
use crate::format::axis_microseconds;

/// One distribution.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// Name in the legend.
    pub(crate) name: String,
    /// Which colour and dash.
    pub(crate) series: usize,
    /// Value and the share of samples up to it, both ascending.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The quantity that is distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    /// Beneath the axis.
    pub(crate) caption: &'static str,
    /// Values below are shown at this one.
    pub(crate) least: f64,
    /// A value of the axis in words.
    pub(crate) label: fn(f64) -> String,
}

/// Durations in microseconds from a wake-up on.
pub(crate) const WAKE_LATENCY: Quantity = Quantity {
    caption: "time from wake-up to first instruction (log)",
    least: 0.01,
    label: axis_microseconds,
};

/// Draws the distributions; returns the drawing and its height.
pub(crate) fn ecdf(curves: &[Curve], quantity: Quantity, width: f64) -> (Svg, f64) {
    let mut svg = Svg::new(width);
    let top = legend(&mut svg, curves, width);
    let (left, right, bottom) = (40.0, width - 24.0, top + 250.0);
    let values = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let low = values().fold(f64::MAX, f64::min).clamp(quantity.least, 1e9);
    let high = values().fold(low, f64::max);
    let x = Log::new((low, high), (left, right));
    let y = Linear::new((0.0, 1.0), (bottom, top), 5.0);
    for tick in x.ticks() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        svg.text(
            "soft small",
            (x.at(tick), bottom + 16.0),
            Anchor::Middle,
            &(quantity.label)(tick),
        );
    }
    for tick in y.ticks() {
        svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
        let label = format!("{:.0} %", tick * 100.0);
        svg.text("soft small", (left - 5.0, y.at(tick) + 4.0), Anchor::End, &label);
    }
    for curve in curves {
        let mut data = String::new();
        let mut height = y.at(0.0);
        for &(value, share) in &curve.points {
            let place = x.at(value.max(low));
            if data.is_empty() {
                data = format!("M{} {}", number(place), number(height));
            } else {
                data += &format!("H{}", number(place));
            }
            height = y.at(share);
            data += &format!("V{}", number(height));
        }
        svg.path(&format!("curve c{}", curve.series % SERIES), &data, &curve.name);
    }
    svg.text("soft small", (left, bottom + 33.0), Anchor::Start, quantity.caption);
    (svg, bottom + 40.0)
}

/// Names beside a piece of their line; returns where the plot may begin.
pub(super) fn legend(svg: &mut Svg, curves: &[Curve], width: f64) -> f64 {
    let (mut x, mut y) = (4.0, 14.0);
    for curve in curves {
        let needed = 34.0 + text_width(&curve.name);
        if x + needed > width && x > 4.0 {
            x = 4.0;
            y += 18.0;
        }
        let class = format!("curve c{}", curve.series % SERIES);
        svg.line(&class, (x, y - 4.0), (x + 24.0, y - 4.0));
        svg.text("", (x + 29.0, y), Anchor::Start, &curve.name);
        x += needed + 8.0;
    }
    y + 14.0
}

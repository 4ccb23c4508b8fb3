//! Curves over time, each a median in the band between its quartiles.

use super::ecdf::{Curve, legend};
use super::scale::Linear;
use crate::drawing::{Anchor, SERIES, Svg, number};

/// A curve with its band.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    /// Name in the legend.
    pub(crate) name: String,
    /// Which colour and dash.
    pub(crate) series: usize,
    /// Time, then first quartile, median and third quartile.
    pub(crate) points: Vec<(f64, [f64; 3])>,
}

/// The ranges of the axes.
#[derive(Clone, Debug)]
pub(crate) struct Axes {
    /// Times shown.
    pub(crate) times: (f64, f64),
    /// Values shown at least.
    pub(crate) values: (f64, f64),
    /// Beneath the axis of times.
    pub(crate) time_caption: String,
    /// Above the axis of values.
    pub(crate) value_caption: String,
}

/// Draws the curves; returns the drawing and its height.
pub(crate) fn spread(bands: &[Band], axes: &Axes, width: f64) -> (Svg, f64) {
    let mut svg = Svg::new(width);
    let curves: Vec<Curve> = bands
        .iter()
        .map(|band| Curve { name: band.name.clone(), series: band.series, points: Vec::new() })
        .collect();
    let top = legend(&mut svg, &curves, width) + 20.0;
    let (left, right, bottom) = (44.0, width - 16.0, top + 260.0);
    let shown: Vec<Band> = bands.iter().map(|band| within(band, axes.times)).collect();
    let all = || shown.iter().flat_map(|band| band.points.iter().flat_map(|(_, values)| values));
    let low = all().copied().fold(axes.values.0, f64::min);
    let high = all().copied().fold(axes.values.1, f64::max);
    let x = Linear::new(axes.times, (left, right), if width < 500.0 { 4.0 } else { 8.0 });
    let y = Linear::new((low, high), (bottom, top), 6.0);
    for tick in x.ticks() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        svg.text("soft small", (x.at(tick), bottom + 16.0), Anchor::Middle, &x.label(tick));
    }
    for tick in y.ticks() {
        svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
        svg.text("soft small", (left - 5.0, y.at(tick) + 4.0), Anchor::End, &y.label(tick));
    }
    for band in shown.iter().filter(|band| band.points.len() > 1) {
        let place = |&(time, values): &(f64, [f64; 3]), which: usize| {
            format!("{} {}", number(x.at(time)), number(y.at(values[which])))
        };
        let line = |which| -> Vec<String> {
            band.points.iter().map(|point| place(point, which)).collect()
        };
        let mut back = line(0);
        back.reverse();
        let area = format!("M{}L{}Z", line(2).join("L"), back.join("L"));
        svg.path(&format!("band f{}", band.series % SERIES), &area, "");
        let curve = format!("M{}", line(1).join("L"));
        svg.path(&format!("curve c{}", band.series % SERIES), &curve, &band.name);
    }
    svg.text("soft small", (left, top - 8.0), Anchor::Start, &axes.value_caption);
    svg.text("soft small", (left, bottom + 33.0), Anchor::Start, &axes.time_caption);
    (svg, bottom + 40.0)
}

/// The points of the times that are shown.
fn within(band: &Band, (from, to): (f64, f64)) -> Band {
    let points =
        band.points.iter().filter(|(time, _)| (from..=to).contains(time)).copied().collect();
    Band { points, ..band.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_beyond_the_axis_are_not_drawn() {
        let points = vec![(0.0, [0.9, 1.0, 1.1]), (5.0, [0.9, 1.0, 1.1]), (90.0, [7.0, 8.0, 9.0])];
        let band = Band { name: "heavy".to_owned(), series: 3, points };
        let axes = Axes {
            times: (0.0, 10.0),
            values: (0.0, 1.0),
            time_caption: "us".to_owned(),
            value_caption: "GHz".to_owned(),
        };
        let (svg, height) = spread(&[band], &axes, 400.0);
        let text = svg.inline(height, "clock");
        assert!(
            text.contains("class=\"band f3\"") && text.contains("class=\"curve c3\""),
            "{text}"
        );
        assert!(!text.contains(">8<"), "{text}");
    }
}

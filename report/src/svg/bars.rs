//! Horizontal bars in groups, from zero, with whiskers and published marks.

use super::scale::Linear;
use crate::drawing::{Anchor, SERIES, Svg, fit, number, text_width};

/// One bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// Written before the bar; empty in a chart with a legend.
    pub(crate) name: String,
    /// Which colour.
    pub(crate) series: usize,
    /// Length.
    pub(crate) value: f64,
    /// Ends of the whisker.
    pub(crate) whisker: Option<[f64; 2]>,
    /// Where the published mark is.
    pub(crate) mark: Option<f64>,
    /// Written behind the bar.
    pub(crate) label: String,
    /// Shown when pointed at.
    pub(crate) title: String,
}

/// Bars under a heading.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Heading.
    pub(crate) name: String,
    /// Its bars.
    pub(crate) bars: Vec<Bar>,
}

/// Draws groups below each other; returns the drawing and its height.
///
/// `unit` is the unit of the axis.
pub(crate) fn bars(groups: &[Group], width: f64, bar_height: f64, unit: &str) -> (Svg, f64) {
    let mut svg = Svg::new(width);
    let all = || groups.iter().flat_map(|group| &group.bars);
    let widest = |of: fn(&Bar) -> &str| all().map(|bar| text_width(of(bar))).fold(0.0, f64::max);
    let names = widest(|bar| &bar.name).min(width * 0.4);
    // Without names, half a label of the axis needs this room.
    let left = if names > 0.0 { names + 8.0 } else { 16.0 };
    let right = width - widest(|bar| &bar.label).min(width * 0.6) - 10.0;
    let ends = all().flat_map(|bar| {
        let whisker = bar.whisker.unwrap_or([bar.value; 2]);
        [bar.value, whisker[0], whisker[1], bar.mark.unwrap_or(bar.value)]
    });
    let range = ends.fold((0.0, 0.1), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let axis = Linear::new(range, (left, right), (right - left) / 55.0);
    let head = if groups.iter().all(|group| group.name.is_empty()) { 4.0 } else { 22.0 };
    let step = bar_height + if bar_height > 12.0 { 5.0 } else { 1.0 };
    let heights = groups.iter().map(|group| head + step * group.bars.len() as f64 + 6.0);
    let bottom: f64 = heights.sum();
    for tick in axis.ticks() {
        let x = axis.at(tick);
        svg.text("soft small", (x, bottom + 15.0), Anchor::Middle, &axis.label(tick));
    }
    svg.text("soft small", (left, bottom + 31.0), Anchor::Start, &fit(unit, width - left));
    let mut y = 0.0;
    for group in groups {
        if !group.name.is_empty() {
            // Bold letters are wider than the average that `Svg` assumes of a text.
            let name = fit(&group.name, width / 1.3);
            svg.text("head", (2.0, y + 15.0), Anchor::Start, &name);
        }
        y += head;
        let end = y + step * group.bars.len() as f64;
        for tick in axis.ticks() {
            svg.line("grid", (axis.at(tick), y - 2.0), (axis.at(tick), end));
        }
        for bar in &group.bars {
            draw(&mut svg, &axis, bar, y, bar_height, left);
            y += step;
        }
        svg.line(
            "axis",
            (axis.at(0.0), end - step * group.bars.len() as f64 - 2.0),
            (axis.at(0.0), end),
        );
        y += 6.0;
    }
    (svg, bottom + 38.0)
}

fn draw(svg: &mut Svg, axis: &Linear, bar: &Bar, y: f64, height: f64, left: f64) {
    let (zero, end) = (axis.at(0.0), axis.at(bar.value));
    let middle = y + height / 2.0;
    if !bar.name.is_empty() {
        svg.text("", (left - 6.0, middle + 4.0), Anchor::End, &fit(&bar.name, left));
    }
    let class = format!("f{}", bar.series % SERIES);
    svg.rect(&class, (zero.min(end), y), ((end - zero).abs().max(0.8), height), &bar.title);
    let mut furthest = zero.max(end);
    if let Some([low, high]) = bar.whisker {
        let (low, high) = (axis.at(low), axis.at(high));
        svg.line("whisker", (low, middle), (high, middle));
        for x in [low, high] {
            svg.line("whisker", (x, middle - 4.0), (x, middle + 4.0));
        }
        furthest = furthest.max(high);
    }
    if let Some(mark) = bar.mark {
        let x = axis.at(mark);
        let size = 5.5;
        let data = format!(
            "M{} {}l{size} {size}l-{size} {size}l-{size} -{size}z",
            number(x),
            number(middle - size)
        );
        svg.path("mark", &data, &bar.title);
        furthest = furthest.max(x + size);
    }
    if !bar.label.is_empty() {
        svg.text("small", (furthest + 6.0, middle + 4.0), Anchor::Start, &bar.label);
    }
}

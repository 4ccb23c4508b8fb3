//! Heat map of losses: victims down, culprits across, a stronger colour for a larger loss.

use crate::drawing::{Anchor, Svg, fit, text_width};

/// A matrix of percentages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heat {
    /// Names down.
    pub(crate) victims: Vec<String>,
    /// Names across.
    pub(crate) culprits: Vec<String>,
    /// Row by row, in percent.
    pub(crate) values: Vec<Vec<f64>>,
    /// What stands below each percentage, row by row; empty: nothing.
    pub(crate) remarks: Vec<Vec<String>>,
    /// What the percentages are a share of, for the tooltips: such as `CPU time lost`.
    pub(crate) lost: &'static str,
}

const WIDTH: f64 = 98.0;
const HEIGHT: f64 = 20.0;
/// What a remark adds to the height of a cell.
const REMARK: f64 = 14.0;

/// Draws a matrix; `most` is the value of the strongest shade. Returns the drawing and its height.
pub(crate) fn heat(heat: &Heat, most: f64) -> (Svg, f64) {
    let names = heat.victims.iter().map(|name| text_width(name)).fold(60.0, f64::max).min(210.0);
    // Wide letters are wider than the average that `Svg` assumes of a text.
    let left = 1.1 * names + 8.0;
    let cell = (WIDTH, if heat.remarks.is_empty() { HEIGHT } else { HEIGHT + REMARK });
    let mut svg = Svg::new(left + WIDTH * heat.culprits.len() as f64 + 2.0);
    svg.text("soft small", (0.0, 13.0), Anchor::Start, "lost by");
    for (column, culprit) in heat.culprits.iter().enumerate() {
        let x = left + WIDTH * (column as f64 + 0.5);
        svg.text("small", (x, 13.0), Anchor::Middle, &fit(culprit, WIDTH));
    }
    for (row, victim) in heat.victims.iter().enumerate() {
        let y = 20.0 + cell.1 * row as f64;
        svg.text("", (left - 6.0, y + 14.0), Anchor::End, &fit(victim, names));
        for (column, culprit) in heat.culprits.iter().enumerate() {
            let value = heat.values[row][column];
            let x = left + WIDTH * column as f64;
            let remark = heat.remarks.get(row).map_or("", |row| row[column].as_str());
            let comma = if remark.is_empty() { "" } else { ", " };
            let title =
                format!("{victim}, {culprit}: {value:.2} % of its {}{comma}{remark}", heat.lost);
            svg.shade((x, y), cell, value / most.max(1e-9), &title);
            let text = if value == 0.0 { "–".to_owned() } else { format!("{value:.1} %") };
            svg.text("small", (x + WIDTH / 2.0, y + 14.0), Anchor::Middle, &text);
            let place = (x + WIDTH / 2.0, y + 28.0);
            if !remark.is_empty() {
                svg.text("small", place, Anchor::Middle, remark);
            }
        }
    }
    (svg, 24.0 + cell.1 * heat.victims.len() as f64)
}

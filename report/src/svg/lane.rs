//! How much ran when: levels stacked over time, small enough to stand in a line of text.

use crate::drawing::Svg;
use crate::window::{IDLE, KINDS};

/// Height of a lane in its own units; its width is one unit a column.
const HEIGHT: u64 = 100;

/// Draws columns of time by kind; `full` is the time that fills a column. It stretches to the
/// width that its surroundings give it, and what it says is said in words beside it.
pub(crate) fn lane(columns: &[[u64; KINDS]], full: u64) -> String {
    // A level is drawn down to the bottom, and those below it over it.
    let top = |column: &[u64; KINDS], level: usize| {
        let ns = u128::from(column[..=level].iter().sum::<u64>());
        HEIGHT - (ns * u128::from(HEIGHT) / u128::from(full.max(1))).min(HEIGHT.into()) as u64
    };
    let mut svg = Svg::new(columns.len() as f64);
    for level in (0..IDLE).rev() {
        if columns.iter().all(|column| column[level] == 0) {
            continue;
        }
        let tops: Vec<u64> = columns.iter().map(|column| top(column, level)).collect();
        let mut path = format!("M0 {HEIGHT}");
        for run in tops.chunk_by(|a, b| a == b) {
            path += &format!("V{}h{}", run[0], run.len());
        }
        svg.path(&format!("l{level}"), &format!("{path}V{HEIGHT}z"), "");
    }
    svg.stretched("lane", HEIGHT as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_stacked() {
        let mut column = [0; KINDS];
        (column[0], column[2], column[IDLE]) = (50, 25, 25);
        let drawing = lane(&[column, column, [0; KINDS]], 100);
        let expected = "<path class=\"l2\" d=\"M0 100V25h2V100h1V100z\"/>\
                        <path class=\"l0\" d=\"M0 100V50h2V100h1V100z\"/>";
        assert!(drawing.contains(expected), "{drawing}");
    }
}

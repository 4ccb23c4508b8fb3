//! Drawings of the page: they stretch to the width that they are given.

use std::fmt::Write as _;

use super::super::strip::{SLOTS, Slots};
use super::super::summary::time;
use super::ORDER;

/// Height of a lane in its own units; its width is one unit a column.
const HEIGHT: u64 = 100;

/// Classes of colours, by slot.
const COLOURS: [&str; SLOTS] =
    ["", "runtime", "looks", "sleeps", "f7", "f0", "f4", "f5", "f2", "f1", "f3", "f6"];

/// What is drawn of one thread.
pub(super) struct Lane<'a> {
    pub(super) bins: &'a [Slots],
    pub(super) columns: usize,
    /// What fills a column.
    pub(super) full: u64,
}

fn begin(columns: usize) -> String {
    format!(
        "<svg class=\"chart lane\" viewBox=\"0 0 {columns} {HEIGHT}\" \
         preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    )
}

/// A colour beside its name.
pub(super) fn swatch(slot: usize) -> String {
    format!(
        "<svg class=\"chart\" width=\"14\" height=\"12\" aria-hidden=\"true\">\
         <rect class=\"{}\" width=\"14\" height=\"12\"/></svg>",
        COLOURS[slot]
    )
}

/// What a thread did, stacked over time.
pub(super) fn lane(lane: &Lane) -> String {
    let mut drawn = begin(lane.columns);
    let shown = lane.bins.len().min(lane.columns);
    // Each is drawn down to the bottom, and those below it over it.
    for (place, slot) in ORDER.iter().enumerate().rev() {
        if lane.bins.iter().all(|bin| bin[*slot] == 0) {
            continue;
        }
        let tops = lane.bins[..shown].iter().map(|bin| {
            let ticks: u64 = ORDER[..=place].iter().map(|&below| bin[below]).sum();
            HEIGHT - (ticks.saturating_mul(HEIGHT) / lane.full.max(1)).min(HEIGHT)
        });
        let tops: Vec<u64> = tops.collect();
        drawn += &path(COLOURS[*slot], &tops);
    }
    drawn + "</svg>"
}

fn path(class: &str, tops: &[u64]) -> String {
    let mut data = format!("M0 {HEIGHT}");
    for run in tops.chunk_by(|a, b| a == b) {
        let _ = write!(data, "V{}h{}", run[0], run.len());
    }
    format!("<path class=\"{class}\" d=\"{data}V{HEIGHT}z\"/>")
}

/// Everything side by side.
pub(super) fn lane_of_one(slots: &Slots) -> String {
    const WIDTH: u64 = 10_000;
    let all: u64 = ORDER.iter().map(|&slot| slots[slot]).sum();
    let mut drawn = begin(WIDTH as usize);
    let mut before = 0;
    for slot in ORDER {
        let at =
            |ticks: u64| (u128::from(ticks) * u128::from(WIDTH) / u128::from(all.max(1))) as u64;
        let (from, to) = (at(before), at(before + slots[slot]));
        before += slots[slot];
        if to > from {
            let _ = write!(
                drawn,
                "<rect class=\"{}\" x=\"{from}\" width=\"{}\" height=\"{HEIGHT}\"/>",
                COLOURS[slot],
                to - from
            );
        }
    }
    drawn + "</svg>"
}

/// One value over time.
pub(super) fn area(values: &[u64], columns: usize, most: u64) -> String {
    let top = |value: &u64| HEIGHT - value.saturating_mul(HEIGHT - 4) / most.max(1);
    let tops: Vec<u64> = values.iter().take(columns).map(top).collect();
    begin(columns) + &path("f0", &tops) + "</svg>"
}

/// Times below lanes.
pub(super) fn axis(whole_ns: u64) -> String {
    let marks = [0, 1, 2, 3, 4].map(|quarter| format!("<i>{}</i>", time(whole_ns * quarter / 4)));
    format!("<div class=\"axis\"><span></span><p>{}</p></div>\n", marks.concat())
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn tasks_stand_below_what_is_not_work() {
        let mut bin = [0; SLOTS];
        (bin[5], bin[2]) = (50, 25);
        let drawing = lane(&Lane { bins: &[bin, bin], columns: 4, full: 100 });
        let looks = "<path class=\"looks\" d=\"M0 100V25h2V100z\"/>";
        let tasks = "<path class=\"f0\" d=\"M0 100V50h2V100z\"/>";
        assert!(drawing.contains(&(looks.to_owned() + tasks)), "{drawing}");
    }
}

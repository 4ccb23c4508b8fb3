//! Drawings of the page: they stretch to the width that they are given.

use std::fmt::Write as _;

use evenkeel_runtime::internal::recording::{SLOTS, Slots};

use super::ORDER;
use crate::format::{grouped, time};

/// Height of a lane in its own units; its width is one unit a column.
const HEIGHT: u64 = 100;

/// Classes of colours, by slot.
const COLOURS: [&str; SLOTS] =
    ["outside", "runtime", "looks", "sleeps", "f7", "f0", "f4", "f5", "f2", "f1", "f3", "f6"];

/// The drawn data of one thread.
pub(super) struct Lane<'a> {
    pub(super) bins: &'a [Slots],
    pub(super) columns: usize,
    /// Ticks that fill a column.
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

/// The times of a thread, stacked by slot over time.
pub(super) fn lane(lane: &Lane) -> String {
    let mut drawn = begin(lane.columns);
    let shown = lane.bins.len().min(lane.columns);
    // Each slot is drawn down to the bottom, and the slots below are drawn over that.
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
    let top = |value: &u64| HEIGHT - value.saturating_mul(HEIGHT) / most.max(1);
    let tops: Vec<u64> = values.iter().take(columns).map(top).collect();
    begin(columns) + &path("f0", &tops) + "</svg>"
}

/// A drawing beside the values of its bottom and its top.
pub(super) fn scaled(drawn: &str, most: u64) -> String {
    format!(
        "<div class=\"scaled\"><p><span>{}</span><span>0</span></p>{drawn}</div>",
        grouped(most)
    )
}

/// Times below lanes, at round ones; as many as have space.
pub(super) fn axis(whole_ns: u64) -> String {
    let step = step_ns(whole_ns);
    let marks: String = (0..=whole_ns / step)
        .map(|mark| (mark * step, (mark * step) as f64 * 100.0 / whole_ns.max(1) as f64))
        .filter(|&(_, percent)| percent < 97.0)
        .map(|(ns, percent)| format!("<i style=\"left:{percent:.2}%\">{}</i>", round(ns)))
        .collect();
    format!("<div class=\"axis\"><span></span><p>{marks}</p></div>\n")
}

/// The time between two marks: 1, 2 or 5 times a power of ten of ns, for at most eight marks.
fn step_ns(whole_ns: u64) -> u64 {
    let tens = std::iter::successors(Some(1_u64), |ten| ten.checked_mul(10));
    let steps = tens.flat_map(|ten| [1, 2, 5].map(|of| ten.saturating_mul(of)));
    steps.into_iter().find(|step| whole_ns / step < 8).unwrap_or(u64::MAX)
}

/// A time, rounded for a label.
fn round(ns: u64) -> String {
    let text = time(ns);
    match text.split_once(' ') {
        Some((value, unit)) if value.contains('.') => {
            format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if ns == 0 => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_below_lanes_are_round() {
        let marks = axis(104_600_000);
        let texts: Vec<&str> = marks.split("%\">").skip(1).map(|part| &part[..5]).collect();
        assert_eq!(texts, ["0</i>", "20 ms", "40 ms", "60 ms", "80 ms", "100 m"], "{marks}");
        assert!(marks.contains("left:19.12%\">20 ms"), "{marks}");
        assert_eq!([2_500_000_000, 1_000].map(round), ["2.5 s", "1 us"]);
        assert!([0, 1, 7, 8, u64::MAX].into_iter().all(|whole| whole / step_ns(whole) < 8));
    }

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

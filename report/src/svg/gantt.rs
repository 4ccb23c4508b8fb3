//! Who ran where: a row a CPU coloured by license level, the core's frequency beneath.

use std::collections::BTreeMap;

use super::scale::Linear;
use super::{Anchor, Svg, fit, number, text_width};
use crate::window::{Stretch, Window};

const LEFT: f64 = 64.0;
const ROW: f64 = 18.0;
const STRIP: f64 = 26.0;

/// Draws a window; `names` has applications by task and `levels` the names of the levels.
/// Returns the drawing and its height.
pub(crate) fn gantt(
    window: &Window,
    names: &BTreeMap<u32, (String, String)>,
    levels: &[String],
    width: f64,
) -> (Svg, f64) {
    let mut svg = Svg::new(width);
    let ms = |ns: u64| ns as f64 / 1e6;
    let (left, right) = (LEFT, width - 64.0);
    let (from, to) = (ms(window.from_ns), ms(window.to_ns));
    let place = |ns: u64| left + (ms(ns) - from) / (to - from).max(1e-9) * (right - left);
    let mut y = legend(&mut svg, window, levels);
    let top = y;
    let strips = window.cores_khz.iter().filter(|changes| !changes.is_empty()).count();
    let bottom = top
        + ROW * window.cpus.len() as f64
        + STRIP * strips as f64
        + 6.0 * window.cores_khz.len() as f64;
    let ticks = Linear::new((from, to), (left, right), (right - left) / 80.0);
    for tick in ticks.ticks().into_iter().filter(|tick| (from..=to).contains(tick)) {
        let x = left + (tick - from) / (to - from).max(1e-9) * (right - left);
        svg.line("grid", (x, top), (x, bottom));
        let label = format!("{} ms", ticks.label(tick));
        svg.text("soft small", (x, bottom + 13.0), Anchor::Middle, &label);
    }
    let khz = || window.cores_khz.iter().flatten().map(|change| change.1);
    let span = (khz().min().unwrap_or(0), khz().max().unwrap_or(1));
    for (core, cpus) in window.cpus.chunks(window.threads_per_core).enumerate() {
        for (thread, stretches) in cpus.iter().enumerate() {
            let cpu = core * window.threads_per_core + thread;
            let label = format!("CPU {cpu}");
            svg.text("", (left - 6.0, y + 13.0), Anchor::End, &label);
            for stretch in stretches {
                draw(&mut svg, stretch, &place, y, names, levels);
            }
            y += ROW;
        }
        if !window.cores_khz[core].is_empty() {
            strip(&mut svg, window, core, &place, y, span);
            y += STRIP;
        }
        y += 6.0;
    }
    (svg, bottom + 20.0)
}

fn draw(
    svg: &mut Svg,
    stretch: &Stretch,
    place: &dyn Fn(u64) -> f64,
    y: f64,
    names: &BTreeMap<u32, (String, String)>,
    levels: &[String],
) {
    let (x, end) = (place(stretch.from_ns), place(stretch.to_ns));
    let size = (end - x - 0.4, ROW - 3.0);
    if stretch.task == 0 {
        svg.rect("idle", (x, y), size, "");
        return;
    }
    let unknown = (format!("task {}", stretch.task), String::new());
    let (app, comm) = names.get(&stretch.task).unwrap_or(&unknown);
    let title = format!(
        "{app} {comm}, {}, {:.2} ms",
        level_name(levels, stretch.level),
        (stretch.to_ns - stretch.from_ns) as f64 / 1e6
    );
    svg.rect(&format!("l{}", stretch.level), (x, y), size, &title);
    if text_width("abc") < size.0 - 4.0 {
        svg.text("on", (x + 3.0, y + 11.0), Anchor::Start, &fit(app, (size.0 - 4.0) * 1.2));
    }
}

/// The frequency of a core as a stepped line, with its range behind.
fn strip(
    svg: &mut Svg,
    window: &Window,
    core: usize,
    place: &dyn Fn(u64) -> f64,
    y: f64,
    (low, high): (u32, u32),
) {
    let share = |khz: u32| f64::from(khz - low) / f64::from((high - low).max(1));
    let height = |khz: u32| y + (STRIP - 6.0) * (1.0 - share(khz)) + 2.0;
    let mut data = String::new();
    for &(time_ns, khz) in &window.cores_khz[core] {
        let x = number(place(time_ns));
        let to = number(height(khz));
        data += &if data.is_empty() { format!("M{x} {to}") } else { format!("H{x}V{to}") };
    }
    data += &format!("H{}", number(place(window.to_ns)));
    svg.path("step", &data, &format!("frequency of core {core}"));
    svg.text("soft small", (LEFT - 6.0, y + 15.0), Anchor::End, "GHz");
    let end = place(window.to_ns) + 5.0;
    for (khz, shift) in [(high, 7.0), (low, 4.0)] {
        let label = format!("{:.1}", f64::from(khz) / 1e6);
        svg.text("soft small", (end, height(khz) + shift - 2.0), Anchor::Start, &label);
        if high == low {
            break;
        }
    }
}

fn legend(svg: &mut Svg, window: &Window, levels: &[String]) -> f64 {
    let mut x = 4.0;
    let shown = window.level_shares_pct();
    for (level, share) in &shown {
        svg.rect(&format!("l{level}"), (x, 3.0), (14.0, 12.0), "");
        let text = format!("{} {share:.0} %", level_name(levels, *level));
        svg.text("", (x + 19.0, 13.0), Anchor::Start, &text);
        x += 36.0 + text_width(&text);
    }
    svg.rect("idle", (x, 3.0), (14.0, 12.0), "");
    svg.text("", (x + 19.0, 13.0), Anchor::Start, "idle");
    26.0
}

fn level_name(levels: &[String], level: u8) -> String {
    levels.get(usize::from(level)).cloned().unwrap_or_else(|| format!("level {level}"))
}

//! Gantt chart: a row a CPU coloured by license level, the core's frequency beneath.

use std::collections::BTreeMap;

use super::scale::Linear;
use crate::drawing::{Anchor, Svg, fit, number, text_width};
use crate::format::time_unit;
use crate::window::{IDLE, KINDS, Stretch, Window, columns};

const LEFT: f64 = 64.0;
const ROW: f64 = 18.0;
const STRIP: f64 = 26.0;
/// A stretch below so many pixels is too small to be pointed at.
const POINTED_MIN: f64 = 2.0;

/// Names and limits for the drawing of a window.
pub(crate) struct Look<'a> {
    /// Application and name of each task.
    pub(crate) names: &'a BTreeMap<u32, (String, String)>,
    /// Names of the license levels.
    pub(crate) levels: &'a [String],
    /// How many of the CPUs, from the first.
    pub(crate) cpus: usize,
    /// How large the drawing may become.
    pub(crate) bytes_max: usize,
}

/// A drawing of a window.
pub(crate) struct Gantt {
    pub(crate) svg: Svg,
    pub(crate) height: f64,
    /// Where not every stretch is drawn for itself: the width of a column, coloured by what took
    /// most of it.
    pub(crate) column_ns: Option<u64>,
}

/// From times to places.
struct Axis<'a> {
    window: &'a Window,
    width: f64,
}

impl Axis<'_> {
    fn right(&self) -> f64 {
        self.width - 64.0
    }

    fn at(&self, ns: u64) -> f64 {
        let span = (self.window.to_ns - self.window.from_ns).max(1) as f64;
        let share = ns.saturating_sub(self.window.from_ns) as f64 / span;
        LEFT + share * (self.right() - LEFT)
    }
}

/// Draws a window.
pub(crate) fn gantt(window: &Window, look: &Look, width: f64) -> Gantt {
    let mut svg = Svg::new(width);
    let axis = Axis { window, width };
    let threads = window.threads_per_core;
    let cpus = &window.cpus[..look.cpus.min(window.cpus.len())];
    let cores_khz = &window.cores_khz[..cpus.len().div_ceil(threads)];
    let top = legend(&mut svg, window, look.levels);
    let mut rows = Vec::new();
    let mut strips = Vec::new();
    let mut y = top;
    for (core, siblings) in cpus.chunks(threads).enumerate() {
        rows.extend(siblings.iter().enumerate().map(|(thread, stretches)| {
            (core * threads + thread, y + ROW * thread as f64, stretches.as_slice())
        }));
        y += ROW * siblings.len() as f64;
        if !cores_khz[core].is_empty() {
            strips.push((core, y));
            y += STRIP;
        }
        y += 6.0;
    }
    ticks(&mut svg, &axis, (top, y));
    for &(cpu, y, _) in &rows {
        svg.text("", (LEFT - 6.0, y + 13.0), Anchor::End, &format!("CPU {cpu}"));
        svg.rect("idle", (LEFT, y), (axis.right() - LEFT, ROW - 3.0), "");
    }
    let column_ns = draw_rows(&mut svg, &axis, look, &rows);
    let khz = || cores_khz.iter().flatten().map(|change| change.1);
    let span = (khz().min().unwrap_or(0), khz().max().unwrap_or(1));
    let bytes_max = look.bytes_max / 6 / strips.len().max(1);
    for (core, y) in strips {
        strip(&mut svg, &axis, core, y, span, bytes_max);
    }
    Gantt { svg, height: y + 20.0, column_ns }
}

fn ticks(svg: &mut Svg, axis: &Axis, (top, bottom): (f64, f64)) {
    let (unit, ns) = time_unit(axis.window.to_ns);
    let (from, to) = (axis.window.from_ns as f64 / ns, axis.window.to_ns as f64 / ns);
    let linear = Linear::new((from, to), (0.0, 1.0), (axis.right() - LEFT) / 80.0);
    for tick in linear.ticks().into_iter().filter(|tick| (from..=to).contains(tick)) {
        let x = axis.at((tick * ns).round() as u64);
        svg.line("grid", (x, top), (x, bottom));
        let label = format!("{} {unit}", linear.label(tick));
        svg.text("soft small", (x, bottom + 13.0), Anchor::Middle, &label);
    }
}

/// A CPU, where its row is, and its stretches.
type Row<'a> = (usize, f64, &'a [Stretch]);

/// Draws as many single stretches as the limit allows, the longest first, above columns of all.
fn draw_rows(svg: &mut Svg, axis: &Axis, look: &Look, rows: &[Row]) -> Option<u64> {
    let mut busy: Vec<(f64, &Stretch)> = rows
        .iter()
        .flat_map(|(_, y, stretches)| stretches.iter().map(|stretch| (*y, stretch)))
        .filter(|(_, stretch)| stretch.task != 0)
        .collect();
    busy.sort_by_key(|(_, stretch)| std::cmp::Reverse(stretch.length_ns()));
    let mut bytes = 0;
    let mut pieces = Vec::new();
    for &(y, stretch) in &busy {
        let piece = piece(axis, look, stretch, y);
        let is_seen = axis.at(stretch.to_ns) - axis.at(stretch.from_ns) >= POINTED_MIN;
        if !is_seen || bytes + piece.len() > look.bytes_max {
            break;
        }
        bytes += piece.len();
        pieces.push(piece);
    }
    let mut column_ns = None;
    if pieces.len() < busy.len() {
        let (drawing, ns) = all_columns(axis, rows, look.bytes_max / 3);
        bytes += drawing.len();
        while bytes > look.bytes_max {
            let Some(piece) = pieces.pop() else { break };
            bytes -= piece.len();
        }
        svg.raw(&drawing);
        column_ns = Some(ns);
    }
    pieces.iter().for_each(|piece| svg.raw(piece));
    column_ns
}

/// A stretch with its name, and a tooltip.
fn piece(axis: &Axis, look: &Look, stretch: &Stretch, y: f64) -> String {
    let (x, end) = (axis.at(stretch.from_ns), axis.at(stretch.to_ns));
    let size = (end - x - 0.4, ROW - 3.0);
    let unknown = (format!("task {}", stretch.task), String::new());
    let (app, comm) = look.names.get(&stretch.task).unwrap_or(&unknown);
    let title = format!(
        "{} {comm}, {}, {:.2} ms",
        fit(app, text_width("0123456789012345678901234567")),
        level_name(look.levels, stretch.level),
        stretch.length_ns() as f64 / 1e6
    );
    let mut piece = Svg::new(0.0);
    piece.rect(&format!("l{}", stretch.level), (x, y), size, &title);
    if text_width("abc") < size.0 - 4.0 {
        let name = fit(app, (size.0 - 4.0) * 1.2);
        piece.text("on", (x + 3.0, y + 11.0), Anchor::Start, &name);
    }
    piece.into_body()
}

/// Every row in columns as narrow as there is room for; and how long a column is.
fn all_columns(axis: &Axis, rows: &[Row], bytes_max: usize) -> (String, u64) {
    let pixels = axis.right() - LEFT;
    let mut count = (pixels * 2.0) as usize;
    loop {
        let drawing: String = rows.iter().map(|row| row_columns(axis, row, count)).collect();
        if drawing.len() <= bytes_max || count < 32 {
            let span_ns = axis.window.to_ns - axis.window.from_ns;
            return (drawing, span_ns / count as u64);
        }
        count /= 2;
    }
}

/// A row in columns, those of a level in one line; what was mostly idle stays empty.
fn row_columns(axis: &Axis, &(_, y, stretches): &Row, count: usize) -> String {
    let window = axis.window;
    let columns = columns(stretches, (window.from_ns, window.to_ns), count);
    let most =
        |column: &[u64; KINDS]| (0..KINDS).rev().max_by_key(|&kind| column[kind]).unwrap_or(IDLE);
    let kinds: Vec<usize> = columns.iter().map(most).collect();
    let pitch = (axis.right() - LEFT) / count as f64;
    let middle = number(y + (ROW - 3.0) / 2.0);
    let mut lines = vec![String::new(); IDLE];
    let mut begin = 0;
    for run in kinds.chunk_by(|a, b| a == b) {
        if run[0] != IDLE {
            let x = number(LEFT + begin as f64 * pitch);
            lines[run[0]] += &format!("M{x} {middle}h{}", number(run.len() as f64 * pitch));
        }
        begin += run.len();
    }
    let mut piece = Svg::new(0.0);
    for (level, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        piece.path(&format!("s{level}"), line, "");
    }
    piece.into_body()
}

/// The frequency of a core as a stepped line, as fine as there is room for.
fn strip(
    svg: &mut Svg,
    axis: &Axis,
    core: usize,
    y: f64,
    (low, high): (u32, u32),
    bytes_max: usize,
) {
    let share = |khz: u32| f64::from(khz - low) / f64::from((high - low).max(1));
    let height = |khz: u32| y + (STRIP - 6.0) * (1.0 - share(khz)) + 2.0;
    let line = |step: f64| {
        let mut data = String::new();
        let mut last = f64::MIN;
        for &(time_ns, khz) in &axis.window.cores_khz[core] {
            let x = axis.at(time_ns);
            if x - last < step {
                continue;
            }
            last = x;
            let (x, to) = (number(x), number(height(khz)));
            data += &if data.is_empty() { format!("M{x} {to}") } else { format!("H{x}V{to}") };
        }
        data + &format!("H{}", number(axis.right()))
    };
    let mut step = 0.0;
    let mut data = line(step);
    while data.len() > bytes_max && step < 64.0 {
        step = f64::max(0.25, step * 2.0);
        data = line(step);
    }
    svg.path("step", &data, &format!("frequency of core {core}"));
    svg.text("soft small", (LEFT - 6.0, y + 15.0), Anchor::End, "GHz");
    for (khz, shift) in [(high, 7.0), (low, 4.0)] {
        let label = format!("{:.1}", f64::from(khz) / 1e6);
        let place = (axis.right() + 5.0, height(khz) + shift - 2.0);
        svg.text("soft small", place, Anchor::Start, &label);
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

/// The name of a level.
pub(crate) fn level_name(levels: &[String], level: u8) -> String {
    levels.get(usize::from(level)).cloned().unwrap_or_else(|| format!("level {level}"))
}

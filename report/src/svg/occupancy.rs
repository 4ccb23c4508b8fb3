//! Which program ran on which CPU: a row a CPU coloured by program, the core's level beneath.

use super::scale::Linear;
use crate::drawing::{Anchor, Svg, fit, number, text_width};
use crate::format::{seconds, time_unit};
use crate::profile::{Core, Span};

/// Colours of programs, on all of which black text is readable, and that of all further programs.
pub(crate) const PALETTE: [usize; 7] = [1, 4, 5, 2, 7, 3, 6];
pub(crate) const REST: usize = 0;

const LEFT: f64 = 64.0;
const ROW: f64 = 18.0;
/// Height of the strip of levels, and of a core's name.
const STRIP: f64 = 14.0;
const NAME: f64 = 16.0;
/// The least width of a stretch that a pointer can hit, in pixels.
const POINTED_MIN: f64 = 2.0;

/// What is drawn.
pub(crate) struct Occupancy<'a> {
    pub(crate) cores: &'a [&'a Core],
    /// Length of the axis, in s; positive.
    pub(crate) length_s: f64,
    /// Names of programs, and their colours.
    pub(crate) names: &'a [String],
    pub(crate) colors: &'a [usize],
    /// How large the stretches may become together.
    pub(crate) bytes_max: usize,
}

/// From times to places.
struct Axis {
    length_s: f64,
    right: f64,
}

impl Axis {
    /// The place of a time; one outside of the axis is at its end.
    fn at(&self, time_s: f64) -> f64 {
        LEFT + (time_s / self.length_s).clamp(0.0, 1.0) * (self.right - LEFT)
    }
}

/// Draws the cores; returns the drawing, its height, and how many stretches had no room.
pub(crate) fn occupancy(what: &Occupancy, width: f64) -> (Svg, f64, usize) {
    let mut svg = Svg::new(width);
    let axis = Axis { length_s: what.length_s, right: width - 12.0 };
    let most = what.cores.iter().flat_map(|core| &core.levels).map(|it| it.2).max().unwrap_or(0);
    let mut rows: Vec<(f64, &Span)> = Vec::new();
    let mut lanes = Svg::new(width);
    let mut y = 4.0;
    for core in what.cores {
        let name = fit(&core.name, axis.right);
        lanes.text("soft small", (0.0, y + 11.0), Anchor::Start, &name);
        y += NAME;
        for lane in &core.cpus {
            let label = format!("CPU {}", lane.cpu);
            lanes.text("", (LEFT - 6.0, y + 13.0), Anchor::End, &label);
            lanes.rect("idle", (LEFT, y), (axis.right - LEFT, ROW - 3.0), "");
            rows.extend(lane.spans.iter().map(|span| (y, span)));
            y += ROW;
        }
        if most > 0 {
            lanes.text("soft small", (LEFT - 6.0, y + 9.0), Anchor::End, "level");
            let base = y + STRIP - 4.0;
            lanes.line("grid", (LEFT, base), (axis.right, base));
            lanes.path("soft", &levels(&axis, core, most, base), &format!("level of {name}"));
            y += STRIP;
        }
        y += 4.0;
    }
    ticks(&mut svg, &axis, y);
    svg.raw(&lanes.into_body());
    let left_out = stretches(&mut svg, &axis, what, rows);
    (svg, y + 20.0, left_out)
}

fn ticks(svg: &mut Svg, axis: &Axis, bottom: f64) {
    let (unit, ns) = time_unit((axis.length_s * 1e9) as u64);
    let to = axis.length_s * 1e9 / ns;
    let linear = Linear::new((0.0, to), (0.0, 1.0), (axis.right - LEFT) / 80.0);
    for tick in linear.ticks().into_iter().filter(|tick| *tick <= to) {
        let x = axis.at(tick * ns / 1e9);
        svg.line("grid", (x, 4.0), (x, bottom));
        let label = format!("{} {unit}", linear.label(tick));
        let is_last = x + text_width(&label) / 2.0 > axis.right + 12.0;
        let anchor = if is_last { Anchor::End } else { Anchor::Middle };
        svg.text("soft small", (x, bottom + 13.0), anchor, &label);
    }
}

/// The level of a core as an area: in each column of a pixel the mean over its time.
fn levels(axis: &Axis, core: &Core, most: u8, base: f64) -> String {
    let columns = (axis.right - LEFT) as usize;
    let mut mean = vec![0.0; columns + 1];
    for &(from_s, to_s, level) in &core.levels {
        let (from, to) = (axis.at(from_s) - LEFT, axis.at(to_s) - LEFT);
        if from.is_nan() || to.is_nan() || from >= to {
            continue;
        }
        for (column, mean) in mean.iter_mut().enumerate().take(to as usize + 1).skip(from as usize)
        {
            let begin = column as f64;
            *mean += (to.min(begin + 1.0) - from.max(begin)).max(0.0) * f64::from(level);
        }
    }
    let height = |mean: f64| ((STRIP - 5.0) * (mean / f64::from(most)).min(1.0) * 10.0).round();
    let heights: Vec<f64> = mean.into_iter().map(height).collect();
    let mut path = String::new();
    let mut begin = 0;
    for run in heights.chunk_by(|a, b| a == b) {
        if run[0] > 0.0 {
            let (x, up) = (number(LEFT + begin as f64), number(run[0] / 10.0));
            path += &format!("M{x} {}v-{up}h{}v{up}z", number(base), run.len());
        }
        begin += run.len();
    }
    path
}

/// Draws the stretches, the longest first: those that can be pointed at with a name, the others in
/// a path a colour. Returns how many had no room.
fn stretches(svg: &mut Svg, axis: &Axis, what: &Occupancy, rows: Vec<(f64, &Span)>) -> usize {
    let width = |span: &Span| axis.at(span.to_s) - axis.at(span.from_s);
    let is_known = |span: &Span| width(span) > 0.0 && span.group < what.colors.len();
    let mut rows: Vec<(f64, &Span)> = rows.into_iter().filter(|it| is_known(it.1)).collect();
    rows.sort_by(|a, b| width(b.1).total_cmp(&width(a.1)));
    let mut paths = vec![String::new(); PALETTE.len() + 1];
    let mut pieces = String::new();
    let mut bytes = 0;
    for (drawn, &(y, span)) in rows.iter().enumerate() {
        let before = pieces.len();
        let path = &mut paths[what.colors[span.group]];
        let path_before = path.len();
        // Half of the room is for stretches with names, so that all others can have the rest.
        if width(span) >= POINTED_MIN && pieces.len() * 2 < what.bytes_max {
            pieces += &piece(axis, what, span, y);
        } else {
            let (x, w) = (number(axis.at(span.from_s)), format!("{:.2}", width(span)));
            *path += &format!("M{x} {}h{w}v15h-{w}z", number(y));
        }
        bytes += pieces.len() - before + path.len() - path_before;
        if bytes > what.bytes_max {
            draw(svg, &paths, &pieces);
            return rows.len() - drawn - 1;
        }
    }
    draw(svg, &paths, &pieces);
    0
}

fn draw(svg: &mut Svg, paths: &[String], pieces: &str) {
    for (color, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        svg.path(&format!("f{color}"), path, "");
    }
    svg.raw(pieces);
}

/// A stretch with its name, and a tooltip.
fn piece(axis: &Axis, what: &Occupancy, span: &Span, y: f64) -> String {
    let (x, end) = (axis.at(span.from_s), axis.at(span.to_s));
    let (name, color) = (&what.names[span.group], what.colors[span.group]);
    let [from_s, to_s] = [span.from_s, span.to_s].map(|it| it.clamp(0.0, axis.length_s));
    let title = format!(
        "{}, {} from {}",
        fit(name, text_width("0123456789012345678901234567")),
        seconds(to_s - from_s),
        seconds(from_s)
    );
    let mut piece = Svg::new(0.0);
    piece.rect(&format!("f{color}"), (x, y), (end - x - 0.4, ROW - 3.0), &title);
    if color != REST && text_width("abc") < end - x - 4.0 {
        piece.text("on", (x + 3.0, y + 11.0), Anchor::Start, &fit(name, (end - x - 4.0) * 1.2));
    }
    piece.into_body()
}

//! Time against the size of a task, both logarithmic, with all runtimes in one picture: the figures
//! of the Nanos6 thesis.

use std::fmt::Write;

use super::plan::Work;
use super::runtimes::Runtime;
use super::summary::{Group, Spread};
use super::table::{failures, grouped};

/// Colours of the project's charts, light and dark.
pub const CHART_CSS: &str = include_str!("../look/chart.css");
/// Added styles: the library under test stands out, and names have the colour of their line.
pub const OWN_CSS: &str = ".chart .ours { stroke: var(--ink); stroke-width: 3.5; fill: none; }\n\
    .chart .fours { fill: var(--ink); }\n.chart .curve { stroke-width: 2; }\n\
    .chart .lead { stroke: var(--soft); stroke-width: .7; }\n\
    .chart .dot { stroke: var(--paper); stroke-width: 1; }\n\
    .chart .thin { stroke-width: 1.1; }\n\
    .chart .hollow { fill: var(--paper); stroke-width: 1.3; stroke-dasharray: none; }\n";
const SERIES: usize = 8;

const WIDTH: f64 = 940.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 62.0;
/// Room for the names at the ends of the lines.
const RIGHT: f64 = WIDTH - 110.0;
/// Left edge of the names.
const NAMES: f64 = RIGHT + 31.0;
/// Width of a letter of a name.
const LETTER: f64 = 7.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = HEIGHT - 52.0;
/// Around a drawing that is a file of its own.
const MARGIN: f64 = 12.0;
/// Between two names.
const LINE: f64 = 15.0;

/// A runtime's times by the size of a block.
struct Curve {
    name: String,
    look: Look,
    /// By the size of a block.
    points: Vec<Point>,
    /// Block size, and how the runs of this size failed.
    failed: Vec<(f64, String)>,
}

/// The value drawn at one block size, and its text.
struct Point {
    block: f64,
    drawn: f64,
    told: String,
}

/// How a line and its points look.
#[derive(Clone, Copy)]
enum Look {
    Ours,
    /// One of the colours; numbers beyond the last repeat them, thinner, with hollow points.
    Other(usize),
}

impl Look {
    fn of_line(self) -> String {
        match self {
            Self::Ours => "ours".to_string(),
            Self::Other(index) if index < SERIES => format!("curve c{index}"),
            Self::Other(index) => format!("curve c{} thin", index % SERIES),
        }
    }

    fn of_point(self) -> String {
        match self {
            Self::Other(index) if index >= SERIES => format!("c{} hollow", index % SERIES),
            _ => format!("dot {}", self.of_text()),
        }
    }

    fn of_text(self) -> String {
        match self {
            Self::Ours => "fours".to_string(),
            Self::Other(index) => format!("f{}", index % SERIES),
        }
    }
}

impl Curve {
    fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }
}

/// The subject of a drawing: one problem in blocks of several sizes.
pub struct Sweep {
    pub name: &'static str,
    pub title: &'static str,
    pub x_caption: &'static str,
    /// Size of a block of a work that belongs here.
    pub block: fn(&Work) -> Option<i64>,
    pub shown: Shown,
    /// Whether the smallest block is at the right, beside the names.
    pub is_falling: bool,
}

/// Which of the times of all rounds is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Best,
    Median,
    /// Nanoseconds of workers, of no round: a model's.
    Predicted,
}

impl Shown {
    pub fn of(self, spread: Spread) -> f64 {
        match self {
            Self::Best => spread.best,
            Self::Median | Self::Predicted => spread.median,
        }
    }

    fn caption(self) -> &'static str {
        match self {
            Self::Best => "seconds, best of all rounds: less is better",
            Self::Median => "seconds, median of all rounds: less is better",
            Self::Predicted => "ns of workers a task beside its body, predicted: less is better",
        }
    }
}

/// Elements a leaf of multiaxpy-noop.
pub fn leaf_of_multiaxpy(work: &Work) -> Option<i64> {
    (work.program == "multiaxpy-noop")
        .then(|| work.parameter("block_log2").map(|log2| 1 << log2))?
}

/// Rows of a tile of numbers of cholesky.
fn tile_of_cholesky(work: &Work) -> Option<i64> {
    (work.program == "cholesky").then(|| work.parameter("size").filter(|&size| size > 0))?
}

const SWEEPS: [Sweep; 2] = [
    Sweep {
        name: "multiaxpy-noop",
        title: "multiaxpy-noop: the same work in ever smaller leaves",
        x_caption: "elements a leaf; half of it, twice the tasks",
        block: leaf_of_multiaxpy,
        shown: Shown::Best,
        is_falling: false,
    },
    Sweep {
        name: "cholesky",
        title: "cholesky: the same matrix in ever smaller tiles",
        x_caption: "rows and columns a tile; half of it, eight times the tasks",
        block: tile_of_cholesky,
        shown: Shown::Best,
        is_falling: false,
    },
];

/// All of them.
pub fn sweeps() -> &'static [Sweep] {
    &SWEEPS
}

impl Sweep {
    /// Block size of a group that belongs here; tiles of nothing do not.
    pub fn block(&self, group: &Group) -> Option<i64> {
        (self.block)(&group.work)
    }
}

/// Whole files by their names; those without points are left out.
pub fn drawings(groups: &[Group], runtimes: &[Runtime]) -> Vec<(&'static str, String)> {
    inline(&SWEEPS, groups, runtimes, &style())
}

/// The beginning of a separate file: its colours, and a background.
fn style() -> String {
    format!(
        "<style>{CHART_CSS}{OWN_CSS}</style><rect class=\"paper\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" \
         width=\"100%\" height=\"100%\"/>"
    )
}

/// A name, and values by size.
pub type Line = (String, Vec<(f64, f64)>);

/// One whole file with these lines, of which the first is ours.
pub fn predicted(sweep: &Sweep, lines: &[Line]) -> Option<String> {
    let curve = |(index, (name, values)): (usize, &Line)| Curve {
        name: name.clone(),
        look: if index == 0 { Look::Ours } else { Look::Other(index) },
        points: values
            .iter()
            .map(|&(block, drawn)| Point { block, drawn, told: format!("{drawn:.1} ns") })
            .collect(),
        failed: Vec::new(),
    };
    let curves: Vec<Curve> = lines.iter().enumerate().map(curve).collect();
    curves.iter().any(|curve| !curve.points.is_empty()).then(|| draw(sweep, &curves, &style()))
}

/// One whole file, with the drawings below each other; none without points.
pub fn sheet(sweeps: &[Sweep], groups: &[Group], runtimes: &[Runtime]) -> Option<String> {
    let drawings = inline(sweeps, groups, runtimes, "");
    let step = HEIGHT + 2.0 * MARGIN;
    let (width, height) = (WIDTH + 2.0 * MARGIN, step * drawings.len() as f64);
    let mut body = style();
    for (row, (_, drawing)) in drawings.iter().enumerate() {
        let _ = write!(body, "<g transform=\"translate(0 {})\">{drawing}</g>", step * row as f64);
    }
    (!drawings.is_empty()).then(|| {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
             viewBox=\"-{MARGIN} -{MARGIN} {width} {height}\" width=\"{width}\" \
             height=\"{height}\">{body}</svg>\n"
        )
    })
}

/// The drawings for a page that has their colours.
pub fn figures(groups: &[Group], runtimes: &[Runtime]) -> Vec<(&'static str, String)> {
    inline(&SWEEPS, groups, runtimes, "")
}

fn inline(
    sweeps: &[Sweep],
    groups: &[Group],
    runtimes: &[Runtime],
    style: &str,
) -> Vec<(&'static str, String)> {
    let drawn = sweeps.iter().filter_map(|sweep| {
        let curves = curves(sweep, groups, runtimes);
        curves
            .iter()
            .any(|curve| !curve.points.is_empty())
            .then(|| (sweep.name, draw(sweep, &curves, style)))
    });
    drawn.collect()
}

fn curves(sweep: &Sweep, groups: &[Group], runtimes: &[Runtime]) -> Vec<Curve> {
    let first_of_ours = runtimes.iter().position(|runtime| runtime.is_ours);
    let mut curves = Vec::new();
    for (index, runtime) in runtimes.iter().enumerate() {
        let (mut points, mut failed) = (Vec::new(), Vec::new());
        for group in groups {
            let block = sweep.block(group);
            let row = group.rows.iter().find(|row| row.runtime == runtime.name);
            let (Some(block), Some(row)) = (block, row) else { continue };
            if let Some(figures) = row.figures {
                let drawn = figures.seconds(sweep.shown.of(figures.wall));
                let [best, median] =
                    [figures.wall.best, figures.wall.median].map(|ns| figures.seconds(ns));
                let told = format!("best {best:.4} s, median {median:.4} s");
                points.push(Point { block: block as f64, drawn, told });
            }
            if !row.failures.is_empty() {
                failed.push((block as f64, failures(row)));
            }
        }
        points.sort_by(|a, b| a.block.total_cmp(&b.block));
        let look = if first_of_ours == Some(index) { Look::Ours } else { Look::Other(index) };
        if !points.is_empty() || !failed.is_empty() {
            curves.push(Curve { name: runtime.name.clone(), look, points, failed });
        }
    }
    curves
}

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln().max(1e-9);
        self.from + share * (self.to - self.from)
    }
}

/// 1, 2, 5 times powers of ten, from the last below `low` to the first above `high`.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all: Vec<f64> =
        powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))).collect();
    let first = all.iter().rposition(|&tick| tick <= low).unwrap_or(0);
    let last = all.iter().position(|&tick| tick >= high).unwrap_or(all.len() - 1);
    all[first..=last].to_vec()
}

fn draw(sweep: &Sweep, curves: &[Curve], style: &str) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (low, high) = points()
        .fold((f64::INFINITY, 0_f64), |(low, high), p| (low.min(p.drawn), high.max(p.drawn)));
    let failed = || curves.iter().flat_map(|curve| &curve.failed);
    let mut blocks: Vec<f64> =
        points().map(|point| point.block).chain(failed().map(|failed| failed.0)).collect();
    blocks.sort_by(f64::total_cmp);
    blocks.dedup();
    let seconds = ticks(low, high);
    let (mut from, mut to) = (LEFT + 12.0, RIGHT);
    if sweep.is_falling {
        std::mem::swap(&mut from, &mut to);
    }
    let x = Axis { low: blocks[0], high: blocks[blocks.len() - 1], from, to };
    let failures = curves.iter().filter(|curve| curve.has_failed()).count();
    let to = TOP + LINE * failures as f64;
    let y = Axis { low: seconds[0], high: seconds[seconds.len() - 1], from: BOTTOM, to };

    let mut body = String::new();
    grid(&mut body, &x, &blocks, &y, &seconds);
    for curve in curves {
        line(&mut body, curve, &x, &y);
    }
    for (row, curve) in curves.iter().filter(|curve| curve.has_failed()).enumerate() {
        crosses(&mut body, curve, row, &x);
    }
    names(&mut body, curves, sweep, &y);
    text(&mut body, "head", (0.0, 14.0), "start", sweep.title);
    text(&mut body, "soft small", (0.0, TOP - 14.0), "start", sweep.shown.caption());
    text(&mut body, "soft small", ((LEFT + RIGHT) / 2.0, HEIGHT - 8.0), "middle", sweep.x_caption);
    // A page has a margin of its own.
    let margin = if style.is_empty() { 0.0 } else { MARGIN };
    let names = curves.iter().map(|curve| NAMES + LETTER * curve.name.len() as f64);
    let (width, height) = (names.fold(WIDTH, f64::max) + 2.0 * margin, HEIGHT + 2.0 * margin);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
         viewBox=\"-{margin} -{margin} {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\">{style}{body}</svg>\n",
        escape(sweep.title)
    )
}

fn grid(body: &mut String, x: &Axis, blocks: &[f64], y: &Axis, seconds: &[f64]) {
    for &block in blocks {
        rule(body, "grid", (x.at(block), TOP), (x.at(block), BOTTOM));
        let label = grouped(block as u64);
        text(body, "soft small", (x.at(block), BOTTOM + 17.0), "middle", &label);
    }
    for &tick in seconds {
        rule(body, "grid", (LEFT, y.at(tick)), (RIGHT, y.at(tick)));
        text(body, "soft small", (LEFT - 6.0, y.at(tick) + 4.0), "end", &tick_label(tick));
    }
}

/// A number beside an axis: those of a thousand and more are whole.
fn tick_label(tick: f64) -> String {
    if tick < 1000.0 { format!("{tick}") } else { grouped(tick as u64) }
}

fn line(body: &mut String, curve: &Curve, x: &Axis, y: &Axis) {
    let places: Vec<String> = curve
        .points
        .iter()
        .map(|point| format!("{:.1} {:.1}", x.at(point.block), y.at(point.drawn)))
        .collect();
    let class = curve.look.of_line();
    let _ = write!(body, "<path class=\"{class}\" d=\"M{}\"/>", places.join("L"));
    for Point { block, drawn, told } in &curve.points {
        let _ = write!(
            body,
            "<circle class=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{}, {}: {}</title>\
             </circle>",
            curve.look.of_point(),
            x.at(*block),
            y.at(*drawn),
            escape(&curve.name),
            grouped(*block as u64),
            escape(told),
        );
    }
}

/// Runs that failed, above the lines: a row for each runtime.
fn crosses(body: &mut String, curve: &Curve, row: usize, x: &Axis) {
    let y = TOP + LINE * row as f64 + 4.0;
    for (block, why) in &curve.failed {
        let _ = write!(
            body,
            "<text class=\"{}\" x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">✕<title>{}, {}: \
             {}</title></text>",
            curve.look.of_text(),
            x.at(*block),
            escape(&curve.name),
            grouped(*block as u64),
            escape(why),
        );
    }
    text(body, "", (RIGHT + 18.0, y), "start", &format!("✕ {}", curve.name));
}

/// Names beside the right ends, moved apart where those are close.
fn names(body: &mut String, curves: &[Curve], sweep: &Sweep, y: &Axis) {
    let right = |curve: &Curve| {
        let end = if sweep.is_falling { curve.points.first() } else { curve.points.last() };
        end.map(|point| y.at(point.drawn))
    };
    let mut ends: Vec<(f64, &Curve)> =
        curves.iter().filter_map(|curve| Some((right(curve)?, curve))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|end| end.0).collect();
    for ((end, curve), place) in ends.iter().zip(apart(&wanted)) {
        rule(body, "lead", (RIGHT + 5.0, *end), (RIGHT + 16.0, place));
        let at = place - 5.0;
        let _ = write!(
            body,
            "<rect class=\"{}\" x=\"{:.1}\" y=\"{at:.1}\" width=\"9\" height=\"9\"/>",
            curve.look.of_point(),
            RIGHT + 18.0
        );
        text(body, "", (NAMES, place + 4.0), "start", &curve.name);
    }
}

/// The places, in their order, each at least a line below the one before, within the drawing.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + LINE);
    }
    let mut limit = BOTTOM;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - LINE;
    }
    places
}

fn rule(body: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = write!(
        body,
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(body: &mut String, class: &str, at: (f64, f64), anchor: &str, text: &str) {
    let _ = write!(
        body,
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
        at.0,
        at.1,
        escape(text)
    );
}

/// Text for HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_enclose_what_is_shown() {
        assert_eq!(ticks(0.15, 0.3), [0.1, 0.2, 0.5]);
        assert_eq!(ticks(0.1, 1.0), [0.1, 0.2, 0.5, 1.0]);
    }

    #[test]
    fn large_numbers_beside_an_axis_have_separators() {
        assert_eq!([0.05, 500.0, 5e6].map(tick_label), ["0.05", "500", "5,000,000"]);
    }

    #[test]
    fn equal_factors_are_equally_far() {
        let axis = Axis { low: 1.0, high: 100.0, from: 0.0, to: 200.0 };
        assert!((axis.at(10.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn names_do_not_lie_on_each_other() {
        let places = apart(&[100.0, 101.0, 300.0, BOTTOM, BOTTOM]);
        assert_eq!(places, [100.0, 100.0 + LINE, 300.0, BOTTOM - LINE, BOTTOM]);
    }
}

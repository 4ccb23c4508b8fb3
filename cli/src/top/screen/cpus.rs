//! The CPUs: as many side by side as fit, and the rest by scrolling.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::{Setting, panel, shade};
use crate::top::view::{CpuRow, View};

/// Columns that one CPU takes at least, and lines of a panel that are not CPUs: title and heads.
const WIDTH: u16 = 38;
const HEADS: u16 = 2;
/// Cells of the bar of a busy CPU.
const BAR: usize = 8;

fn beside(width: u16) -> u16 {
    (width / WIDTH).max(1)
}

/// Lines in which all CPUs fit.
pub fn height(width: u16, cpus: usize) -> u16 {
    let rows = cpus.div_ceil(usize::from(beside(width)));
    u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(HEADS)
}

/// Draws the CPUs, and returns how many rows are scrolled out.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, setting: &Setting<'_>) -> usize {
    let beside = beside(area.width);
    let rows = usize::from(area.height.saturating_sub(HEADS)).max(1);
    let all_rows = view.cpus.len().div_ceil(usize::from(beside));
    let scrolled = setting.choice.scrolled.min(all_rows.saturating_sub(rows));
    let first = scrolled * usize::from(beside);
    let shown = view.cpus.get(first..).unwrap_or_default();
    let shown = &shown[..shown.len().min(rows * usize::from(beside))];
    let title = title(view, shown);
    let block = panel(title);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let places = Layout::horizontal(vec![Constraint::Fill(1); usize::from(beside)]).spacing(2);
    let columns = Columns::of(view);
    let rows = shown.len().div_ceil(usize::from(beside)).max(1);
    for (area, cpus) in places.split(inner).iter().zip(shown.chunks(rows)) {
        frame.render_widget(table(cpus, columns, setting), *area);
    }
    scrolled
}

fn title(view: &View, shown: &[CpuRow]) -> String {
    let all = view.cpus.len();
    let held = view.cpus.iter().filter(|cpu| cpu.level > 0).count();
    let held = if held > 0 { format!(", {held} hold a level") } else { String::new() };
    match (shown.first(), shown.last()) {
        (Some(first), Some(last)) if shown.len() < all => {
            format!("CPUs {}-{} of {all}{held} (Up and Down scroll)", first.cpu, last.cpu)
        }
        _ => format!("CPUs{held}"),
    }
}

/// Which columns have a figure on this machine.
#[derive(Clone, Copy)]
struct Columns {
    clock: bool,
    level: bool,
}

impl Columns {
    fn of(view: &View) -> Self {
        let clock = view.cpus.iter().any(|cpu| cpu.clock_mhz.is_some());
        Self { clock, level: view.machine.cpu_table.is_some() }
    }

    /// Those of six that are shown.
    fn keep<T>(self, [number, bar, busy, clock, level, group]: [T; 6]) -> Vec<T> {
        let clock = self.clock.then_some(clock);
        let level = self.level.then_some(level);
        [number, bar, busy].into_iter().chain(clock).chain(level).chain([group]).collect()
    }
}

fn table<'a>(cpus: &'a [CpuRow], columns: Columns, setting: &Setting<'_>) -> Table<'a> {
    let widths = columns.keep([
        Constraint::Length(3),
        Constraint::Length(BAR as u16),
        Constraint::Length(4),
        Constraint::Length(4),
        Constraint::Length(3),
        Constraint::Fill(1),
    ]);
    let group = if columns.level { "HOLDER/RUNS" } else { "RUNS" };
    let head = ["CPU", "BUSY", "%", "MHz", "LVL", group].map(|title| match title {
        "CPU" | "%" | "MHz" | "LVL" => Cell::from(Line::from(title).right_aligned()),
        _ => Cell::from(title),
    });
    let rows = cpus.iter().map(|cpu| Row::new(columns.keep(cells(cpu, setting))));
    Table::new(rows, widths).header(Row::new(columns.keep(head)).dim()).column_spacing(1)
}

fn cells<'a>(cpu: &'a CpuRow, setting: &Setting<'_>) -> [Cell<'a>; 6] {
    let right = |text: String| Cell::from(Line::from(text).right_aligned());
    let full = (cpu.busy_pct / 100.0 * BAR as f64).round() as usize;
    let bar = Span::styled("|".repeat(full.min(BAR)), shade(setting, Color::Green));
    let clock = cpu.clock_mhz.map_or("-".to_owned(), |mhz| mhz.to_string());
    let level = if cpu.level > 0 { cpu.level.to_string() } else { "-".to_owned() };
    // A core that holds a level is of interest for the group that demanded it.
    let group = match (&cpu.holder, &cpu.running) {
        (Some(holder), _) => Span::styled(holder.as_str(), shade(setting, Color::Magenta)),
        (None, Some(running)) => Span::from(running.as_str()),
        (None, None) => Span::from("-"),
    };
    [
        right(cpu.cpu.to_string()),
        Cell::from(bar),
        right(format!("{:.0}", cpu.busy_pct)),
        right(clock),
        right(level),
        Cell::from(group),
    ]
}

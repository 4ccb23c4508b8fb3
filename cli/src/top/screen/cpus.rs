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
    let columns = Layout::horizontal(vec![Constraint::Fill(1); usize::from(beside)]).spacing(2);
    let rows = shown.len().div_ceil(usize::from(beside)).max(1);
    for (area, cpus) in columns.split(inner).iter().zip(shown.chunks(rows)) {
        frame.render_widget(table(cpus, setting), *area);
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

fn table<'a>(cpus: &'a [CpuRow], setting: &Setting<'_>) -> Table<'a> {
    let widths = [
        Constraint::Length(3),
        Constraint::Length(BAR as u16),
        Constraint::Length(4),
        Constraint::Length(4),
        Constraint::Length(3),
        Constraint::Fill(1),
    ];
    let head = ["CPU", "BUSY", "%", "MHz", "LVL", "HOLDER/RUNS"].map(|title| match title {
        "CPU" | "%" | "MHz" | "LVL" => Cell::from(Line::from(title).right_aligned()),
        _ => Cell::from(title),
    });
    let rows = cpus.iter().map(|cpu| row(cpu, setting));
    Table::new(rows, widths).header(Row::new(head).dim()).column_spacing(1)
}

fn row<'a>(cpu: &'a CpuRow, setting: &Setting<'_>) -> Row<'a> {
    let right = |text: String| Cell::from(Line::from(text).right_aligned());
    let full = (cpu.busy_pct / 100.0 * BAR as f64).round() as usize;
    let bar = Span::styled("|".repeat(full.min(BAR)), shade(setting, Color::Green));
    let clock = cpu.clock_mhz.map_or("-".to_owned(), |mhz| mhz.to_string());
    let level = if cpu.level > 0 { cpu.level.to_string() } else { "-".to_owned() };
    // A core that holds a level is of interest for the group that demanded it.
    let who = match (&cpu.holder, &cpu.running) {
        (Some(holder), _) => Span::styled(holder.as_str(), shade(setting, Color::Magenta)),
        (None, Some(running)) => Span::from(running.as_str()),
        (None, None) => Span::from("-"),
    };
    Row::new([
        right(cpu.cpu.to_string()),
        Cell::from(bar),
        right(format!("{:.0}", cpu.busy_pct)),
        right(clock),
        right(level),
        Cell::from(who),
    ])
}

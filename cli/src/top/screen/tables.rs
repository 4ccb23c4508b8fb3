//! The victims, and the pairs of victims and culprits.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::{Setting, alarm, panel, shade};
use crate::top::text::optional;
use crate::top::view::{GroupRow, PairRow, Sort, View};

/// Columns of a figure of a pair.
const FIGURE: u16 = 7;
/// Screens with fewer columns have no room for all figures.
const NARROW: u16 = 64;
/// Shares of the interval, and of CPU time, that stand out, in percent.
const WAITING: [f64; 2] = [10.0, 50.0];
const SLOWER: [f64; 2] = [1.0, 5.0];
/// Losses that stand out, in milliseconds a second.
const PER_S: [f64; 2] = [10.0, 100.0];

/// Draws the victims.
pub fn victims(frame: &mut Frame<'_>, area: Rect, view: &View, setting: &Setting<'_>) {
    let all = view.shown_groups().count();
    let rows: Vec<&GroupRow> = view.shown_groups().take(lines(area)).collect();
    let sort = setting.choice.sort;
    let columns = [
        (Constraint::Fill(1), Cell::from("VICTIM")),
        (Constraint::Length(9), title("WAITING %", sort == Sort::Waiting)),
        (Constraint::Length(8), title("SLOWER %", sort == Sort::Slower)),
        (Constraint::Length(7), title("CPU %", sort == Sort::Cpu)),
        (Constraint::Length(8), title("BESIDE %", sort == Sort::Beside)),
        (Constraint::Length(10), right(view.number_title(), Style::new())),
    ];
    // A narrow screen has room for the first columns only.
    let count = if area.width < NARROW { columns.len() - 2 } else { columns.len() };
    let (widths, head): (Vec<_>, Vec<_>) = columns.into_iter().take(count).unzip();
    let table = Table::new(rows.iter().map(|row| victim(row, count, setting)), widths);
    let name = format!("Victims, {} of {all}", rows.len());
    let head = Row::new(head).dim();
    frame.render_widget(table.header(head).column_spacing(1).block(panel(name)), area);
}

fn victim<'a>(row: &'a GroupRow, columns: usize, setting: &Setting<'_>) -> Row<'a> {
    let plain = Style::new();
    let slower = alarm(setting, row.slower_pct.unwrap_or(0.0), SLOWER);
    let cells = [
        Cell::from(name(&row.name, row.is_wide, setting)),
        right(format!("{:.1}", row.waited_pct), alarm(setting, row.waited_pct, WAITING)),
        right(optional(row.slower_pct), slower),
        right(format!("{:.1}", row.cpu_pct), plain),
        right(format!("{:.1}", row.beside_pct), plain),
        right(row.group.to_string(), plain),
    ];
    Row::new(cells.into_iter().take(columns))
}

/// A group's name; one that uses 512-bit registers or tiles is marked.
fn name<'a>(name: &'a str, is_wide: bool, setting: &Setting<'_>) -> Line<'a> {
    if !is_wide {
        return Line::from(name);
    }
    let style = shade(setting, Color::Magenta);
    Line::from(vec![Span::styled("* ", style), Span::styled(name, style)])
}

/// Draws the pairs.
pub fn pairs(frame: &mut Frame<'_>, area: Rect, view: &View, setting: &Setting<'_>) {
    let all = view.shown_pairs().count();
    let rows: Vec<&PairRow> = view.shown_pairs().take(lines(area)).collect();
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(2),
        Constraint::Fill(1),
        Constraint::Length(FIGURE),
        Constraint::Length(FIGURE),
        Constraint::Length(FIGURE),
    ];
    let sort = setting.choice.sort;
    let head = Row::new([
        Cell::from("VICTIM"),
        Cell::from(""),
        Cell::from("CULPRIT"),
        title("WAITED", matches!(sort, Sort::Waiting | Sort::Cpu)),
        title("BESIDE", sort == Sort::Beside),
        title("LOST", sort == Sort::Slower),
    ]);
    let table = Table::new(rows.iter().map(|row| pair(view, row, setting)), widths);
    let name = format!("Pairs, {} of {all}, in ms a second", rows.len());
    frame.render_widget(table.header(head.dim()).column_spacing(1).block(panel(name)), area);
}

fn pair<'a>(view: &View, row: &'a PairRow, setting: &Setting<'_>) -> Row<'a> {
    let figure = |figure: f64| right(format!("{figure:.1}"), alarm(setting, figure, PER_S));
    let lost = alarm(setting, row.lost_ms_per_s.unwrap_or(0.0), PER_S);
    Row::new([
        Cell::from(view.named(row.victim_group, &row.victim)),
        Cell::from("<-"),
        Cell::from(view.named(row.culprit_group, &row.culprit)),
        figure(row.waited_ms_per_s),
        right(format!("{:.1}", row.beside_ms_per_s), Style::new()),
        right(optional(row.lost_ms_per_s), lost),
    ])
}

fn title(text: &'static str, is_sorted_by: bool) -> Cell<'static> {
    let style = if is_sorted_by { Modifier::UNDERLINED } else { Modifier::empty() };
    right(text, Style::new().add_modifier(style))
}

fn right<'a>(text: impl Into<String>, style: Style) -> Cell<'a> {
    Cell::from(Line::from(text.into()).right_aligned().style(style))
}

/// Rows for which a panel has room, below its title and its heads.
fn lines(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

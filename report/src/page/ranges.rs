//! Time ranges of a history: the reader chooses one, and sees which task ran on which CPU.
//!
//! The choice is a group of radio buttons and a rule of the style sheet, so it needs no script,
//! and the keyboard moves it. Without the style sheet, every range follows its button.

use super::figures::WIDE;
use super::parts::{Cell, details, table};
use super::tasks::{self, Names};
use crate::drawing::escape;
use crate::format::{counted, duration, percent, time_range, time_range_in, time_unit};
use crate::svg::{self, Look, level_name};
use crate::window::{Usage, Window, columns};

/// Names and limits that all drawings of a history share.
pub(super) struct Room<'a> {
    pub(super) names: &'a Names,
    pub(super) levels: &'a [String],
    /// How large the drawings of all ranges may become together.
    pub(super) bytes_max: usize,
    /// How many ranges there may be, and how many tell the stretches of all histories apart.
    pub(super) ranges_max: usize,
    pub(super) ranges_wanted: usize,
}

/// How many CPUs are drawn.
const CPUS_DRAWN: usize = 8;
/// How many CPUs a range's table lists.
const CPUS_LISTED: usize = 16;
/// How many programs a range's table lists.
const PROGRAMS_LISTED: usize = 12;
/// Stretches of a CPU in a range that can be told apart; about one in fifteen pixels.
const STRETCHES: usize = 60;
/// Ranges come in rows of so many.
pub(super) const A_ROW: usize = 8;
/// Columns of the picture of a range, and of that of all.
const COLUMNS: (usize, usize) = (24, 192);

/// How many ranges tell the stretches apart; 0 where the whole is enough.
pub(super) fn wanted(window: &Window) -> usize {
    let most = window.cpus.iter().take(CPUS_DRAWN).map(Vec::len).max().unwrap_or(0);
    if most <= STRETCHES { 0 } else { most.div_ceil(STRETCHES).next_multiple_of(A_ROW) }
}

/// The most rows of ranges that begin at a whole millisecond; as many as there may be where none
/// do.
fn count(window: &Window, room: &Room) -> usize {
    let most = room.ranges_max.min(room.ranges_wanted);
    let length_ns = window.to_ns - window.from_ns;
    let is_round = |count: &usize| length_ns.is_multiple_of(1_000_000 * *count as u64);
    let mut counts = (1..=most / A_ROW).rev().map(|rows| rows * A_ROW);
    counts.find(is_round).unwrap_or(most)
}

/// The whole and its parts; `id` is that of the history among those of the page.
pub(super) fn ranges(window: &Window, room: &Room, id: usize) -> String {
    let parts = window.parts(count(window, room) as u64);
    let bytes_max = room.bytes_max / (parts.len() + 1);
    let panes: Vec<String> =
        std::iter::once(window).chain(&parts).map(|part| pane(part, room, bytes_max)).collect();
    if parts.is_empty() {
        return panes.concat();
    }
    let unit = time_unit(window.to_ns);
    // From a quarter of the history on every application is at work.
    let chosen = 1 + parts.len() / 4;
    let mut html = format!(
        "<p class=\"hint\" id=\"hint-{id}\">Choose a time range, in {}: each tile shows how busy \
         the CPUs were, and at which level.</p>\n\
         <div class=\"ranges\" role=\"radiogroup\" aria-labelledby=\"hint-{id}\">\n",
        unit.0
    );
    for (number, (part, pane)) in std::iter::once(window).chain(&parts).zip(&panes).enumerate() {
        let all = number == 0;
        let columns_count = if all { COLUMNS.1 } else { COLUMNS.0 };
        let span = (part.from_ns, part.to_ns);
        let columns = columns(part.cpus.iter().flatten(), span, columns_count);
        let full = (span.1 - span.0) / columns_count as u64 * part.cpus.len() as u64;
        let class = if all { " class=\"all\"" } else { "" };
        let checked = if number == chosen { " checked=\"\"" } else { "" };
        html += &format!(
            "<input type=\"radio\" name=\"range-{id}\" id=\"range-{id}-{number}\"{checked}/>\
             <label for=\"range-{id}-{number}\"{class}>{}<b>{}{}</b> \
             <span>{:.0} % slow</span></label>\n<div class=\"pane\">\n{pane}</div>\n",
            svg::lane(&columns, full),
            if all { "All: " } else { "" },
            time_range_in(unit, span.0, span.1),
            part.slow_pct(),
        );
    }
    html + "</div>\n"
}

/// The tasks of each CPU in a range, drawn and as tables.
fn pane(part: &Window, room: &Room, bytes_max: usize) -> String {
    let programs = tasks::programs(part, room.names);
    let most = programs.first().map_or_else(String::new, |first| {
        let all: u64 = programs.iter().map(|program| program.usage.busy_ns).sum();
        let share = 100.0 * first.usage.busy_ns as f64 / all.max(1) as f64;
        format!("; {} ran most, {share:.0} %", first.name)
    });
    let range = time_range(part.from_ns, part.to_ns);
    let title =
        format!("{range}: {:.0} % of the CPU time below full frequency{most}", part.slow_pct());
    let threads = part.threads_per_core;
    let cpus = (CPUS_DRAWN / threads).max(1) * threads;
    let look = Look { names: room.names, levels: room.levels, cpus, bytes_max };
    let drawn = svg::gantt(part, &look, WIDE);
    let mut note = if cpus < part.cpus.len() {
        format!("The first {cpus} of {} are drawn. ", counted(part.cpus.len(), "CPU"))
    } else {
        String::new()
    };
    if let Some(ns) = drawn.column_ns {
        note += &format!(
            "What is too short to be drawn for itself is drawn in columns of {}, each in the \
             colour of what took most of it.",
            duration(ns)
        );
    }
    let tables = by_program(part, &programs, room, &range) + &by_cpu(part, room, &range);
    format!(
        "<h3>{0}</h3>\n<figure class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{0}\">\n{1}</figure>\n<p class=\"soft\">{note}</p>\n{2}",
        escape(&title),
        drawn.svg.inline(drawn.height, &title),
        details(&format!("{range} as tables"), &tables),
    )
}

/// Heads and cells of a usage by license level; the levels are those of the whole range.
struct Columns<'a> {
    levels: Vec<u8>,
    names: &'a [String],
}

impl<'a> Columns<'a> {
    fn new(part: &Window, names: &'a [String]) -> Self {
        Self { levels: part.level_shares_pct().into_keys().collect(), names }
    }

    fn heads(&self, first: &[&str]) -> Vec<String> {
        let mut heads: Vec<String> = first.iter().map(|head| (*head).to_owned()).collect();
        heads.extend(
            self.levels.iter().map(|level| format!("#of it {}", level_name(self.names, *level))),
        );
        heads.extend(["#slices".to_owned(), "#longest".to_owned()]);
        heads
    }

    fn cells(&self, usage: &Usage) -> Vec<Cell> {
        let share = |level: &u8| {
            let ns = usage.levels_ns.get(level).copied().unwrap_or(0);
            Cell::number(&percent(100.0 * ns as f64 / usage.busy_ns.max(1) as f64))
        };
        let mut cells: Vec<Cell> = self.levels.iter().map(share).collect();
        cells.push(Cell::number(&usage.slices.to_string()));
        cells.push(Cell::number(&duration(usage.longest_ns)));
        cells
    }

    fn table(&self, caption: &str, first: &[&str], rows: &[Vec<Cell>]) -> String {
        let heads = self.heads(first);
        table(caption, &heads.iter().map(String::as_str).collect::<Vec<_>>(), rows)
    }
}

fn by_program(part: &Window, programs: &[tasks::Program], room: &Room, range: &str) -> String {
    let columns = Columns::new(part, room.levels);
    let row = |name: &str, tasks: usize, usage: &Usage| {
        let mut row = vec![
            Cell::text(name),
            Cell::number(&tasks.to_string()),
            Cell::number(&duration(usage.busy_ns)),
        ];
        row.extend(columns.cells(usage));
        row
    };
    let (listed, others) = programs.split_at(programs.len().min(PROGRAMS_LISTED));
    let mut rows: Vec<Vec<Cell>> =
        listed.iter().map(|one| row(&one.name, one.tasks.len(), &one.usage)).collect();
    if !others.is_empty() {
        let mut usage = Usage::default();
        others.iter().for_each(|one| usage.join(&one.usage));
        let tasks = others.iter().map(|one| one.tasks.len()).sum();
        rows.push(row(&counted(others.len(), "other program"), tasks, &usage));
    }
    columns.table(&format!("Programs, {range}"), &["program", "#tasks", "#CPU time"], &rows)
}

fn by_cpu(part: &Window, room: &Room, range: &str) -> String {
    let columns = Columns::new(part, room.levels);
    let length_ns = (part.to_ns - part.from_ns).max(1);
    let row = |name: &str, cpus: usize, usage: &Usage| {
        let busy = 100.0 * usage.busy_ns as f64 / (length_ns as f64 * cpus as f64);
        let mut row = vec![Cell::text(name), Cell::number(&percent(busy))];
        row.extend(columns.cells(usage));
        row
    };
    let all = part.by_cpu();
    let (listed, others) = all.split_at(all.len().min(CPUS_LISTED));
    let mut rows: Vec<Vec<Cell>> = listed
        .iter()
        .enumerate()
        .map(|(cpu, usage)| row(&format!("CPU {cpu}"), 1, usage))
        .collect();
    if !others.is_empty() {
        let mut usage = Usage::default();
        others.iter().for_each(|one| usage.join(one));
        rows.push(row(&counted(others.len(), "other CPU"), others.len(), &usage));
    }
    columns.table(&format!("CPUs, {range}"), &["CPU", "#busy"], &rows)
}

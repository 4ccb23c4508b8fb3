//! The tasks of a history, grouped by their programs.

use std::collections::BTreeMap;

use super::parts::{Cell, details, table};
use crate::drawing::escape;
use crate::format::{counted, duration, grouped, percent};
use crate::svg;
use crate::window::{Stretch, Usage, Window, columns};

/// How many programs are seen at once, and how many have a line of their own.
const PROGRAMS_SHOWN: usize = 12;
const PROGRAMS_LISTED: usize = 40;
/// How many tasks are listed.
const TASKS_LISTED: usize = 400;
/// Columns of the picture of a program.
const COLUMNS: usize = 120;

/// Application and name of each task by its id, cleaned.
pub(super) type Names = BTreeMap<u32, (String, String)>;

/// A task that ran.
pub(super) struct Task {
    pub(super) tid: u32,
    name: String,
    usage: Usage,
}

/// A program that ran.
pub(super) struct Program {
    pub(super) name: String,
    /// Those that ran, the busiest first.
    pub(super) tasks: Vec<Task>,
    /// The sum of their usages.
    pub(super) usage: Usage,
}

/// The programs that ran in a window, the busiest first.
pub(super) fn programs(window: &Window, names: &Names) -> Vec<Program> {
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    for (tid, usage) in window.by_task() {
        let (app, name) = names
            .get(&tid)
            .cloned()
            .unwrap_or_else(|| (format!("task {tid}"), format!("task {tid}")));
        let program = programs.entry(app.clone()).or_insert_with(|| Program {
            name: app,
            tasks: Vec::new(),
            usage: Usage::default(),
        });
        program.usage.join(&usage);
        program.tasks.push(Task { tid, name, usage });
    }
    let mut programs: Vec<Program> = programs.into_values().collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.usage.busy_ns));
    for program in &mut programs {
        program.tasks.sort_by_key(|task| std::cmp::Reverse(task.usage.busy_ns));
    }
    programs
}

/// A line a program, which opens to its tasks.
pub(super) fn section(window: &Window, programs: &[Program]) -> String {
    let all_ns: u64 = programs.iter().map(|program| program.usage.busy_ns).sum();
    let Some(first) = programs.first() else { return String::new() };
    let share = |usage: &Usage| 100.0 * usage.busy_ns as f64 / all_ns.max(1) as f64;
    let title = format!(
        "{}: {} had most, {} of the CPU time",
        counted(programs.len(), "program"),
        first.name,
        percent(share(&first.usage))
    );
    let (listed, others) = programs.split_at(programs.len().min(PROGRAMS_LISTED));
    let mut tasks_left = TASKS_LISTED;
    let lines: Vec<String> = listed
        .iter()
        .zip(lanes(window, listed))
        .map(|(program, lane)| {
            let figures = format!(
                "{}, {} CPU time ({:.0} %), {:.0} % of it slow",
                counted(program.tasks.len(), "task"),
                duration(program.usage.busy_ns),
                share(&program.usage),
                program.usage.slow_pct()
            );
            format!(
                "<details><summary><span class=\"program\"><b>{}</b><span>{figures}</span>{lane}\
                 </span></summary>\n{}</details>\n",
                escape(&program.name),
                task_table(program, &mut tasks_left)
            )
        })
        .collect();
    let list = |lines: &[String]| format!("<div class=\"programs\">\n{}</div>\n", lines.concat());
    let (shown, folded) = lines.split_at(lines.len().min(PROGRAMS_SHOWN));
    let mut html = format!("<h3>{}</h3>\n{}", escape(&title), list(shown));
    if !folded.is_empty() {
        html += &details(&counted(folded.len(), "more program"), &list(folded));
    }
    if !others.is_empty() {
        let tasks = others.iter().map(|program| program.tasks.len()).sum();
        let ns = others.iter().map(|program| program.usage.busy_ns).sum();
        html += &format!(
            "<p class=\"soft\">And {} with {} and {} of CPU time together.</p>\n",
            counted(others.len(), "program"),
            counted(tasks, "task"),
            duration(ns)
        );
    }
    html
}

/// When each program ran and at which level; a full column is the most CPUs that one of them had.
fn lanes(window: &Window, programs: &[Program]) -> Vec<String> {
    let owner: BTreeMap<u32, usize> = programs
        .iter()
        .enumerate()
        .flat_map(|(number, program)| program.tasks.iter().map(move |task| (task.tid, number)))
        .collect();
    let mut stretches: Vec<Vec<Stretch>> = vec![Vec::new(); programs.len()];
    for stretch in window.cpus.iter().flatten() {
        if let Some(&number) = owner.get(&stretch.task) {
            stretches[number].push(*stretch);
        }
    }
    let span = (window.from_ns, window.to_ns);
    let all: Vec<_> = stretches.iter().map(|one| columns(one, span, COLUMNS)).collect();
    let most = all.iter().flatten().map(|column| column.iter().sum::<u64>()).max().unwrap_or(0);
    all.iter().map(|columns| svg::lane(columns, most)).collect()
}

fn task_table(program: &Program, left: &mut usize) -> String {
    let shown = program.tasks.len().min(*left);
    *left -= shown;
    let row = |task: &Task| {
        vec![
            Cell::text(&task.name),
            Cell::number(&task.tid.to_string()),
            Cell::number(&duration(task.usage.busy_ns)),
            Cell::number(&percent(task.usage.slow_pct())),
            Cell::number(&task.usage.slices.to_string()),
            Cell::number(&duration(task.usage.longest_ns)),
        ]
    };
    let rows: Vec<Vec<Cell>> = program.tasks[..shown].iter().map(row).collect();
    let heads = ["task", "#id", "#CPU time", "#of it slow", "#slices", "#longest"];
    let mut html = table(&format!("Tasks of {}", program.name), &heads, &rows);
    if shown < program.tasks.len() {
        let more = grouped(program.tasks.len() - shown);
        html += &format!("<p class=\"soft\">{more} tasks that had less are not listed.</p>\n");
    }
    html
}

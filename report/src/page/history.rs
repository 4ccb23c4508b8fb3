//! Histories: which task ran on which CPU, in time ranges that the reader chooses.

use super::Gantt;
use super::parts::{Part, details};
use super::ranges::{self, Room};
use super::tasks::{self, Names};
use crate::comparison::Comparison;
use crate::drawing::escape;
use crate::format::{clean, counted, grouped, time_range, variant};
use crate::verdict::findings;
use crate::window::Window;

/// How large the drawings of all histories may become together.
const BYTES_MAX: usize = 2_000_000;
/// How much more room a history has that the first sentence is about, and in how many rows of time
/// ranges.
const MAIN: usize = 4;
const MAIN_ROWS: usize = 3;

/// A part for each history; those that the first sentence is not about are folded.
pub(super) fn histories(comparison: &Comparison, gantts: &[Gantt]) -> Vec<Part> {
    let is_main: Vec<bool> = main_ones(comparison, gantts);
    let weight = |is_main: bool| if is_main { MAIN } else { 1 };
    let all: usize = is_main.iter().copied().map(weight).sum();
    let windows: Vec<Window> =
        gantts.iter().map(|gantt| Window::of(gantt.history, gantt.span_ns)).collect();
    // The same ranges everywhere, so that the same time can be compared.
    let ranges_wanted = windows.iter().map(ranges::wanted).max().unwrap_or(0);
    let parts = gantts.iter().zip(&windows).zip(is_main).enumerate();
    let part = |(id, ((gantt, window), is_main)): (usize, ((&Gantt, &Window), bool))| {
        let rows = if is_main { MAIN_ROWS } else { 1 };
        let names = names(gantt);
        let room = Room {
            names: &names,
            levels: &comparison.level_names,
            bytes_max: BYTES_MAX * weight(is_main) / all,
            ranges_max: rows * ranges::A_ROW,
            ranges_wanted,
        };
        let Part { title, html } = history(gantt, window, &room, id);
        let html = if is_main { html } else { details("Show this history", &html) };
        Part { title, html }
    };
    parts.map(part).collect()
}

fn names(gantt: &Gantt) -> Names {
    let tasks = gantt.history.header.tasks.iter();
    tasks.map(|task| (task.tid, (clean(&task.app), clean(&task.comm)))).collect()
}

/// The histories that the first sentence concerns; the first history if that sentence concerns
/// none.
fn main_ones(comparison: &Comparison, gantts: &[Gantt]) -> Vec<bool> {
    let found = findings(comparison);
    let named: Vec<&str> = found.first().map_or_else(Vec::new, |first| {
        let best = first.best.map(|run| run.scheduler.as_str());
        std::iter::once(first.baseline.scheduler.as_str()).chain(best).collect()
    });
    let mut is_main: Vec<bool> =
        gantts.iter().map(|gantt| named.contains(&gantt.scheduler)).collect();
    if let (false, Some(first)) = (is_main.contains(&true), is_main.first_mut()) {
        *first = true;
    }
    is_main
}

fn history(gantt: &Gantt, window: &Window, room: &Room, id: usize) -> Part {
    let with = gantt.program.map_or_else(String::new, |name| format!(" with {}", clean(name)));
    let title = format!(
        "Under {}{with}, {:.0} % of the CPU time shown ran below full frequency",
        clean(gantt.scheduler),
        window.slow_pct()
    );
    let programs = tasks::programs(window, room.names);
    let count = programs.iter().map(|program| program.tasks.len()).sum();
    let intro = format!(
        "<p class=\"soft\">Background {}: {} switches of {} in {} on {}, {}; coloured by \
         the license level of the core, with its frequency beneath.</p>\n",
        escape(&variant(gantt.background)),
        grouped(window.switches()),
        counted(count, "task"),
        counted(programs.len(), "program"),
        counted(window.cpus.len(), "CPU"),
        time_range(window.from_ns, window.to_ns),
    );
    let html = format!(
        "{intro}{}{}{}",
        perfetto(gantt),
        ranges::ranges(window, room, id),
        tasks::section(window, &programs)
    );
    Part { title, html }
}

/// A paragraph that says where to see every switch of the history.
fn perfetto(gantt: &Gantt) -> String {
    match gantt.perfetto {
        Some(file) => format!(
            "<p>Every switch is in <a href=\"{}\" download=\"\">{}</a>: open \
             <a href=\"https://ui.perfetto.dev/\" rel=\"noreferrer\">ui.perfetto.dev</a> in a \
             browser, choose <b>Open trace file</b> there, and take this file. It stays on your \
             machine.</p>\n",
            address(file),
            escape(file.rsplit('/').next().unwrap_or(file))
        ),
        None => "<p class=\"soft\">To zoom to every switch: the same command with \
                 <code>--page FILE.pftrace</code> writes this history for ui.perfetto.dev.</p>\n"
            .to_owned(),
    }
}

/// A relative path as an address, encoded so that no part reads as a scheme, a query or markup.
fn address(path: &str) -> String {
    let mut address = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            other => address += &format!("%{other:02X}"),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_becomes_neither_a_scheme_nor_markup() {
        assert_eq!(address("out/a-1.pftrace"), "out/a-1.pftrace");
        assert_eq!(address("javascript:x?y#z\"ä"), "javascript%3Ax%3Fy%23z%22%C3%A4");
    }
}

//! The page of a recording: the CPU time of programs, and the scheduler's refunds and bills.

use std::collections::BTreeMap;

use trace::{Event, History};

use super::document;
use super::figures::both;
use super::parts::{Cell, Part, first, join, left_out, table};
use crate::drawing::escape;
use crate::format::{clean, counted, duration, grouped, percent, time_range};
use crate::svg::{Heat, Look, gantt, heat};
use crate::window::{Usage, Window};

/// How much of the middle of a recording is drawn stretch by stretch, in ns.
const DRAWN_NS: u64 = 100_000_000;
const CPUS_DRAWN: usize = 8;
const DRAWING_BYTES_MAX: usize = 400_000;
/// How many programs are listed, and how many victims and culprits a matrix shows.
const PROGRAMS_LISTED: usize = 40;
const SHOWN: (usize, usize) = (24, 8);

/// A program of the recording.
#[derive(Default)]
struct Program {
    tasks: usize,
    usage: Usage,
    given_back_ns: u64,
    billed_ns: u64,
}

/// Usage, refunds and bills of the recording, by program.
struct Books {
    programs: BTreeMap<String, Program>,
    /// Time given back, by victim and culprit.
    losses_ns: BTreeMap<(String, String), u64>,
    busy_ns: u64,
    given_back_ns: u64,
}

/// The page as HTML; `name` is that of the recording.
#[must_use]
pub fn recording_page(history: &History, name: &str) -> String {
    let window = Window::of(history, [history.header.start_ns, history.header.end_ns]);
    let books = Books::of(history, &window);
    let mut all = Vec::new();
    all.extend(books.losses());
    all.push(books.table());
    all.push(middle(history, &window));
    let (list, html) = join(&all);
    let main = format!(
        "<p class=\"soft\">{}</p>\n<h1 class=\"verdict\">{}</h1>\n<p class=\"soft\">{}</p>\n\
         <nav aria-label=\"Parts of this page\"><details><summary>On this page</summary>\n\
         {list}</details></nav>\n{html}",
        escape(name),
        escape(&books.sentence()),
        escape(&place(history, &window))
    );
    document(&format!("{name} – Evenkeel"), &main)
}

fn place(history: &History, window: &Window) -> String {
    let facts = history.header.facts.iter();
    let facts: Vec<String> = facts.map(|(name, fact)| format!("{name} {}", clean(fact))).collect();
    let facts = if facts.is_empty() { String::new() } else { format!("; {}", facts.join(", ")) };
    format!(
        "{} switches on {} in {}{facts}.",
        grouped(window.switches()),
        counted(window.cpus.len(), "CPU"),
        duration(window.to_ns - window.from_ns)
    )
}

impl Books {
    fn of(history: &History, window: &Window) -> Self {
        let apps: BTreeMap<u32, String> =
            history.header.tasks.iter().map(|task| (task.tid, clean(&task.app))).collect();
        let app = |tid: u32| apps.get(&tid).cloned().unwrap_or_else(|| format!("task {tid}"));
        let mut books = Self {
            programs: BTreeMap::new(),
            losses_ns: BTreeMap::new(),
            busy_ns: 0,
            given_back_ns: 0,
        };
        for (tid, usage) in window.by_task() {
            let program = books.programs.entry(app(tid)).or_default();
            program.tasks += 1;
            program.usage.join(&usage);
            books.busy_ns += usage.busy_ns;
        }
        for record in &history.records {
            let Event::Decision { victim, culprit, refund_ns, bill_ns, .. } = record.event else {
                continue;
            };
            books.given_back_ns += refund_ns;
            books.programs.entry(app(victim)).or_default().given_back_ns += refund_ns;
            if culprit != 0 {
                books.programs.entry(app(culprit)).or_default().billed_ns += bill_ns;
                *books.losses_ns.entry((app(victim), app(culprit))).or_default() += refund_ns;
            }
        }
        books
    }

    fn sentence(&self) -> String {
        let most = self.programs.iter().max_by_key(|(_, program)| program.given_back_ns);
        let Some((victim, program)) = most.filter(|(_, program)| program.given_back_ns > 0) else {
            return "Nobody was given time back.".to_owned();
        };
        let back = 100.0 * program.given_back_ns as f64 / program.usage.busy_ns.max(1) as f64;
        let payer = self.programs.iter().max_by_key(|(_, program)| program.billed_ns);
        let payer = match payer.filter(|(_, program)| program.billed_ns > 0) {
            Some((name, _)) => format!("; {name} paid most of it"),
            None => "; nobody was billed".to_owned(),
        };
        format!("{victim} was given {} of its CPU time back{payer}.", percent(back))
    }

    /// The matrix of victims and culprits.
    fn losses(&self) -> Option<Part> {
        let by = |of: fn(&(String, String)) -> &String| {
            let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
            for (pair, ns) in &self.losses_ns {
                *sums.entry(of(pair)).or_default() += ns;
            }
            let mut sums: Vec<_> = sums.into_iter().collect();
            sums.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
            sums.into_iter().map(|(name, _)| name.clone()).collect::<Vec<String>>()
        };
        let (mut victims, mut culprits) = (by(|pair| &pair.0), by(|pair| &pair.1));
        victims.truncate(SHOWN.0);
        culprits.truncate(SHOWN.1);
        let loudest = culprits.first()?.clone();
        let value = |victim: &String, culprit: &String| {
            let lost = self.losses_ns.get(&(victim.clone(), culprit.clone()));
            let busy_ns = self.programs[victim].usage.busy_ns.max(1);
            100.0 * lost.copied().unwrap_or(0) as f64 / busy_ns as f64
        };
        let row = |victim| culprits.iter().map(|culprit| value(victim, culprit)).collect();
        let values: Vec<Vec<f64>> = victims.iter().map(row).collect();
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let (svg, height) = heat(
            &Heat { victims, culprits, values, lost: "CPU time lost", ..Heat::default() },
            most,
        );
        let drawing = svg.inline(height, "CPU time given back, by victim and culprit");
        Some(Part {
            title: format!(
                "{} of all CPU time was given back, most of it because of {loudest}",
                percent(100.0 * self.given_back_ns as f64 / self.busy_ns.max(1) as f64)
            ),
            html: format!(
                "<p class=\"soft\">Share of a victim's CPU time that the scheduler took to be \
                 lost to the license of another program, and did not charge.</p>\n\
                 <figure class=\"scroll\" role=\"region\" tabindex=\"0\" \
                 aria-label=\"CPU time given back\">{drawing}</figure>\n"
            ),
        })
    }

    fn table(&self) -> Part {
        let mut programs: Vec<(&String, &Program)> = self.programs.iter().collect();
        programs.sort_by_key(|(_, program)| std::cmp::Reverse(program.usage.busy_ns));
        let busiest = programs.first().map_or_else(String::new, |(name, _)| (*name).clone());
        let (listed, more) = first(programs, PROGRAMS_LISTED);
        let share = |ns: u64, of: u64| percent(100.0 * ns as f64 / of.max(1) as f64);
        let rows: Vec<Vec<Cell>> = listed
            .into_iter()
            .map(|(name, program)| {
                let busy_ns = program.usage.busy_ns;
                vec![
                    Cell::text(name),
                    Cell::number(&grouped(program.tasks)),
                    Cell::number(&duration(busy_ns)),
                    Cell::number(&share(busy_ns, self.busy_ns)),
                    Cell::number(&grouped(program.usage.slices as usize)),
                    Cell::number(&duration(program.given_back_ns)),
                    Cell::number(&share(program.given_back_ns, busy_ns)),
                    Cell::number(&duration(program.billed_ns)),
                    Cell::number(&share(program.billed_ns, busy_ns)),
                ]
            })
            .collect();
        let heads = [
            "program",
            "#tasks",
            "#CPU time",
            "#of all",
            "#slices",
            "#given back",
            "#of its own",
            "#billed",
            "#of its own",
        ];
        let more = if more == 0 { String::new() } else { left_out(more, "programs") };
        Part {
            title: format!("{busiest} had most of the CPU time"),
            html: table("Programs, by CPU time", &heads, &rows) + &more,
        }
    }
}

/// The tasks on each CPU in the middle of the recording.
fn middle(history: &History, window: &Window) -> Part {
    let half_ns = (window.to_ns - window.from_ns) / 2;
    let from_ns = window.from_ns + half_ns.saturating_sub(DRAWN_NS / 2);
    let part = window.part(from_ns, (from_ns + DRAWN_NS).min(window.to_ns));
    let tasks = history.header.tasks.iter();
    let names = tasks.map(|task| (task.tid, (clean(&task.app), clean(&task.comm)))).collect();
    let look = Look { names: &names, levels: &[], cpus: CPUS_DRAWN, bytes_max: DRAWING_BYTES_MAX };
    let label = "who ran where";
    let drawing = both(label, |width| {
        let drawn = gantt(&part, &look, width);
        (drawn.svg, drawn.height)
    });
    Part {
        title: format!("Who ran where, {}", time_range(part.from_ns, part.to_ns)),
        html: format!(
            "{drawing}<p class=\"soft\">The middle of the recording. Every switch of it is in the \
             file that <code>evenkeel trace export</code> writes for ui.perfetto.dev.</p>\n"
        ),
    }
}

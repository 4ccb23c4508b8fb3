//! One self-contained page: the answer, figures with their tables, and the command that makes it.
//!
//! No script, no font, nothing fetched: it opens offline, forbids itself all else by its content
//! security policy, and is well-formed XML too, which a test checks. It links to its own parts, to
//! the traces that were written with it, and to the viewer of those.

mod evaluation;
mod figures;
mod history;
mod latency;
mod losses;
mod machine;
mod machine_tables;
mod parts;
mod profile;
mod ranges;
mod recording;
mod reproduction;
mod tasks;
mod work;

use trace::History;

use crate::comparison::Comparison;
use crate::drawing::{CHART_CSS, PAGE_CSS, escape};
use crate::format::counted;
use crate::verdict;

pub use evaluation::evaluation_page;
pub use figures::bars_svg;
pub use machine::machine_page;
pub use profile::profile_page;
pub use recording::recording_page;
pub use reproduction::reproduction_page;

/// A history that the page shows, and its run.
#[derive(Clone, Copy, Debug)]
pub struct Gantt<'a> {
    /// Scheduler of the run.
    pub scheduler: &'a str,
    /// Background of the run.
    pub background: &'a str,
    /// Program of the run, if the comparison has several.
    pub program: Option<&'a str>,
    /// Its history.
    pub history: &'a History,
    /// Begin and end of the part that is shown, in ns.
    pub span_ns: [u64; 2],
    /// Where its trace for Perfetto is, seen from the page; parts separated by `/`.
    pub perfetto: Option<&'a str>,
}

/// The page as HTML. `gantts` are shown in their order.
#[must_use]
pub fn page(comparison: &Comparison, gantts: &[Gantt]) -> String {
    let sentences = verdict::sentences(comparison);
    let mut main = format!("<p class=\"soft\">{}</p>\n", escape(&comparison.scenario));
    for (index, sentence) in sentences.iter().enumerate() {
        let (element, class) = if index == 0 { ("h1", "verdict") } else { ("p", "more") };
        main += &format!("<{element} class=\"{class}\">{}</{element}>\n", escape(sentence));
    }
    main += &format!(
        "<p class=\"soft\">{} {}</p>\n",
        escape(&comparison.description),
        escape(&comparison.settings_text())
    );
    let mut all = vec![figures::means(comparison)];
    all.extend(figures::programs(comparison));
    all.extend(losses::losses(comparison));
    all.extend(history::histories(comparison, gantts));
    all.extend(latency::latency(comparison));
    all.extend([work::work(comparison), work::settings(comparison)]);
    let (list, html) = parts::join(&all);
    main += &format!(
        "<nav aria-label=\"Parts of this page\"><details><summary>{}</summary>\n\
         {list}</details></nav>\n{html}",
        escape(&contents(comparison, gantts))
    );
    document(&format!("{} – {} – Evenkeel", all[0].title, comparison.scenario), &main)
}

/// A page of that title around its contents.
fn document(title: &str, main: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
         form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{}</title>\n<style>\n{CHART_CSS}{}</style>\n</head>\n<body>\n<main>\n\
         {main}</main>\n</body>\n</html>\n",
        escape(title),
        PAGE_CSS,
    )
}

/// The numbers of runs, schedulers, backgrounds and histories, in a line.
fn contents(comparison: &Comparison, gantts: &[Gantt]) -> String {
    let first = comparison.runs.first();
    let per_run = first.map_or(0, |run| run.programs * run.replicates);
    format!(
        "On this page: {} of {} and {}, {}",
        counted(comparison.runs.len() * per_run, "simulated run"),
        counted(figures::schedulers(comparison).len(), "scheduler"),
        counted(verdict::backgrounds(comparison).len() + 1, "background"),
        match gantts.len() {
            0 => "no history".to_owned(),
            1 => "1 history".to_owned(),
            many => format!("{many} histories"),
        }
    )
}

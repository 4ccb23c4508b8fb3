//! One self-contained page: the answer, figures with their tables, and how to get it again.
//!
//! No script, no font, no address: it opens offline, forbids itself all else by its content
//! security policy, and is well-formed XML too, which a test checks.

mod figures;
mod losses;
mod moments;
mod parts;

use trace::History;

use crate::comparison::Comparison;
use crate::svg::{CHART_CSS, escape};
use crate::{verdict, words};

pub use figures::bars_svg;

/// A history to look into, and the run it is of.
#[derive(Clone, Copy, Debug)]
pub struct Gantt<'a> {
    /// Scheduler of the run.
    pub scheduler: &'a str,
    /// Background of the run.
    pub background: &'a str,
    /// Program of the run, where there are several.
    pub program: Option<&'a str>,
    /// Its history.
    pub history: &'a History,
}

/// The page as HTML. `gantts` are shown in their order.
#[must_use]
pub fn page(comparison: &Comparison, gantts: &[Gantt]) -> String {
    let title = format!("Evenkeel: {}", escape(&comparison.scenario));
    let sentences = verdict::sentences(comparison);
    let mut main = String::new();
    for (index, sentence) in sentences.iter().enumerate() {
        let class = if index == 0 { "verdict" } else { "more" };
        main += &format!("<p class=\"{class}\">{}</p>\n", escape(sentence));
    }
    main += &format!(
        "<p class=\"soft\">{} {}</p>\n",
        escape(&comparison.description),
        escape(&words::settings(comparison))
    );
    main += &figures::means(comparison);
    main += &figures::programs(comparison);
    main += &losses::losses(comparison);
    for gantt in gantts {
        main += &moments::history(comparison, gantt);
    }
    main += &moments::latency(comparison);
    main += &parts::work(comparison);
    main += &parts::settings(comparison);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
         form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{CHART_CSS}{}</style>\n</head>\n<body>\n<main>\n\
         <h1>{}</h1>\n{main}</main>\n</body>\n</html>\n",
        include_str!("page/page.css"),
        escape(&comparison.scenario),
    )
}

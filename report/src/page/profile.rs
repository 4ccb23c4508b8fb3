//! The page of a profile: the answer, who lost how much to whom, when what ran, and where culprits
//! call the code that others lose to.
//!
//! The parts show the largest of everything and say how much they leave out, so that a page of any
//! profile stays below 2 MB.

mod comparison;
mod losses;
mod programs;
mod shared;
mod stacks;
mod times;

use super::document;
use super::parts::{Cell, Part, first, join, table};
use crate::drawing::escape;
use crate::format::counted;
use crate::profile::words::{self, NOTE_MAX, cut};
use crate::profile::{View, answer};
use shared::left_out;

/// How many facts and notes are shown.
const FACTS_MAX: usize = 60;
const NOTES_MAX: usize = 40;

/// The page of a profile as HTML.
#[must_use]
pub fn profile_page(view: &View) -> String {
    let title = words::name(&view.title);
    let mut main = format!("<p class=\"soft\">{}</p>\n", escape(&title));
    let sentences = answer(view);
    for (index, sentence) in sentences.iter().enumerate() {
        let (element, class) = if index == 0 { ("h1", "verdict") } else { ("p", "more") };
        // A unit stays on the line of its number.
        let sentence = escape(sentence).replace(" %", "\u{a0}%");
        main += &format!("<{element} class=\"{class}\">{sentence}</{element}>\n");
    }
    main += &format!("<p class=\"soft\">{}</p>\n", escape(&cut(&view.estimator, NOTE_MAX)));
    let mut all: Vec<Part> = view.comparison.iter().map(comparison::comparison).collect();
    all.extend([losses::losses(view), programs::programs(view)]);
    all.extend(times::times(&view.time_line));
    all.extend(stacks::stacks(&view.stacks));
    all.extend(about(view));
    let (list, html) = join(&all);
    main += &format!(
        "<nav aria-label=\"Parts of this page\"><details><summary>On this page: {}</summary>\n\
         {list}</details></nav>\n{html}",
        counted(all.len(), "part")
    );
    document(&format!("{} – {title} – Evenkeel", sentences[0].trim_end_matches('.')), &main)
}

/// How the profile was made, and what a reader should know.
fn about(view: &View) -> Option<Part> {
    if view.facts.is_empty() && view.notes.is_empty() {
        return None;
    }
    let mut html = String::new();
    let (facts, facts_more) = first(view.facts.iter().collect(), FACTS_MAX);
    let row = |fact: &(String, String)| {
        vec![Cell::text(&words::name(&fact.0)), Cell::text(&cut(&fact.1, NOTE_MAX))]
    };
    let rows: Vec<Vec<Cell>> = facts.into_iter().map(row).collect();
    if !rows.is_empty() {
        html += &table("How the profile was made", &["fact", "value"], &rows);
    }
    let (notes, notes_more) = first(view.notes.iter().collect(), NOTES_MAX);
    if !notes.is_empty() {
        html += "<ul class=\"soft\">\n";
        for note in notes {
            html += &format!("<li>{}</li>\n", escape(&cut(note, NOTE_MAX)));
        }
        html += "</ul>\n";
    }
    html += &left_out(facts_more, "fact");
    html += &left_out(notes_more, "note");
    Some(Part { title: "How this was measured".to_owned(), html })
}

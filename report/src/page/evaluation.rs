//! The page of an evaluation: goals, mixes, experiments, ablations, deliberate errors.

mod ablations;
mod mixes;
mod variants;
mod works;

use super::document;
use super::parts::{Cell, Part, details, join, table};
use crate::drawing::escape;
use crate::evaluation::{Evaluation, Kind, Work, verdict};
use crate::format::{clean, list, tenths, variant};
use crate::mixes::{Mean, Summary};
use crate::verdict::distinct;

/// The page as HTML.
#[must_use]
pub fn evaluation_page(evaluation: &Evaluation) -> String {
    let about = &evaluation.about;
    let mut parts: Vec<Part> = goals(evaluation).into_iter().collect();
    parts.extend(evaluation.of_kind(Kind::Mixes).flat_map(|work| mixes::mixes(evaluation, work)));
    parts.extend(works::works(evaluation, Kind::Scenario, "Experiments"));
    parts.extend(works::works(evaluation, Kind::Recording, "Recordings"));
    parts.extend(ablations::ablations(evaluation));
    parts.extend(variants::variants(evaluation));
    parts.push(again(evaluation));
    let (list, html) = join(&parts);
    let main = format!(
        "<p class=\"soft\">{}</p>\n<h1 class=\"verdict\">{}</h1>\n<p class=\"more\">{}</p>\n\
         <p class=\"soft\">{}</p>\n\
         <nav aria-label=\"Parts of this page\"><details open=\"open\"><summary>On this page\
         </summary>\n{list}</details></nav>\n{html}",
        escape(&about.title),
        escape(&headline(evaluation)),
        escape(&verdict(evaluation)),
        escape(&about.description),
    );
    document(&format!("{} – Evenkeel", clean(&about.title)), &main)
}

/// How far programs are off under the judged scheduler and the first, on mixes or else on the first
/// work.
fn headline(evaluation: &Evaluation) -> String {
    let mixes = evaluation.of_kind(Kind::Mixes).next();
    let Some(work) = mixes.or(evaluation.works.first()) else {
        return "Nothing was run".to_owned();
    };
    let judged = clean(&evaluation.about.judged);
    let says = |background: &&str| {
        let ours = summary(work, &evaluation.about.judged, background)?;
        let off = tenths(ours.isolation_slowdown_pct.mean);
        let slower = tenths(ours.slowdown_only_pct.mean);
        let first = work.summaries.first().filter(|one| one.scheduler != ours.scheduler);
        let theirs = first.and_then(|first| summary(work, &first.scheduler, background));
        let theirs = theirs.map_or_else(String::new, |first| {
            format!("; {} {} %", clean(&first.scheduler), tenths(first.isolation_slowdown_pct.mean))
        });
        Some(format!("{off} % beside {} (slower by {slower} %{theirs})", variant(background)))
    };
    let all: Vec<String> = backgrounds(work).iter().filter_map(says).collect();
    let what = match work.kind {
        Kind::Mixes => mixes::counted_mixes(work),
        Kind::Scenario | Kind::Recording => clean(&work.name),
    };
    format!("Under {judged}, programs of {what} are off by {}.", list(&all))
}

/// The summary of a scheduler with the first sensor set.
fn summary<'a>(work: &'a Work, scheduler: &str, background: &str) -> Option<&'a Summary> {
    let is_meant = |one: &&Summary| one.scheduler == scheduler && one.background == background;
    work.summaries.iter().find(is_meant)
}

fn backgrounds(work: &Work) -> Vec<&str> {
    distinct(work.summaries.iter().map(|one| one.background.as_str()))
}

/// Schedulers in order of appearance; the place is the colour.
fn schedulers(evaluation: &Evaluation) -> Vec<&str> {
    distinct(
        evaluation
            .works
            .iter()
            .flat_map(|work| work.summaries.iter().map(|one| one.scheduler.as_str())),
    )
}

fn series(evaluation: &Evaluation, scheduler: &str) -> usize {
    schedulers(evaluation).iter().position(|name| *name == scheduler).unwrap_or(0)
}

fn whisker(mean: &Mean) -> Option<[f64; 2]> {
    mean.ci95_half_width.map(|half| [mean.mean - half, mean.mean + half])
}

/// |x| and slowdowns alone.
fn both_slowdowns(one: &Summary) -> String {
    let slower = tenths(one.slowdown_only_pct.mean);
    format!("{} ({slower})", one.isolation_slowdown_pct.words())
}

/// `None` where nothing is to be reached.
fn goals(evaluation: &Evaluation) -> Option<Part> {
    let works = evaluation.works.iter().filter(|work| work.variant.is_none());
    let rows: Vec<Vec<Cell>> = works
        .flat_map(|work| work.goals.iter().map(move |goal| (work, goal)))
        .map(|(work, goal)| {
            let holds = goal.holds();
            vec![
                Cell::text(&work.name),
                Cell::text(&variant(&goal.background)),
                Cell::text(goal.figure),
                Cell::number(&goal.found_words()),
                Cell::text(&goal.bound_words()),
                Cell::judged(if holds { "reached" } else { "MISSED" }, Some(holds)),
            ]
        })
        .collect();
    let heads = ["work", "beside", "figure", "#found", "goal", "outcome"];
    let title = "Goals and what became of them".to_owned();
    (!rows.is_empty()).then(|| Part { html: table("Goals", &heads, &rows), title })
}

const DEFINITIONS: [(&str, &str); 8] = [
    (
        "slowdown",
        "Mean over programs of |completion beside this background over completion beside the \
         control - 1|; speed-ups count, since they are unwanted too. In brackets: speed-ups as 0.",
    ),
    (
        "±",
        "Half a 95 % interval: over mixes, or of one experiment over its seeds or fitted parameter \
         sets.",
    ),
    (
        "difference",
        "In the same mix, then the mean over mixes; of one experiment by program. Its interval is \
         that of the differences.",
    ),
    (
        "culprits",
        "Rate of work of the background applications that use AVX over their rate beside the \
         control, under the same scheduler.",
    ),
    (
        "throughput",
        "Mean over all applications of their rate of work over that beside the control under the \
         first scheduler (STP by application, Eyerman and Eeckhout 2008).",
    ),
    (
        "right, found",
        "Of the time lost that the policy attributed to another application, how much that had \
         caused; of all time lost to others, how much it attributed rightly.",
    ),
    (
        "wake p99",
        "99th percentile of the time from wake-up to the first instruction over that under the \
         first scheduler, both at least 5 µs: geometric mean over mixes with 100 wake-ups.",
    ),
    ("levels", "Share of busy core time at license level 0, 1 and so on."),
];

/// How to get the page, and each of its works, again.
fn again(evaluation: &Evaluation) -> Part {
    let about = &evaluation.about;
    let half = about.half.as_ref().map_or_else(String::new, |half| format!(" Mixes: {half}."));
    let mut html = format!("<pre>{}</pre>\n", escape(&about.command));
    html += &format!(
        "<p class=\"soft\">evenkeel {}.{} Each work alone, with --scheduler as wanted; a variant \
         replaces or adds flags. Paths are seen from the folder of the study.</p>\n",
        escape(&about.evenkeel),
        escape(&half)
    );
    let works = || evaluation.works.iter().filter(|work| work.variant.is_none());
    let row = |work: &Work| {
        let fitted = match &work.calibrated_on[..] {
            [] => "nothing".to_owned(),
            ids => list(ids),
        };
        vec![
            Cell::text(&work.name),
            Cell::text(&format!("evenkeel {}", work.command)),
            Cell::text(&work.cpu),
            Cell::text(&fitted),
        ]
    };
    let heads = ["work", "command", "CPU", "parameters are fitted to"];
    html += &table("Commands", &heads, &works().map(row).collect::<Vec<_>>());
    for work in works().filter(|work| !work.notes.is_empty()) {
        let notes: Vec<String> =
            work.notes.iter().map(|note| format!("<p>{}</p>\n", escape(note))).collect();
        html += &details(&format!("Notes on {}", clean(&work.name)), &notes.concat());
    }
    html += "<dl>\n";
    for (term, words) in DEFINITIONS {
        html += &format!("<dt>{}</dt><dd>{}</dd>\n", escape(term), escape(words));
    }
    html += "</dl>\n";
    Part { title: "How to get this again, and what the figures mean".to_owned(), html }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::testing::evaluation;

    #[test]
    fn the_page_is_well_formed_and_names_missed_goals() {
        let page = evaluation_page(&evaluation());
        let text = page.strip_prefix("<!DOCTYPE html>").unwrap();
        let mut reader = quick_xml::Reader::from_str(text);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        assert!(page.contains("What &lt;even&gt; is worth"));
        assert!(page.contains("<span class=\"miss\">MISSED</span>"));
        for words in ["names only", "without swaps", "half load", "evenkeel mixes --mixes 2"] {
            assert!(page.contains(words), "{words}");
        }
    }

    #[test]
    fn the_headline_is_of_mixes_and_names_both_sides() {
        let says = headline(&evaluation());
        let expected = "Under even, programs of 2 random mixes are off by 2.0 % beside AVX-512 \
                        (slower by 2.0 %; fair 8.5 %).";
        assert_eq!(says, expected);
    }
}

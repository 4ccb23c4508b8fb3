//! The page of an evaluation: goals, mixes, experiments, parts left out, what may be wrong.

mod ablations;
mod mixes;
mod variants;
mod works;

use super::document;
use super::parts::{Cell, Part, join, table};
use crate::evaluation::{Evaluation, Kind, Work, verdict};
use crate::mixes::{Mean, Summary};
use crate::svg::escape;
use crate::verdict::distinct;
use crate::words::{clean, tenths, variant};

/// The page as HTML.
#[must_use]
pub fn evaluation_page(evaluation: &Evaluation) -> String {
    let about = &evaluation.about;
    let mut parts = vec![goals(evaluation)];
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

/// What the judged scheduler leaves of the slowdown under the first, on mixes or else on the first
/// work.
fn headline(evaluation: &Evaluation) -> String {
    let mixes = evaluation.of_kind(Kind::Mixes).next();
    let Some(work) = mixes.or(evaluation.works.first()) else {
        return "Nothing was run".to_owned();
    };
    let judged = clean(&evaluation.about.judged);
    let says = |background: &&str| {
        let of = |name: &str| {
            summary(work, name, background).map(|one| one.isolation_slowdown_pct.words())
        };
        let first = work.summaries.first()?;
        let (ours, theirs) = (of(&evaluation.about.judged)?, of(&first.scheduler)?);
        let beside = variant(background);
        Some(format!("{ours} % beside {beside} ({}: {theirs} %)", clean(&first.scheduler)))
    };
    let all: Vec<String> = backgrounds(work).iter().filter_map(says).collect();
    let what = if work.kind == Kind::Mixes {
        format!("over {} random mixes", work.mixes.len())
    } else {
        format!("in {}", clean(&work.name))
    };
    format!("{judged} slows programs by {} {what}.", crate::words::list(&all))
}

/// The summary of a scheduler with the first sensor set.
fn summary<'a>(work: &'a Work, scheduler: &str, background: &str) -> Option<&'a Summary> {
    let is_meant = |one: &&Summary| one.scheduler == scheduler && one.background == background;
    work.summaries.iter().find(is_meant)
}

fn backgrounds(work: &Work) -> Vec<&str> {
    distinct(work.summaries.iter().map(|one| one.background.as_str()))
}

/// Schedulers of the works as they are, in order of appearance; the place is the colour.
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

fn goals(evaluation: &Evaluation) -> Part {
    let works = evaluation.works.iter().filter(|work| work.variant.is_none());
    let rows: Vec<Vec<Cell>> = works
        .flat_map(|work| work.goals.iter().map(move |goal| (work, goal)))
        .map(|(work, goal)| {
            vec![
                Cell::text(&work.name),
                Cell::text(&variant(&goal.background)),
                Cell::text(goal.figure),
                Cell::number(&goal.number(goal.found)),
                Cell::text(&goal.bound_words()),
                Cell::judged(if goal.holds { "reached" } else { "MISSED" }, Some(goal.holds)),
            ]
        })
        .collect();
    let heads = ["work", "beside", "figure", "#found", "goal", "outcome"];
    let html = "<p class=\"soft\">Goals were fixed before. All figures are predictions of the \
                model.</p>\n"
        .to_owned();
    Part {
        title: "Goals and what became of them".to_owned(),
        html: html + &table("Goals", &heads, &rows),
    }
}

const DEFINITIONS: [(&str, &str); 8] = [
    (
        "slowdown",
        "Mean over programs of |completion beside this background over completion beside the \
         control - 1|; speed-ups count, since they are unwanted too. In brackets: speed-ups as 0.",
    ),
    ("±", "Half a 95 % interval: over mixes, or of one experiment over its seeds."),
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
    let mut html = format!("<pre>{}</pre>\n", escape(&about.command));
    html += &format!(
        "<p class=\"soft\">evenkeel {}. Mixes: {}. Each work alone, with --scheduler as wanted; a \
         variant adds its flags. Paths are seen from the folder of the study.</p>\n",
        escape(&about.evenkeel),
        escape(&about.half)
    );
    let works = evaluation.works.iter().filter(|work| work.variant.is_none());
    let row = |work: &Work| {
        vec![Cell::text(&work.name), Cell::text(&format!("evenkeel {}", work.command))]
    };
    html += &table("Commands", &["work", "command"], &works.map(row).collect::<Vec<_>>());
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
    fn the_page_is_well_formed_and_says_what_was_missed() {
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
        assert!(says.starts_with("even slows programs by 2.0 ±0.0 % beside AVX-512"), "{says}");
        assert!(says.contains("(fair: 8.5"), "{says}");
    }
}

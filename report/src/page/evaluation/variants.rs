//! The judged scheduler under deliberate errors: a row a variant, a column a work.

use super::{both_slowdowns, summary};
use crate::evaluation::{Evaluation, Judged, Variant, Work};
use crate::format::{clean, variant};
use crate::page::parts::{Cell, Part, Rows, grouped_table};
use crate::verdict::distinct;

/// `None` where nothing is wrong.
pub(super) fn variants(evaluation: &Evaluation) -> Option<Part> {
    let variants = evaluation.variants();
    if variants.is_empty() {
        return None;
    }
    let in_variants = || evaluation.works.iter().filter(|work| work.variant.is_some());
    let works = distinct(in_variants().map(|work| work.name.as_str()));
    let mut heads = vec!["variant".to_owned(), "#goals times".to_owned()];
    heads.extend(works.iter().map(|work| clean(work)));
    heads.push("flags".to_owned());
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let of_works = in_variants().flat_map(super::backgrounds);
    let groups: Vec<Rows> = distinct(of_works)
        .into_iter()
        .map(|background| Rows {
            head: format!("Beside {}", variant(background)),
            rows: std::iter::once(None)
                .chain(variants.iter().map(|one| Some(*one)))
                .map(|one| row(evaluation, &works, one, background))
                .collect(),
        })
        .collect();
    let judged = clean(&evaluation.about.judged);
    let title = format!("{judged} in variants: what it knows is wrong, or the machine another");
    let note = format!(
        "<p class=\"soft\">Mean slowdown of programs under {judged} in %, in brackets with \
         speed-ups as 0. MISSED: the goal that was exceeded by more than the factor of the \
         row.</p>\n"
    );
    Some(Part { html: note + &grouped_table(&title, &heads, &groups), title })
}

fn row(
    evaluation: &Evaluation,
    works: &[&str],
    wrong: Option<&Variant>,
    background: &str,
) -> Vec<Cell> {
    let mut cells = vec![
        Cell::text(wrong.map_or("as it is", |wrong| wrong.name.as_str())),
        Cell::number(&wrong.map_or_else(|| "1".to_owned(), |it| it.allowance.to_string())),
    ];
    for name in works {
        let is_meant = |work: &&Work| work.name == *name && work.variant.as_ref() == wrong;
        let work = evaluation.works.iter().find(is_meant);
        let one = work.and_then(|work| summary(work, &evaluation.about.judged, background));
        let (Some(work), Some(one)) = (work, one) else {
            cells.push(Cell::text("–"));
            continue;
        };
        let is_of = |goal: &&Judged| goal.is_loss && goal.background == background;
        let goals = || work.goals.iter().filter(is_of);
        let missed: Vec<String> = goals()
            .filter(|goal| !goal.holds())
            .map(|goal| match goal.figure.trim_end_matches(", %") {
                shown @ ("slowdown" | "slower") => shown.to_owned(),
                other => format!("{other} {}", goal.found_words()),
            })
            .collect();
        let hit = goals().next().map(|_| missed.is_empty());
        let missed = match &missed[..] {
            [] => String::new(),
            missed => format!(" MISSED: {}", missed.join(", ")),
        };
        cells.push(Cell::judged(&format!("{}{missed}", both_slowdowns(one)), hit));
    }
    cells.push(Cell::text(wrong.map_or("", |wrong| wrong.flags.as_str())));
    cells
}

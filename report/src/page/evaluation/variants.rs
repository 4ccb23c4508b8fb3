//! What is left of the judged scheduler where something is wrong: a row a variant, a column a work.

use super::{both_slowdowns, summary};
use crate::evaluation::{Evaluation, Judged, Outcome, Variant, Work};
use crate::page::parts::{Cell, Part, Rows, grouped_table};
use crate::verdict::distinct;
use crate::words::{clean, variant};

/// `None` where nothing is wrong.
pub(super) fn variants(evaluation: &Evaluation) -> Option<Part> {
    let variants = evaluation.variants();
    if variants.is_empty() {
        return None;
    }
    let in_variants = || evaluation.works.iter().filter(|work| work.variant.is_some());
    let works = distinct(in_variants().map(|work| work.name.as_str()));
    let mut heads = vec!["what is wrong".to_owned()];
    heads.extend(works.iter().map(|work| format!("#{}", clean(work))));
    heads.extend(["goals times".to_owned(), "flags".to_owned()]);
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
    let title = format!("{judged} where what it knows is wrong");
    let note = format!(
        "<p class=\"soft\">Mean slowdown of programs under {judged} in %, in brackets with \
         speed-ups as 0. MISSED: slowdown, slowdowns alone or a program exceeds its goal by more \
         than the factor of the row.</p>\n"
    );
    Some(Part { html: note + &grouped_table(&title, &heads, &groups), title })
}

fn row(
    evaluation: &Evaluation,
    works: &[&str],
    wrong: Option<&Variant>,
    background: &str,
) -> Vec<Cell> {
    let mut cells = vec![Cell::text(wrong.map_or("nothing", |wrong| wrong.name.as_str()))];
    for name in works {
        let is_meant = |work: &&Work| work.name == *name && work.variant.as_ref() == wrong;
        let work = evaluation.works.iter().find(is_meant);
        let one = work.and_then(|work| summary(work, &evaluation.about.judged, background));
        let (Some(work), Some(one)) = (work, one) else {
            cells.push(Cell::text("–"));
            continue;
        };
        let is_of = |goal: &&Judged| goal.is_loss && goal.background == background;
        let outcome = Outcome::of(work.goals.iter().filter(is_of));
        let missed = if outcome == Outcome::Missed { " MISSED" } else { "" };
        cells.push(Cell::judged(&format!("{}{missed}", both_slowdowns(one)), outcome.hit()));
    }
    cells.push(Cell::text(&wrong.map_or_else(|| "1".to_owned(), |it| it.allowance.to_string())));
    cells.push(Cell::text(wrong.map_or("", |wrong| wrong.flags.as_str())));
    cells
}

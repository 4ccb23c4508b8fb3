//! The gain by each part of the judged scheduler: figures without that part, less those of the
//! whole.

use super::whisker;
use crate::evaluation::{Evaluation, Kind, Work};
use crate::format::{clean, tenths, variant};
use crate::mixes::{Mean, Summary};
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, Rows, grouped_table};
use crate::svg::{self, Bar, Group};
use crate::verdict::distinct;

/// `None` where nothing is left out.
pub(super) fn ablations(evaluation: &Evaluation) -> Option<Part> {
    let works = || {
        let kinds = [Kind::Mixes, Kind::Scenario, Kind::Recording];
        let all = kinds.into_iter().flat_map(|kind| evaluation.of_kind(kind));
        all.filter(|work| !work.ablations.is_empty())
    };
    works().next()?;
    let judged = clean(&evaluation.about.judged);
    // Where nothing is to be reached, the table is enough.
    let has_goals = |work: &&Work| !work.goals.is_empty();
    let groups: Vec<Group> =
        works().filter(has_goals).flat_map(|work| groups(evaluation, work)).collect();
    let title = format!("What each part of {judged} gives");
    let unit = "slowdown without the part, less that of the whole, points; left of 0 it did harm";
    let figure = if groups.is_empty() {
        String::new()
    } else {
        both(&title, |width| svg::bars(&groups, width, 12.0, unit))
    };
    let heads = ["without", "#slowdown", "#slower", "#culprits", "#throughput", "#of mixes better"];
    let rows: Vec<Rows> = works().flat_map(|work| rows(evaluation, work)).collect();
    let table = grouped_table(&format!("{title}, in points"), &heads, &rows);
    let note = format!(
        "<p class=\"soft\">Each line is {judged} without one part, less {judged} itself, in the \
         same mix (of one experiment: by program). What raises slowdowns is worth having; \
         speed-ups count as slowdowns in the first column and as 0 in the second.</p>\n"
    );
    Some(Part { title, html: format!("{figure}{note}{table}") })
}

/// The part that is left out.
fn part(evaluation: &Evaluation, scheduler: &str) -> String {
    let name = scheduler.strip_prefix(evaluation.about.judged.as_str()).unwrap_or(scheduler);
    clean(name.trim_start_matches('-')).replace("without-", "without ")
}

fn beside<'a>(work: &'a Work, background: &'a str) -> impl Iterator<Item = &'a Summary> {
    work.ablations.iter().filter(move |one| one.background == background)
}

fn backgrounds(work: &Work) -> Vec<&str> {
    distinct(work.ablations.iter().map(|one| one.background.as_str()))
}

fn head(work: &Work, background: &str) -> String {
    format!("{}, beside {}", clean(&work.name), variant(background))
}

fn groups(evaluation: &Evaluation, work: &Work) -> Vec<Group> {
    let bar = |(at, one): (usize, &Summary)| {
        let slowdown = &one.less_first.as_ref()?.isolation_slowdown_pct;
        Some(Bar {
            name: part(evaluation, &one.scheduler),
            series: at,
            value: slowdown.mean,
            whisker: whisker(slowdown),
            mark: None,
            label: tenths(slowdown.mean),
            title: format!("{}: {}", clean(&one.scheduler), slowdown.words()),
        })
    };
    let group = |background: &str| Group {
        name: head(work, background),
        bars: beside(work, background).enumerate().filter_map(bar).collect(),
    };
    backgrounds(work).into_iter().map(group).collect()
}

fn rows(evaluation: &Evaluation, work: &Work) -> Vec<Rows> {
    let or_dash = |mean: Option<&Mean>| mean.map_or_else(|| "–".to_owned(), Mean::words);
    let row = |one: &Summary| {
        let less = one.less_first.as_ref()?;
        Some(vec![
            Cell::text(&part(evaluation, &one.scheduler)),
            Cell::number(&less.isolation_slowdown_pct.words()),
            Cell::number(&less.slowdown_only_pct.words()),
            Cell::number(&or_dash(less.culprit_rate_pct.as_ref())),
            Cell::number(&less.throughput_pct.words()),
            Cell::number(&match one.mixes {
                1 => "–".to_owned(),
                mixes => format!("{} of {mixes}", less.mixes_less_slowed),
            }),
        ])
    };
    let group = |background: &str| Rows {
        head: head(work, background),
        rows: beside(work, background).filter_map(row).collect(),
    };
    backgrounds(work).into_iter().map(group).collect()
}

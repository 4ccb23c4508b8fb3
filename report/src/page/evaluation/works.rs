//! Experiments and recordings: a chart of the schedulers in question, a table of all.

use super::{backgrounds, both_slowdowns, schedulers, series, summary, whisker};
use crate::evaluation::{Evaluation, Kind, Work};
use crate::mixes::MixRun;
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, legend, table};
use crate::svg::{self, Bar, Group};
use crate::words::{clean, published, tenths, variant};

/// `None` where the study has no work of this kind.
pub(super) fn works(evaluation: &Evaluation, kind: Kind, what: &str) -> Option<Part> {
    evaluation.of_kind(kind).next()?;
    let shown: Vec<String> = evaluation.about.beside.iter().map(|name| clean(name)).collect();
    let colors: Vec<usize> =
        evaluation.about.beside.iter().map(|name| series(evaluation, name)).collect();
    let groups: Vec<Group> =
        evaluation.of_kind(kind).flat_map(|work| groups(evaluation, work)).collect();
    let title = format!("{what} under every scheduler");
    let figure = both(&title, |width| svg::bars(&groups, width, 12.0, "mean slowdown, %"));
    let mut html = legend(&shown, &colors) + &figure;
    if groups.iter().flat_map(|group| &group.bars).any(|bar| bar.mark.is_some()) {
        html += "<p class=\"soft\">The diamond is the published figure.</p>\n";
    }
    html += "<p class=\"soft\">In the table: mean slowdown in %, in brackets with speed-ups as \
             0.</p>\n";
    Some(Part { title, html: html + &all(evaluation, kind, what) })
}

fn groups(evaluation: &Evaluation, work: &Work) -> Vec<Group> {
    let group = |background: &str| {
        let bar = |name: &String| {
            let one = summary(work, name, background)?;
            let run = work.mixes.first()?.runs.iter().find(|run| is_of(run, name, background))?;
            let slowdown = &one.isolation_slowdown_pct;
            let beside = run.published.as_ref();
            let beside = beside.filter(|one| one.figure == "isolation_slowdown_pct");
            let said =
                beside.map_or_else(String::new, |it| format!(" – published {}", published(it)));
            Some(Bar {
                name: String::new(),
                series: series(evaluation, name),
                value: slowdown.mean,
                whisker: whisker(slowdown),
                mark: beside.map(|it| it.value),
                label: tenths(slowdown.mean),
                title: format!("{}: {} %{said}", clean(name), slowdown.words()),
            })
        };
        Group {
            name: format!("{}, beside {}", clean(&work.name), variant(background)),
            bars: evaluation.about.beside.iter().filter_map(bar).collect(),
        }
    };
    backgrounds(work).into_iter().map(group).collect()
}

fn is_of(run: &MixRun, scheduler: &str, background: &str) -> bool {
    run.scheduler == scheduler && run.background == background
}

fn all(evaluation: &Evaluation, kind: Kind, what: &str) -> String {
    let names = schedulers(evaluation);
    let mut heads = vec!["work".to_owned(), "beside".to_owned()];
    heads.extend(names.iter().map(|name| format!("#{}", clean(name))));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let row = |work: &Work, background: &str| {
        let mut cells = vec![Cell::text(&work.name), Cell::text(&variant(background))];
        cells.extend(names.iter().map(|name| {
            let one = summary(work, name, background);
            Cell::number(&one.map_or_else(|| "–".to_owned(), both_slowdowns))
        }));
        cells
    };
    let rows: Vec<Vec<Cell>> = evaluation
        .of_kind(kind)
        .flat_map(|work| backgrounds(work).into_iter().map(move |beside| row(work, beside)))
        .collect();
    table(&format!("{what}: all schedulers"), &heads, &rows)
}

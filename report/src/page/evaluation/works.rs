//! Experiments and recordings: a chart of the schedulers in question, a table of all.

use super::{backgrounds, both_slowdowns, schedulers, series, summary, whisker};
use crate::evaluation::{Evaluation, Kind, Work};
use crate::format::{amount, clean, figure_words, how, tenths, variant};
use crate::mixes::MixRun;
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, details, legend, table};
use crate::svg::{self, Bar, Group};

/// `None` where the study has no work of this kind.
pub(super) fn works(evaluation: &Evaluation, kind: Kind, what: &str) -> Option<Part> {
    evaluation.of_kind(kind).next()?;
    let shown: Vec<String> = evaluation.about.shown.iter().map(|name| clean(name)).collect();
    let colors: Vec<usize> =
        evaluation.about.shown.iter().map(|name| series(evaluation, name)).collect();
    let groups: Vec<Group> =
        evaluation.of_kind(kind).flat_map(|work| groups(evaluation, work)).collect();
    let title = format!("{what} under every scheduler");
    let figure = both(&title, |width| svg::bars(&groups, width, 12.0, "mean slowdown, %"));
    let mut html = legend(&shown, &colors) + &figure;
    if groups.iter().flat_map(|group| &group.bars).any(|bar| bar.mark.is_some()) {
        html += "<p class=\"soft\">The diamond is the published figure. <b>Calibrated</b>: \
                 parameters were fitted to that very figure. <b>Predicted</b>: nothing was fitted \
                 to it.</p>\n";
    }
    html += "<p class=\"soft\">In the table: mean slowdown in %, in brackets with speed-ups as \
             0.</p>\n";
    html += &all(evaluation, kind, what);
    html += &beside_published(evaluation, kind);
    Some(Part { title, html })
}

/// Nothing where nothing was published.
fn beside_published(evaluation: &Evaluation, kind: Kind) -> String {
    let row = |work: &Work, run: &MixRun| {
        let beside = run.published.as_ref()?;
        Some(vec![
            Cell::text(&work.name),
            Cell::text(&variant(&run.background)),
            Cell::text(&run.scheduler),
            Cell::text(&figure_words(&beside.figure)),
            Cell::number(&amount(&beside.figure, beside.value)),
            Cell::number(&amount(&beside.figure, beside.ours)),
            Cell::text(how(beside.calibrated)),
            Cell::judged(&beside.outcome(), beside.hit),
            Cell::text(&beside.source),
        ])
    };
    let runs = evaluation.of_kind(kind).flat_map(|work| {
        let mixes = work.mixes.iter();
        mixes.flat_map(move |mix| mix.runs.iter().map(move |run| (work, run)))
    });
    let rows: Vec<Vec<Cell>> = runs.filter_map(|(work, run)| row(work, run)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let heads = [
        "work",
        "beside",
        "scheduler",
        "figure",
        "#published",
        "#ours",
        "how",
        "outcome",
        "source",
    ];
    details("Beside what was published", &table("Published figures", &heads, &rows))
}

fn groups(evaluation: &Evaluation, work: &Work) -> Vec<Group> {
    let group = |background: &str| {
        let bar = |name: &String| {
            let one = summary(work, name, background)?;
            let run = work.mixes.first()?.runs.iter().find(|run| is_of(run, name, background))?;
            let slowdown = &one.isolation_slowdown_pct;
            let beside = run.published.as_ref();
            let beside = beside.filter(|one| one.figure == "isolation_slowdown_pct");
            let said = beside.map_or_else(String::new, |it| format!(" – published {}", it.text()));
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
            bars: evaluation.about.shown.iter().filter_map(bar).collect(),
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

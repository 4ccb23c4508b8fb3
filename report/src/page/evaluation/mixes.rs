//! Random mixes: means and spread of all schedulers, and the losses of culprits.

use super::{backgrounds, schedulers, series, whisker};
use crate::evaluation::{Evaluation, Work};
use crate::format::{clean, grouped, signed_percent, tenths, variant};
use crate::mixes::{LessFirst, Mean, Mix, Summary};
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, Rows, details, grouped_table};
use crate::svg::{self, Bar, Curve, Group, Quantity};

const SLOWDOWN: Quantity = Quantity {
    caption: "mean |slowdown| of the programs of a mix (log)",
    least: 0.1,
    label: |pct| format!("{pct} %"),
};

pub(super) fn mixes(evaluation: &Evaluation, work: &Work) -> Vec<Part> {
    vec![means(evaluation, work), spread(evaluation, work), others(work)]
}

fn means(evaluation: &Evaluation, work: &Work) -> Part {
    let group = |background: &&str| {
        let bar = |one: &Summary| {
            let text = one.isolation_slowdown_pct.words();
            Bar {
                name: clean(&one.scheduler),
                series: series(evaluation, &one.scheduler),
                value: one.isolation_slowdown_pct.mean,
                whisker: whisker(&one.isolation_slowdown_pct),
                mark: None,
                label: format!("{text} (slower {})", tenths(one.slowdown_only_pct.mean)),
                title: format!("{}: {text} %", clean(&one.scheduler)),
            }
        };
        let beside = work.summaries.iter().filter(|one| one.background == **background);
        Group { name: format!("Beside {}", variant(background)), bars: beside.map(bar).collect() }
    };
    let groups: Vec<Group> = backgrounds(work).iter().map(group).collect();
    let title = format!("{} under every scheduler", counted_mixes(work));
    let figure = both(&title, |width| svg::bars(&groups, width, 15.0, "mean slowdown, %"));
    let note = "<p class=\"soft\">Whiskers: 95 % interval over mixes. Schedulers are compared \
                within each mix below, which is far surer.</p>\n";
    Part { title, html: format!("{figure}{note}") }
}

pub(super) fn counted_mixes(work: &Work) -> String {
    match work.mixes.len() {
        1 => "a random mix".to_owned(),
        many => format!("{} random mixes", grouped(many)),
    }
}

/// How much of the mixes is slowed by how much, under those that charts show.
fn spread(evaluation: &Evaluation, work: &Work) -> Part {
    let shown: Vec<&str> = schedulers(evaluation)
        .into_iter()
        .filter(|name| evaluation.about.shown.iter().any(|shown| shown == name))
        .collect();
    let mut html = String::new();
    for background in backgrounds(work) {
        let curve = |name: &&str| Curve {
            name: clean(name),
            series: series(evaluation, name),
            points: distribution(&work.mixes, name, background),
        };
        let curves: Vec<Curve> = shown.iter().map(curve).collect();
        let label = format!("Slowdowns by mix beside {}", variant(background));
        html += &format!("<h3>Beside {}</h3>\n", crate::drawing::escape(&variant(background)));
        html += &both(&label, |width| svg::ecdf(&curves, SLOWDOWN, width));
    }
    Part { title: "How many mixes are slowed by how much".to_owned(), html }
}

/// Slowdowns and the share of mixes up to each.
fn distribution(mixes: &[Mix], scheduler: &str, background: &str) -> Vec<(f64, f64)> {
    let of = |mix: &Mix| {
        let mut runs = mix.runs.iter();
        let run = runs.find(|run| run.scheduler == scheduler && run.background == background)?;
        Some(run.isolation_slowdown_pct)
    };
    let mut values: Vec<f64> = mixes.iter().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    values.into_iter().enumerate().map(|(at, value)| (value, (at + 1) as f64 / count)).collect()
}

/// Everything else that is known of each scheduler.
fn others(work: &Work) -> Part {
    let heads = [
        "scheduler",
        "#slowdown",
        "#median",
        "#slower",
        "#signed",
        "worst program",
        "#culprits",
        "#throughput",
        "#right",
        "#found",
        "#wake p99",
        "levels",
        "#cut off",
    ];
    let of = |row: fn(&Summary) -> Vec<Cell>| -> Vec<Rows> {
        let rows = |background: &&str| Rows {
            head: format!("Beside {}", variant(background)),
            rows: work
                .summaries
                .iter()
                .filter(|one| one.background == **background)
                .map(row)
                .filter(|cells| cells.len() > 1)
                .collect(),
        };
        backgrounds(work).iter().map(rows).collect()
    };
    let first = work.summaries.first().map_or_else(String::new, |one| clean(&one.scheduler));
    let less = format!("Differences to {first} in the same mix, in points");
    let less_heads =
        ["scheduler", "#slowdown", "#slower", "#culprits", "#throughput", "#less slowed in"];
    Part {
        title: "What culprits keep, what the machine gets done, who is found".to_owned(),
        html: grouped_table("All figures of the mixes, in %", &heads, &of(row))
            + &details(&less, &grouped_table(&less, &less_heads, &of(less_row))),
    }
}

fn row(one: &Summary) -> Vec<Cell> {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let levels: Vec<String> =
        one.level_share_pct.iter().map(|share| format!("{share:.0}")).collect();
    let worst = one.worst.as_ref().map(|worst| {
        let slowdown = signed_percent(worst.slowdown_pct);
        format!("{} {slowdown} (mix {})", clean(&worst.program), worst.seed)
    });
    let wakes = one.wake_p99_over_first.map(|ratio| format!("× {ratio:.2}"));
    vec![
        Cell::text(&one.scheduler),
        Cell::number(&one.isolation_slowdown_pct.words()),
        Cell::number(&tenths(one.isolation_slowdown_median_pct)),
        Cell::number(&one.slowdown_only_pct.words()),
        Cell::number(&one.signed_slowdown_pct.words()),
        Cell::text(&or_dash(worst)),
        Cell::number(&or_dash(one.culprit_rate_pct.as_ref().map(Mean::words))),
        Cell::number(&one.throughput_pct.words()),
        Cell::number(&or_dash(one.attribution_right_pct.map(tenths))),
        Cell::number(&or_dash(one.attribution_found_pct.map(tenths))),
        Cell::number(&or_dash(wakes)),
        Cell::text(&levels.join("/")),
        Cell::number(&one.unfinished.to_string()),
    ]
}

/// Nothing but the name for the first scheduler itself.
fn less_row(one: &Summary) -> Vec<Cell> {
    let cells = |less: &LessFirst| {
        vec![
            Cell::text(&one.scheduler),
            Cell::number(&less.isolation_slowdown_pct.words()),
            Cell::number(&less.slowdown_only_pct.words()),
            Cell::number(
                &less.culprit_rate_pct.as_ref().map_or_else(|| "–".to_owned(), Mean::words),
            ),
            Cell::number(&less.throughput_pct.words()),
            Cell::number(&format!("{} of {}", less.mixes_less_slowed, one.mixes)),
        ]
    };
    one.less_first.as_ref().map(cells).unwrap_or_default()
}

//! The table of `mixes`.

use super::Mixes;
use super::summary::{LessFirst, Mean, Summary, Worst};
use crate::format;
use crate::text_table::{Column, TextTable, Tone, wrap};
use crate::verdict::distinct;

/// A line a scheduler and sensor set for each background, and the differences to the first
/// scheduler.
///
/// `width` is that of the terminal in columns; `color` allows escape sequences of ours.
#[must_use]
pub fn mixes_table(mixes: &Mixes, width: usize, color: bool) -> String {
    let mut text = String::new();
    for background in distinct(mixes.summaries.iter().map(|one| one.background.as_str())) {
        let beside = || mixes.summaries.iter().filter(|one| one.background == background);
        let shown = format::variant(background);
        let count = format::grouped(mixes.mixes.len());
        let plural = if mixes.mixes.len() == 1 { "" } else { "es" };
        text += &format!("{shown}: means over {count} mix{plural}, in %\n");
        text += &means(mixes, beside(), width, color);
        if let Some(first) = beside().next() {
            let first = format::clean(&first.scheduler);
            text += &format!("\n{shown}: difference to {first} in the same mix, in points\n");
            text += &differences(mixes, beside(), width, color);
        }
        text.push('\n');
    }
    text + &legend(mixes, width)
}

fn plain(text: String) -> (String, Tone) {
    (text, Tone::Plain)
}

fn means<'a>(
    mixes: &Mixes,
    summaries: impl Iterator<Item = &'a Summary>,
    width: usize,
    color: bool,
) -> String {
    let mut table = TextTable::new(vec![
        Column::words("scheduler", 0),
        Column::words("sensors", 1),
        Column::numbers("slowdown", 0),
        Column::numbers("median", 4),
        Column::numbers("slower", 2),
        Column::numbers("signed", 9),
        Column::words("worst", 5),
        Column::numbers("culprits", 3),
        Column::numbers("throughput", 7),
        Column::numbers("right", 6),
        Column::numbers("found", 6),
        Column::numbers("wake p99", 6),
        Column::words("levels", 8),
        Column::numbers("unfinished", 1),
    ]);
    for one in summaries {
        let levels: Vec<String> =
            one.level_share_pct.iter().map(|share| format!("{share:.0}")).collect();
        let is_unfinished = one.unfinished > 0;
        table.push(vec![
            plain(format::clean(&one.scheduler)),
            plain(sensors(mixes, one)),
            plain(one.isolation_slowdown_pct.words()),
            plain(format::tenths(one.isolation_slowdown_median_pct)),
            plain(one.slowdown_only_pct.words()),
            plain(one.signed_slowdown_pct.words()),
            plain(one.worst.as_ref().map_or_else(String::new, worst)),
            plain(or_dash(one.culprit_rate_pct.as_ref())),
            plain(one.throughput_pct.words()),
            plain(one.attribution_right_pct.map_or_else(|| "-".to_owned(), format::tenths)),
            plain(one.attribution_found_pct.map_or_else(|| "-".to_owned(), format::tenths)),
            plain(
                one.wake_p99_over_first.map_or_else(|| "-".into(), |ratio| format!("x {ratio:.2}")),
            ),
            plain(levels.join("/")),
            plain(if is_unfinished { one.unfinished.to_string() } else { String::new() }),
        ]);
    }
    table.render(width, color)
}

fn differences<'a>(
    mixes: &Mixes,
    summaries: impl Iterator<Item = &'a Summary>,
    width: usize,
    color: bool,
) -> String {
    let mut table = TextTable::new(vec![
        Column::words("scheduler", 0),
        Column::words("sensors", 1),
        Column::numbers("slowdown", 0),
        Column::numbers("slower", 2),
        Column::numbers("culprits", 3),
        Column::numbers("throughput", 4),
        Column::numbers("less slowed in", 5),
    ]);
    let row = |one: &Summary, less: &LessFirst| {
        vec![
            plain(format::clean(&one.scheduler)),
            plain(sensors(mixes, one)),
            plain(less.isolation_slowdown_pct.words()),
            plain(less.slowdown_only_pct.words()),
            plain(or_dash(less.culprit_rate_pct.as_ref())),
            plain(less.throughput_pct.words()),
            plain(format!("{} of {}", less.mixes_less_slowed, one.mixes)),
        ]
    };
    for one in summaries {
        if let Some(less) = &one.less_first {
            table.push(row(one, less));
        }
    }
    table.render(width, color)
}

/// The sensor set, if the runs have several.
fn sensors(mixes: &Mixes, one: &Summary) -> String {
    let are_several = mixes.summaries.iter().any(|other| other.sensors != one.sensors);
    if are_several { format::clean(&one.sensors) } else { String::new() }
}

fn or_dash(mean: Option<&Mean>) -> String {
    mean.map_or_else(|| "-".to_owned(), Mean::words)
}

fn worst(worst: &Worst) -> String {
    let slowdown = format::signed_percent(worst.slowdown_pct);
    format!("{} {slowdown} (mix {})", format::clean(&worst.program), worst.seed)
}

fn legend(mixes: &Mixes, width: usize) -> String {
    let settings = format!(
        "{} mixes on {}, sensors {}, seed {}; ± is half a 95 % interval over mixes.",
        mixes.half,
        format::clean(&mixes.cpu),
        format::clean(&mixes.sensors),
        mixes.seed
    );
    wrap(LEGEND, width) + &wrap(&settings, width)
}

const LEGEND: &str = "\
slowdown: mean of |completion with the background over completion with SSE4 - 1|, over the \
programs of a mix, then over mixes; slower: speed-ups count as 0; worst: the program that is off \
most (evenkeel mixes --show prints its mix); culprits: work by time of the background applications \
that use AVX, of that with SSE4; throughput: mean over all applications of work by time, of that \
under the first scheduler with SSE4 (STP by application, Eyerman and Eeckhout 2008); right: of the \
time lost that the policy attributed to another application, what that had caused; found: of all \
time lost to other applications, what it attributed rightly; wake p99: 99th percentile of wake-up \
latencies over that of the first scheduler, both at least 5 us; levels: share of busy core time at \
license level 0, 1 and so on";

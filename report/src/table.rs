//! The table of `compare`: understood without the manual.

use scenarios::Role;

use crate::claims::{Published, judged};
use crate::comparison::{Comparison, Run, Task};
use crate::format;
use crate::text_table::{Column, TextTable, Tone, wrap};
use crate::verdict::{self, Finding, OURS};

/// The verdict, a line a scheduler and background, and the losses by victim and culprit.
///
/// `width` is that of the terminal in columns; `color` allows escape sequences of ours. Names
/// are cleaned of all others.
#[must_use]
pub fn table(comparison: &Comparison, width: usize, color: bool) -> String {
    let mut text = String::new();
    for sentence in verdict::sentences(comparison) {
        text += &wrap(&sentence, width);
    }
    for finding in verdict::findings(comparison) {
        text += &schedulers(comparison, &finding, width, color);
        text += &victims(comparison, &finding, width, color);
    }
    text += &claims(comparison, width, color);
    text += &legend(comparison, width);
    text
}

/// The claims of the scenario with their verdicts, a line each.
fn claims(comparison: &Comparison, width: usize, color: bool) -> String {
    let mut table = TextTable::new(vec![
        Column::words("claim", 0),
        Column::words("scheduler", 1),
        Column::words("background", 3),
        Column::numbers("published", 4),
        Column::numbers("within", 5),
        Column::numbers("found", 2),
        Column::words("outcome", 0),
    ]);
    if comparison.claims.is_empty() {
        return String::new();
    }
    for claim in &comparison.claims {
        let row = judged(claim);
        let tone = match claim.holds {
            Some(_) if claim.is_unexpected() => Tone::Bad,
            Some(holds) if holds != claim.must_fail => Tone::Good,
            Some(_) => Tone::Dim,
            None => Tone::Plain,
        };
        let plain =
            [row.figure, row.scheduler, row.background, row.published, row.bound, row.found]
                .map(|text| (text, Tone::Plain));
        table.push([&plain[..], &[(row.outcome, tone)]].concat());
    }
    format!("\nWhat the scenario claims\n{}", table.render(width, color))
}

/// How much of the time lost was refunded, in percent; `None` where nothing was lost.
pub(crate) fn repaid_pct(run: &Run) -> Option<f64> {
    let lost: f64 = run.losses.iter().map(|loss| loss.lost_s).sum();
    let repaid: f64 = run.losses.iter().map(|loss| loss.repaid_s).sum();
    (lost > 0.0).then(|| 100.0 * repaid / lost)
}

fn several_sensors(comparison: &Comparison) -> bool {
    comparison.runs.iter().any(|run| run.sensors != comparison.runs[0].sensors)
}

fn schedulers(comparison: &Comparison, finding: &Finding, width: usize, color: bool) -> String {
    let mut table = TextTable::new(vec![
        Column::words("scheduler", 0),
        Column::words("sensors", 1),
        Column::numbers("slowdown", 0),
        Column::words("published", 2),
        Column::words("worst", 4),
        Column::numbers("signed", 3),
        Column::numbers("overhead", 5),
        Column::numbers("repaid", 6),
        Column::numbers("switches/s", 8),
        Column::numbers("moves/s", 9),
        Column::numbers("unfairness", 7),
    ]);
    let background = &finding.baseline.background;
    for run in comparison.compared().filter(|run| run.background == *background) {
        let plain = |text: String| (text, Tone::Plain);
        let sensors =
            if several_sensors(comparison) { format::clean(&run.sensors) } else { String::new() };
        let published = run.published.as_ref();
        let tone = match published.and_then(|published| published.hit) {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Plain,
        };
        let worst = run.worst().map_or_else(String::new, |task| {
            let slowdown = task.slowdown_pct().unwrap_or(0.0);
            format!("{} {}", format::clean(&task.name), format::signed_percent(slowdown))
        });
        table.push(vec![
            plain(format::clean(&run.scheduler)),
            plain(sensors),
            plain(run.slowdown_text()),
            (published.map_or_else(String::new, Published::text), tone),
            plain(worst),
            plain(format::signed_percent(run.signed_slowdown_pct)),
            plain(format::percent(run.remote_avx_overhead_pct)),
            plain(repaid_pct(run).map_or_else(|| "-".to_owned(), |pct| format!("{pct:.0} %"))),
            plain(per_second(run.switches, run)),
            plain(per_second(run.migrations, run)),
            plain(format!("{:.2}", run.unfairness)),
        ]);
    }
    let heading = format!("\n{}: mean slowdown by scheduler", format::variant(background));
    let forced_idle = |run: &Run| {
        let share = format::percent(run.core_forced_idle_pct?);
        Some(format!("{}: {share} of the CPU time forced idle", format::clean(&run.scheduler)))
    };
    let sentence = |run: &Run| match &run.specialization {
        Some(specialization) => Some(specialization.sentence(&run.scheduler)),
        None => forced_idle(run),
    };
    let with_background = comparison.compared().filter(|run| run.background == *background);
    let notes: String =
        with_background.filter_map(sentence).map(|sentence| wrap(&sentence, width)).collect();
    format!("{heading}\n{}{notes}", table.render(width, color))
}

pub(crate) fn per_second(count: u64, run: &Run) -> String {
    if run.simulated_s > 0.0 {
        format::short_count(count as f64 / run.simulated_s)
    } else {
        "-".to_owned()
    }
}

/// How many applications the table lists.
const VICTIMS_SHOWN: usize = 40;

fn victims(comparison: &Comparison, finding: &Finding, width: usize, color: bool) -> String {
    let baseline = finding.baseline;
    let best = finding.best.map(|run| run.scheduler.as_str());
    let others: Vec<&Run> = comparison
        .compared()
        .filter(|run| run.background == baseline.background && run.sensors == baseline.sensors)
        .collect();
    let mut columns = vec![
        Column::words("who", 0),
        Column::words("class", 5),
        Column::numbers("CPU time", 6),
        Column::numbers("lost", 1),
        Column::words("to whom", 2),
    ];
    for (place, run) in (10..).zip(&others) {
        let scheduler = run.scheduler.as_str();
        let needed = [Some(baseline.scheduler.as_str()), best].contains(&Some(scheduler))
            || OURS.contains(&scheduler);
        columns
            .push(Column::numbers(&format::clean(&run.scheduler), if needed { 3 } else { place }));
    }
    let mut table = TextTable::new(columns);
    let all = listed(baseline);
    for task in all.iter().take(VICTIMS_SHOWN) {
        table.push(victim(baseline, task, &others));
    }
    let scheduler = format::clean(&baseline.scheduler);
    let heading = format!(
        "\nWho loses how much to whom under {scheduler}, and how much slower each gets by scheduler"
    );
    let mut text = format!("{}{}", wrap(&heading, width), table.render(width, color));
    if all.len() > VICTIMS_SHOWN {
        text += &format!("and {} more, in the JSON, CSV and page\n", all.len() - VICTIMS_SHOWN);
    }
    text
}

/// The judged applications, of many those that lost most first, then each background
/// application once.
pub(crate) fn listed(run: &Run) -> Vec<&Task> {
    let mut listed: Vec<&Task> = run.judged().collect();
    if listed.len() > VICTIMS_SHOWN {
        listed.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s));
    }
    for task in run.tasks.iter().filter(|task| task.role == Role::Background) {
        if !listed.iter().any(|other| other.role == task.role && other.name == task.name) {
            listed.push(task);
        }
    }
    listed
}

fn victim(baseline: &Run, task: &Task, others: &[&Run]) -> Vec<(String, Tone)> {
    let plain = |text: String| (text, Tone::Plain);
    let background = task.role == Role::Background;
    let same = || baseline.tasks.iter().filter(|other| other.name == task.name);
    let cpu_time: f64 = same().map(|task| task.cpu_time_s).sum();
    let lost: f64 = same().map(|task| task.lost_s).sum();
    let share = if cpu_time > 0.0 { 100.0 * lost / cpu_time } else { 0.0 };
    let name = format::clean(&task.name);
    let mut row = vec![
        plain(if background { format!("{name} (background)") } else { name }),
        plain(task.class.clone()),
        plain(format::seconds(cpu_time)),
        plain(format::percent(share)),
        plain(culprits(baseline, &task.name)),
    ];
    for run in others {
        let slowdowns: Vec<f64> = run
            .tasks
            .iter()
            .filter(|other| other.name == task.name)
            .filter_map(Task::slowdown_pct)
            .collect();
        let text = if slowdowns.is_empty() {
            "-".to_owned()
        } else {
            format::signed_percent(crate::statistics::mean(&slowdowns))
        };
        row.push((text, if background { Tone::Dim } else { Tone::Plain }));
    }
    row
}

/// Whom a victim lost to, the one that took most first; shares where there are several.
pub(crate) fn culprits(run: &Run, victim: &str) -> String {
    let mut losses: Vec<_> =
        run.losses.iter().filter(|loss| loss.victim == victim && loss.lost_s > 0.0).collect();
    losses.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s));
    let all: f64 = losses.iter().map(|loss| loss.lost_s).sum();
    match losses.as_slice() {
        [] => "-".to_owned(),
        [one] => format::clean(&one.culprit),
        several => several
            .iter()
            .take(3)
            .map(|loss| {
                format!("{} {:.0} %", format::clean(&loss.culprit), 100.0 * loss.lost_s / all)
            })
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn legend(comparison: &Comparison, width: usize) -> String {
    let control = comparison.runs.iter().find(|run| run.control);
    let control = control.map_or_else(String::new, |run| format::variant(&run.background));
    let mut text = format!(
        "\nslowdown: mean of |completion with the background over completion with {control} - 1|; \
         overhead: CPU time over what it were at each task's own frequency, minus one; lost: \
         share of the CPU time that licenses above the task's own level cost"
    );
    if comparison.compared().any(|run| repaid_pct(run).is_some_and(|pct| pct > 0.0)) {
        text += "; repaid: share of the time lost that was credited to the task that lost it, \
                 which helps only a task that waits for a CPU";
    }
    text += "; background: by its rate of work";
    let mut lines = wrap(&text, width);
    for note in &comparison.notes {
        lines += &wrap(&format::clean(note), width);
    }
    lines += &wrap(&comparison.settings_text(), width);
    lines
}

//! The programs of a profile: what each used, waited and lost.

use super::shared::{left_out, named};
use crate::drawing::escape;
use crate::format::percent;
use crate::page::parts::{Cell, Part, first, table};
use crate::profile::words::{self, bounds_pct, cut, is_worth_a_row, known, name, share_pct, time};
use crate::profile::{Victim, View};

const ROWS_MAX: usize = 100;
/// How many labels of a program are shown.
const LABELS_MAX: usize = 6;
/// How many characters of a label: a UID of a pod and its key have 49.
const LABEL_MAX: usize = 64;

/// What a basis means, for those that a reader would not guess.
const BASES: [(&str, &str); 4] = [
    ("unknown", "Unknown: too few samples."),
    ("table", "Table: from classes or registers and a CPU table; no clock was measured."),
    ("assumed", "Assumed: too few samples, and so taken to demand no level itself."),
    ("at least", "At least: demands a level itself, and only part of its loss is known."),
];

/// The table of programs.
pub(super) fn programs(view: &View) -> Part {
    let mut victims: Vec<&Victim> = view.victims.iter().collect();
    victims.sort_by(|a, b| known(b.cpu_time_s).total_cmp(&known(a.cpu_time_s)));
    let title = match victims.first() {
        Some(busiest) => format!("{} used most CPU time", name(&busiest.name)),
        None => "Programs".to_owned(),
    };
    let all = victims.len();
    if victims.iter().any(|victim| is_worth_a_row(view, victim)) {
        victims.retain(|victim| is_worth_a_row(view, victim));
    }
    let (shown, _) = first(victims, ROWS_MAX);
    let more = all - shown.len();
    let has_labels = shown.iter().any(|victim| !victim.labels.is_empty());
    let by = words::name(&view.by);
    let mut heads = vec![by.as_str(), "#CPU time", "#waited"];
    if view.has_clock {
        heads.extend(["#lost to clock", "#longer by", "basis"]);
    }
    let has_demands = view.has_clock && shown.iter().any(|it| it.demands.is_some());
    if has_demands {
        heads.push("demands");
    }
    let rows: Vec<Vec<Cell>> = shown.iter().map(|it| row(view, it, has_demands)).collect();
    let mut html = table("CPU time and losses, by CPU time", &heads, &rows);
    html += &left_out(more, "program");
    let label_note = if has_labels { "Below a name: its labels. " } else { "" };
    let mut note = format!("{label_note}CPU time and waiting are sums over threads.");
    for (basis, words) in BASES {
        if view.has_clock && shown.iter().any(|victim| victim.basis == basis) {
            note += " ";
            note += words;
        }
    }
    html += &format!("<p class=\"soft\">{}</p>\n", escape(&note));
    Part { title, html }
}

fn row(view: &View, victim: &Victim, has_demands: bool) -> Vec<Cell> {
    let labels: Vec<String> = victim
        .labels
        .iter()
        .take(LABELS_MAX)
        .map(|(key, value)| cut(&format!("{key}={value}"), LABEL_MAX))
        .collect();
    let waited_pct = share_pct(victim.waited_s, victim.cpu_time_s + victim.waited_s);
    let mut cells = vec![
        named(view, &victim.name).remarked(&labels.join(", ")),
        Cell::number(&time(victim.cpu_time_s)),
        Cell::number(&time(victim.waited_s)).remarked(&if waited_pct > 0.0 {
            percent(waited_pct)
        } else {
            String::new()
        }),
    ];
    if view.has_clock {
        let least = if victim.basis == "at least" { "≥ " } else { "" };
        let longer = if victim.overhead_pct.value.is_finite() {
            format!("{least}{}", percent(victim.overhead_pct.value))
        } else {
            "–".to_owned()
        };
        let bounds = bounds_pct(&victim.overhead_pct, 1.0);
        let bounds = bounds.map_or_else(String::new, |bounds| format!("95 %: {bounds}"));
        cells.extend([
            Cell::number(&format!("{least}{}", time(victim.lost_s.value))),
            Cell::number(&longer).remarked(&bounds),
            Cell::text(victim.basis),
        ]);
    }
    if has_demands {
        cells.push(Cell::text(&victim.demands.as_deref().map_or("–".to_owned(), name)));
    }
    cells
}

//! Who lost how much to whom: a matrix of the clock, one of waiting, and a table of every kind.

use std::collections::BTreeMap;

use super::shared::{left_out, named};
use crate::drawing::escape;
use crate::format::percent;
use crate::page::parts::{Cell, Part, first, table};
use crate::profile::answer::{UNKNOWN_PROGRAM, is_finding};
use crate::profile::words::{
    SHOWN_MIN, all_cpu_time_s, bounds_pct, culprit, is_worth_a_row, known, name, share_pct, time,
    visible,
};
use crate::profile::{Loss, View, shortened};
use crate::svg::{Heat, heat};

/// How many victims and culprits a matrix shows, and how many pairs the table has: if any did,
/// those that lost a thousandth of all CPU time.
const SHOWN: (usize, usize) = (24, 8);
const ROWS_MAX: usize = 30;
/// The strongest colour is for no smaller share, so that little does not look like much.
const STRONGEST_MIN_PCT: f64 = 5.0;
/// How many characters of a culprit's name have room above a column of a matrix.
const HEAD_MAX: usize = 13;

/// What the columns of the table mean. Each is left out of a profile without the quantity.
const WAITED_NOTE: &str = "Waited: runnable while the culprit had the CPU.";
const CLOCK_NOTE: &str = "\
Clock: CPU time lost to a clock that the culprit's code lowers and the victim's does not.";
const NO_CLOCK_NOTE: &str = "All pairs together lost less than 0.1 % of all CPU time by the clock.";
const CAUSES_NOTE: &str = "\
Of it, because the culprit runs on the sibling, because it ran on the core before (hold), or \
because the core is throttled on the way to that clock (rise).";
const SHARED_NOTE: &str = "\
Shared core: what a busy sibling takes of the core's execution units, at any clock.";
const ROW_NOTE: &str = "\
Package row: lost to the lower turbo row, because cores of the culprit were active.";
const STALLED_NOTE: &str = "Stalled: waiting for memory, because of the culprit.";
const UNKNOWN_NOTE: &str = "\
(unknown): the CPU on which the victim ran in the end was idle while it waited, as while that CPU \
wakes up; of the clock, no program on the core is known to lower it.";
const CPU_TIME_NOTE: &str = "All but waiting are part of the victim's CPU time.";

/// A quantity of a matrix.
struct Quantity {
    /// What it is, for readers of the drawing.
    label: &'static str,
    /// What the percentages are a share of, with the verb.
    of: &'static str,
    loss_s: fn(&Loss) -> f64,
    /// Of the victim's CPU time and its waiting, in s.
    whole_s: fn(f64, f64) -> f64,
}

const CLOCK: Quantity = Quantity {
    label: "Lost to the clock",
    of: "CPU time lost",
    loss_s: |loss| visible(loss.lost_s.value),
    whole_s: |cpu_time_s, _| cpu_time_s,
};
const WAITED: Quantity = Quantity {
    label: "Waited for a CPU",
    of: "runnable time waited",
    loss_s: |loss| visible(loss.waited_s),
    whole_s: |cpu_time_s, waited_s| cpu_time_s + waited_s,
};

/// The matrices and the table.
pub(super) fn losses(view: &View) -> Part {
    let mut html = String::new();
    let has_clock = is_clock_worth_showing(view);
    let quantities = if has_clock { vec![CLOCK, WAITED] } else { vec![WAITED] };
    for quantity in &quantities {
        html += &figure(view, quantity);
    }
    if !html.is_empty() {
        let clock = if has_clock { "of CPU time for the clock, and " } else { "" };
        html = format!(
            "<p class=\"soft\">Victims down, culprits across. Percent {clock}of runnable time for \
             waiting, both the victim's; a stronger colour is a larger share.</p>\n\
             <div class=\"side\">\n{html}</div>\n"
        );
    }
    let mut losses: Vec<&Loss> = view.losses.iter().filter(|loss| loss.all_s() > 0.0).collect();
    let clock_s = |loss: &Loss| known(loss.lost_s.value);
    losses.sort_by(|a, b| clock_s(b).total_cmp(&clock_s(a)).then(b.all_s().total_cmp(&a.all_s())));
    let all = losses.len();
    let least_s = SHOWN_MIN * all_cpu_time_s(view);
    if losses.iter().any(|loss| loss.all_s() >= least_s) {
        losses.retain(|loss| loss.all_s() >= least_s);
    }
    let (shown, _) = first(losses, ROWS_MAX);
    let more = all - shown.len();
    let title = title(view);
    if shown.is_empty() {
        return Part { title, html };
    }
    html += &format!("<h3>Every kind of loss</h3>\n{}", all_kinds(view, &shown));
    html += &left_out(more, "pair");
    Part { title, html }
}

/// The culprit that cost others most, as a heading. Where the answer is a verdict about all
/// clocks, the loss of one program by the clock would contradict it.
fn title(view: &View) -> String {
    let findings = || view.losses.iter().filter(|loss| is_finding(view, loss));
    let least_s = SHOWN_MIN * all_cpu_time_s(view);
    let of_clock = [CLOCK].into_iter().filter(|_| view.verdict.is_none());
    for quantity in of_clock.chain([WAITED]) {
        let is_clock = quantity.of == CLOCK.of;
        // Only a loss by the clock may name a culprit that is not known, as the answer does.
        let cost = findings()
            .filter(|loss| is_clock || loss.culprit.is_some())
            .map(|loss| (loss.culprit.as_deref(), (quantity.loss_s)(loss)));
        let costs = by_sum(cost);
        if let Some((culprit, cost_s)) = costs.first().filter(|cost| cost.1 > least_s) {
            let how = if is_clock { "by the clock" } else { "of waiting for a CPU" };
            let culprit = culprit.map_or_else(|| UNKNOWN_PROGRAM.to_owned(), name);
            return format!("{culprit} cost other programs {} {how}", time(*cost_s));
        }
    }
    "No program lost 0.1 % of all CPU time to another".to_owned()
}

/// Names and the sums of their values, the largest first.
fn by_sum<K: Ord + Copy>(values: impl Iterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut sums: BTreeMap<K, f64> = BTreeMap::new();
    for (name, value) in values {
        *sums.entry(name).or_default() += value;
    }
    let mut sums: Vec<(K, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// A matrix, if it has a value that is shown.
fn figure(view: &View, quantity: &Quantity) -> String {
    let values =
        || view.losses.iter().map(|it| (it, (quantity.loss_s)(it))).filter(|it| it.1 > 0.0);
    let victims = by_sum(values().map(|(loss, value)| (loss.victim.as_str(), value)));
    let culprits = by_sum(values().map(|(loss, value)| (loss.culprit.as_deref(), value)));
    if victims.is_empty() {
        return String::new();
    }
    let all = victims.len();
    let is_large = |name_of: &str| {
        let victim = view.victims.iter().find(|it| it.name == name_of);
        victim.is_some_and(|it| is_worth_a_row(view, it))
    };
    let mut large = victims.clone();
    large.retain(|it| is_large(it.0));
    let (victims, _) = first(if large.is_empty() { victims } else { large }, SHOWN.0);
    let victims_more = all - victims.len();
    let (culprits, culprits_more) = first(culprits, SHOWN.1);
    let mut heat_map = Heat { lost: quantity.of, ..Heat::default() };
    heat_map.victims = victims.iter().map(|it| name(it.0)).collect();
    heat_map.culprits = culprits.iter().map(|it| shortened(&culprit(it.0), HEAD_MAX)).collect();
    for (victim, _) in &victims {
        let of_pair = |who: &Option<&str>| {
            let is_it = |loss: &&Loss| loss.victim == *victim && loss.culprit.as_deref() == *who;
            view.losses.iter().filter(is_it).map(quantity.loss_s).sum()
        };
        let pairs: Vec<f64> = culprits.iter().map(|(who, _)| of_pair(who)).collect();
        let whole_s = view
            .victims
            .iter()
            .find(|it| it.name == *victim)
            .map_or(0.0, |it| (quantity.whole_s)(known(it.cpu_time_s), known(it.waited_s)));
        heat_map.values.push(pairs.iter().map(|&pair_s| share_pct(pair_s, whole_s)).collect());
        let remark = |&pair_s: &f64| if pair_s == 0.0 { String::new() } else { time(pair_s) };
        heat_map.remarks.push(pairs.iter().map(remark).collect());
    }
    let most = heat_map.values.iter().flatten().copied().fold(STRONGEST_MIN_PCT, f64::max);
    let (svg, height) = heat(&heat_map, most);
    let label = format!("{}, by victim and culprit", quantity.label);
    format!(
        "<figure class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\
         <h3>{}</h3>\n{}{}{}</figure>\n",
        quantity.label,
        svg.inline(height, &label),
        left_out(victims_more, "victim"),
        left_out(culprits_more, "culprit"),
    )
}

/// Whether all pairs together lost enough by the clock: dashes and noise would hide what was lost
/// otherwise.
fn is_clock_worth_showing(view: &View) -> bool {
    let lost_s: f64 = view.losses.iter().map(|loss| known(loss.lost_s.value).max(0.0)).sum();
    view.has_clock && lost_s >= SHOWN_MIN * all_cpu_time_s(view)
}

/// The table, with a column for each quantity that the profile has.
fn all_kinds(view: &View, losses: &[&Loss]) -> String {
    let has = |of: fn(&Loss) -> f64| losses.iter().any(|loss| known(of(loss)) > 0.0);
    let has_clock = is_clock_worth_showing(view);
    let mut heads = vec!["victim", "culprit"];
    let mut notes = Vec::new();
    let mut rows: Vec<Vec<Cell>> = losses.iter().map(|loss| names(view, loss)).collect();
    let mut add = |new: &[&'static str], note, of: &dyn Fn(&Loss) -> Vec<Cell>| {
        heads.extend(new);
        notes.push(note);
        rows.iter_mut().zip(losses).for_each(|(row, loss)| row.extend(of(loss)));
    };
    let one = |text: String| vec![Cell::number(&text)];
    if has(|loss| loss.waited_s) {
        add(&["#waited"], WAITED_NOTE, &|loss| one(time(loss.waited_s)));
    }
    if has_clock {
        add(&["#clock", "#of CPU time"], CLOCK_NOTE, &|loss| clock(view, loss));
        if has(|loss| loss.by_sibling_s + loss.by_hold_s + loss.by_transition_s) {
            add(&["#sibling", "#hold", "#rise"], CAUSES_NOTE, &causes);
        }
    }
    if has(|loss| loss.by_shared_core_s) {
        add(&["#shared core"], SHARED_NOTE, &|loss| one(time(loss.by_shared_core_s)));
    }
    if has(|loss| loss.by_row_s) {
        add(&["#package row"], ROW_NOTE, &|loss| one(time(loss.by_row_s)));
    }
    if losses.iter().any(|loss| loss.stalled_s.is_some()) {
        let of = |loss: &Loss| loss.stalled_s.map_or_else(|| "not known".to_owned(), time);
        add(&["#stalled"], STALLED_NOTE, &|loss| one(of(loss)));
    }
    if heads.contains(&"#waited") && notes.len() > 1 {
        notes.push(CPU_TIME_NOTE);
    }
    if view.has_clock && !has_clock {
        notes.push(NO_CLOCK_NOTE);
    }
    if losses.iter().any(|loss| loss.culprit.is_none()) {
        notes.push(UNKNOWN_NOTE);
    }
    let caption = "What programs lost, by victim and culprit";
    let notes = escape(&notes.join(" "));
    format!("{}<p class=\"soft\">{notes}</p>\n", table(caption, &heads, &rows))
}

fn names(view: &View, loss: &Loss) -> Vec<Cell> {
    let unknown = || Cell::text(&culprit(None));
    let culprit = loss.culprit.as_deref().map_or_else(unknown, |it| named(view, it));
    vec![named(view, &loss.victim), culprit]
}

/// What was lost to the clock, and the share of the victim's CPU time.
fn clock(view: &View, loss: &Loss) -> Vec<Cell> {
    let victim = view.victims.iter().find(|it| it.name == loss.victim);
    let cpu_time_s = victim.map_or(0.0, |it| known(it.cpu_time_s));
    let lost_s = visible(loss.lost_s.value);
    if lost_s == 0.0 {
        return vec![Cell::number("–"), Cell::number("–")];
    }
    let bounds = bounds_pct(&loss.lost_s, 100.0 / cpu_time_s);
    let bounds = bounds.map_or_else(String::new, |bounds| format!("95 %: {bounds}"));
    let share = percent(share_pct(lost_s, cpu_time_s));
    vec![Cell::number(&time(lost_s)), Cell::number(&share).remarked(&bounds)]
}

/// The shares of the causes.
fn causes(loss: &Loss) -> Vec<Cell> {
    let lost_s = visible(loss.lost_s.value);
    let part = |by_s: f64| match lost_s {
        // Of no loss there are no parts.
        0.0 => Cell::number("–"),
        lost_s => Cell::number(&format!("{:.0} %", share_pct(by_s, lost_s))),
    };
    [loss.by_sibling_s, loss.by_hold_s, loss.by_transition_s].map(part).into()
}

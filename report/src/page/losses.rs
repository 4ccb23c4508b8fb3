//! Losses by victim and culprit: heat maps and their table.

use std::collections::BTreeMap;

use super::figures::runs_of;
use super::parts::{Cell, Part, Rows, details, first, grouped_table, left_out};
use super::work::{ROWS_MAX, run_head};
use crate::attribution::LossEntry;
use crate::comparison::{Comparison, Run};
use crate::drawing::escape;
use crate::format::{clean, percent, seconds, signed_percent, variant};
use crate::svg::{self, Heat};
use crate::table::listed;
use crate::verdict::findings;

/// Victims and culprits by scheduler, for the background that slows most.
pub(super) fn losses(comparison: &Comparison) -> Option<Part> {
    let found = findings(comparison);
    let first = found.first()?;
    let runs: Vec<&Run> = runs_of(comparison, &first.baseline.background)
        .filter(|run| run.sensors == first.baseline.sensors)
        .collect();
    let heats = heats(&runs);
    let most = heats.iter().flat_map(|(_, heat)| heat.values.iter().flatten());
    let most = most.copied().fold(0.0, f64::max);
    if most == 0.0 {
        let title = "Nobody lost CPU time to a license of another".to_owned();
        return Some(Part { title, html: String::new() });
    }
    let top = first.baseline.losses.iter().max_by(|a, b| a.lost_s.total_cmp(&b.lost_s));
    let title = format!(
        "{} makes the others' work cost {} of CPU time under {}",
        top.map_or_else(String::new, |loss| clean(&loss.culprit)),
        signed_percent(first.baseline.remote_avx_overhead_pct),
        clean(&first.baseline.scheduler)
    );
    let mut html = format!(
        "<p class=\"soft\">Share of a victim's CPU time that it would not have needed at the \
         frequency of its own level, by whose level it was; background {}.</p>\n\
         <div class=\"side\">\n",
        escape(&variant(&first.baseline.background))
    );
    for (name, matrix) in &heats {
        let (svg, height) = svg::heat(matrix, most);
        let label = format!("CPU time lost, {name}");
        let svg = svg.inline(height, &label);
        html += &format!(
            "<figure class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\
             <h3>{1}</h3>\n{svg}</figure>\n",
            escape(&label),
            escape(name)
        );
    }
    html += "</div>\n";
    html += &details("All losses", &all_losses(comparison));
    Some(Part { title, html })
}

fn all_losses(comparison: &Comparison) -> String {
    let runs: Vec<&Run> = comparison.compared().collect();
    let most = (ROWS_MAX / runs.len().max(1)).max(10);
    let mut more = 0;
    let mut rows_of = |run: &&Run| {
        let mut losses: Vec<&LossEntry> = run.losses.iter().collect();
        if losses.len() > most {
            losses.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s));
        }
        let (losses, left_out) = first(losses, most);
        more += left_out;
        let rows = losses.into_iter().map(|loss| loss_row(run, loss)).collect();
        Rows { head: run_head(run), rows }
    };
    let groups: Vec<Rows> = runs.iter().map(&mut rows_of).collect();
    let heads = ["victim", "culprit", "#lost", "#of its CPU time", "#repaid"];
    grouped_table("CPU time lost, by victim and culprit", &heads, &groups)
        + &left_out(more, "losses")
}

fn cpu_time_s(run: &Run, name: &str) -> f64 {
    run.tasks.iter().filter(|task| task.name == name).map(|task| task.cpu_time_s).sum()
}

fn loss_pct(run: &Run, victim: &str, culprit: &str) -> f64 {
    let of = |loss: &&LossEntry| loss.victim == victim && loss.culprit == culprit;
    let lost_s: f64 = run.losses.iter().filter(of).map(|loss| loss.lost_s).sum();
    let all_s = cpu_time_s(run, victim);
    if all_s > 0.0 { 100.0 * lost_s / all_s } else { 0.0 }
}

/// A matrix a scheduler; or one with a column a scheduler, where all lost to the same culprit.
fn heats(runs: &[&Run]) -> Vec<(String, Heat)> {
    let each: Vec<Heat> = runs.iter().map(|run| heat_of(run)).collect();
    let first = &each[0];
    let same = |heat: &Heat| heat.culprits == first.culprits && heat.victims == first.victims;
    if first.culprits.len() == 1 && each.iter().all(same) {
        let row = |row: usize| each.iter().map(|heat| heat.values[row][0]).collect();
        let joined = Heat {
            victims: first.victims.clone(),
            culprits: runs.iter().map(|run| clean(&run.scheduler)).collect(),
            values: (0..first.victims.len()).map(row).collect(),
            ..first.clone()
        };
        return vec![(format!("to {}, by scheduler", first.culprits[0]), joined)];
    }
    let name = |run: &&Run| format!("under {}", clean(&run.scheduler));
    runs.iter().map(name).zip(each).collect()
}

/// How many victims and culprits a matrix shows; the table has all.
const SHOWN: (usize, usize) = (24, 8);

fn heat_of(run: &Run) -> Heat {
    let mut culprits = by_loss(run.losses.iter().map(|loss| (loss.culprit.as_str(), loss.lost_s)));
    culprits.truncate(SHOWN.1);
    culprits.sort_unstable();
    let mut victims: Vec<&str> = listed(run).into_iter().map(|task| task.name.as_str()).collect();
    if victims.len() > SHOWN.0 {
        victims = by_loss(run.losses.iter().map(|loss| (loss.victim.as_str(), loss.lost_s)));
        victims.truncate(SHOWN.0);
    }
    let row = |victim: &&str| culprits.iter().map(|one| loss_pct(run, victim, one)).collect();
    Heat {
        values: victims.iter().map(row).collect(),
        victims: victims.iter().map(|name| clean(name)).collect(),
        culprits: culprits.iter().map(|name| clean(name)).collect(),
        lost: "CPU time lost",
        ..Heat::default()
    }
}

/// Names by the sum of their values, the largest first.
fn by_loss<'a>(losses: impl Iterator<Item = (&'a str, f64)>) -> Vec<&'a str> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, lost_s) in losses {
        *sums.entry(name).or_default() += lost_s;
    }
    let mut sums: Vec<(&str, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums.into_iter().map(|(name, _)| name).collect()
}

fn loss_row(run: &Run, loss: &LossEntry) -> Vec<Cell> {
    vec![
        Cell::text(&loss.victim),
        Cell::text(&loss.culprit),
        Cell::number(&seconds(loss.lost_s)),
        Cell::number(&percent(100.0 * loss.lost_s / cpu_time_s(run, &loss.victim))),
        Cell::number(&seconds(loss.repaid_s)),
    ]
}

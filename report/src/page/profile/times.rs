//! Which program ran where and when, as a drawing and a table.

use std::collections::BTreeMap;

use super::shared::left_out;
use crate::format::percent;
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, details, first, legend, table};
use crate::profile::words::{known, name, share_pct, time};
use crate::profile::{Core, TimeLine};
use crate::svg::{Occupancy, PALETTE, REST, occupancy};

/// How many CPUs are drawn, and how large the drawing may become.
const CPUS_MAX: usize = 48;
const DRAWING_BYTES_MAX: usize = 300_000;
const ROWS_MAX: usize = 40;
/// A shorter time line shows nothing. In s.
const LENGTH_MIN_S: f64 = 1e-9;

/// The time line; nothing if it is empty.
pub(super) fn times(line: &TimeLine) -> Option<Part> {
    let is_empty = |core: &Core| core.cpus.iter().all(|lane| lane.spans.is_empty());
    if known(line.length_s) < LENGTH_MIN_S || line.cores.iter().all(is_empty) {
        return None;
    }
    let ran_s = ran(line);
    let (cores, cores_more) = drawn(line);
    let names: Vec<String> = line.groups.iter().map(|group| name(group)).collect();
    let shown: Vec<usize> = ran_s.iter().map(|it| it.0).take(PALETTE.len()).collect();
    let mut colors = vec![REST; names.len()];
    shown.iter().zip(PALETTE).for_each(|(&group, color)| colors[group] = color);
    let mut legend_names: Vec<String> = shown.iter().map(|&group| names[group].clone()).collect();
    let mut legend_colors: Vec<usize> = shown.iter().map(|&group| colors[group]).collect();
    if ran_s.len() > shown.len() {
        legend_names.push("other programs".to_owned());
        legend_colors.push(REST);
    }
    let not_drawn = std::cell::Cell::new(0);
    let what = Occupancy {
        cores: &cores,
        length_s: line.length_s,
        names: &names,
        colors: &colors,
        bytes_max: DRAWING_BYTES_MAX,
    };
    let drawing = both("Which program ran on which CPU, over time", |width| {
        let (svg, height, left_out) = occupancy(&what, width);
        not_drawn.set(not_drawn.get().max(left_out));
        (svg, height)
    });
    let has_levels = cores.iter().any(|core| !core.levels.is_empty());
    let levels = if has_levels {
        " The grey strip below the CPUs of a core is its license level, as the profile estimates \
          it: the higher, the slower the core."
    } else {
        ""
    };
    let html = format!(
        "<p class=\"soft\">A row a CPU; a stretch is the program that ran there.{levels}</p>\n{}\
         {drawing}{}{}{}",
        legend(&legend_names, &legend_colors),
        left_out(not_drawn.get(), "short span"),
        left_out(cores_more, "core"),
        shares(line, &ran_s)
    );
    Some(Part { title: title(line, &ran_s), html })
}

/// Time of each program in the time line, the longest first.
fn ran(line: &TimeLine) -> Vec<(usize, f64)> {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    let spans = line.cores.iter().flat_map(|core| &core.cpus).flat_map(|lane| &lane.spans);
    for span in spans.filter(|span| span.group < line.groups.len()) {
        let length_s = span.to_s.min(line.length_s) - span.from_s.max(0.0);
        *sums.entry(span.group).or_default() += if length_s > 0.0 { length_s } else { 0.0 };
    }
    let mut sums: Vec<(usize, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// The cores that are drawn: of many those that were below full clock for longest, in their order;
/// and how many are left out.
fn drawn(line: &TimeLine) -> (Vec<&Core>, usize) {
    let below_s = |core: &Core| {
        core.levels.iter().map(|it| it.1 - it.0).filter(|it| it.is_finite()).sum::<f64>()
    };
    let mut order: Vec<usize> = (0..line.cores.len()).collect();
    order.sort_by(|&a, &b| below_s(&line.cores[b]).total_cmp(&below_s(&line.cores[a])));
    let mut room = CPUS_MAX;
    order.retain(|&core| {
        let cpus = line.cores[core].cpus.len();
        let has_room = cpus <= room;
        room -= if has_room { cpus } else { 0 };
        has_room
    });
    order.sort_unstable();
    let left_out = line.cores.len() - order.len();
    (order.into_iter().map(|core| &line.cores[core]).collect(), left_out)
}

fn title(line: &TimeLine, ran_s: &[(usize, f64)]) -> String {
    let cpus: usize = line.cores.iter().map(|core| core.cpus.len()).sum();
    let busy_s: f64 = ran_s.iter().map(|it| it.1).sum();
    let busy_pct = share_pct(busy_s, line.length_s * cpus as f64);
    format!("The CPUs were busy for {} of {}", percent(busy_pct), time(line.length_s))
}

/// The time of each program, as a table.
fn shares(line: &TimeLine, ran_s: &[(usize, f64)]) -> String {
    let busy_s: f64 = ran_s.iter().map(|it| it.1).sum();
    let (shown, more) = first(ran_s.to_vec(), ROWS_MAX);
    let row = |(group, ran_s): (usize, f64)| {
        vec![
            Cell::text(&name(&line.groups[group])),
            Cell::number(&time(ran_s)),
            Cell::number(&percent(share_pct(ran_s, busy_s))),
        ]
    };
    let rows: Vec<Vec<Cell>> = shown.into_iter().map(row).collect();
    let heads = ["program", "#CPU time drawn", "#of all"];
    let html = table("CPU time in the time line, by program", &heads, &rows);
    details("CPU time in the time line", &(html + &left_out(more, "program")))
}

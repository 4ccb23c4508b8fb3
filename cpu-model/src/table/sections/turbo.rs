//! Sections `turbo`, `turbo_off` and `low_priority`: frequencies that fall with level and active
//! cores.

use super::super::node::{Node, Read};
use super::super::{Levels, LowPriority, TurboOff, TurboRow, TurboRows};
use super::{MHZ_MAX, by_level};
use crate::ROWS_MAX;

pub(in super::super) fn turbo(
    node: &Node<'_>,
    levels: &Levels,
    cores: Option<u32>,
) -> Read<TurboRows> {
    let fields = node.fields(&["source", "rows"])?;
    let source = fields.source()?;
    let list = fields.need("rows")?;
    let mut rows: Vec<TurboRow> = Vec::new();
    for item in list.items(ROWS_MAX)? {
        let row = row(&item, levels, rows.last(), cores)?;
        refuse_faster(&item, &row, &rows, levels)?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(list.bad(format_args!("found no row, expected 1 to {ROWS_MAX}")));
    }
    Ok(TurboRows { rows, source })
}

fn row(
    node: &Node<'_>,
    levels: &Levels,
    previous: Option<&TurboRow>,
    cores: Option<u32>,
) -> Read<TurboRow> {
    let fields = node.fields(&["cores", "mhz"])?;
    let range = fields.need("cores")?;
    let bounds = range.items(2)?;
    let [from, to] = bounds.as_slice() else {
        return Err(range.bad("expected the fewest and the most active cores, such as [1, 2]"));
    };
    let lowest = previous.map_or(1, |row| row.cores_max.saturating_add(1));
    let highest = cores.unwrap_or(1024);
    let cores_min = from.whole(lowest, highest.max(lowest))?;
    let cores_max = to.whole(cores_min, highest.max(cores_min))?;
    if cores_max > highest {
        return Err(range.bad(format_args!(
            "found {cores_max} active cores, expected at most the {highest} cores of a package"
        )));
    }
    let mhz = by_level(&fields.need("mhz")?, &levels.names, |node| node.whole(1, MHZ_MAX))?;
    Ok(TurboRow { cores_min, cores_max, mhz })
}

fn refuse_faster(node: &Node<'_>, row: &TurboRow, rows: &[TurboRow], levels: &Levels) -> Read<()> {
    let mut slowest: Option<(u32, &str)> = None;
    for (level, name) in levels.names.iter().enumerate() {
        let Some(mhz) = row.mhz[level] else { continue };
        if let Some((limit, faster)) = slowest
            && mhz > limit
        {
            return Err(node.bad(format_args!(
                "found {mhz} MHz at level {name} above {limit} MHz at level {faster}, expected \
                 frequencies that never rise with the level"
            )));
        }
        slowest = Some((mhz, name));
        let before = rows.iter().rev().find_map(|row| row.mhz[level]);
        if let Some(limit) = before.filter(|&limit| mhz > limit) {
            return Err(node.bad(format_args!(
                "found {mhz} MHz at level {name} above {limit} MHz for fewer active cores, \
                 expected frequencies that never rise with the number of active cores"
            )));
        }
    }
    Ok(())
}

pub(in super::super) fn turbo_off(
    node: &Node<'_>,
    levels: &Levels,
    turbo: Option<&TurboRows>,
) -> Read<TurboOff> {
    let fields = node.fields(&["source", "mhz"])?;
    let source = fields.source()?;
    let map = fields.need("mhz")?;
    let mhz = falling(&map, levels)?;
    for (level, name) in levels.names.iter().enumerate() {
        let Some(mhz) = mhz[level] else { continue };
        let rows = turbo.map_or(&[][..], |turbo| &turbo.rows);
        let slowest = rows.iter().filter_map(|row| row.mhz[level]).min();
        if let Some(slowest) = slowest.filter(|&slowest| mhz > slowest) {
            return Err(map.bad(format_args!(
                "found {mhz} MHz at level {name}, expected at most {slowest} MHz, its lowest \
                 frequency with turbo on"
            )));
        }
    }
    Ok(TurboOff { mhz, source })
}

/// Frequencies by level that never rise with the level.
fn falling(map: &Node<'_>, levels: &Levels) -> Read<Vec<Option<u32>>> {
    let mhz = by_level(map, &levels.names, |node| node.whole(1, MHZ_MAX))?;
    let mut limit = u32::MAX;
    for (level, name) in levels.names.iter().enumerate() {
        let Some(mhz) = mhz[level] else { continue };
        if mhz > limit {
            return Err(map.bad(format_args!(
                "found {mhz} MHz at level {name} above {limit} MHz at a faster level, expected \
                 frequencies that never rise with the level"
            )));
        }
        limit = mhz;
    }
    Ok(mhz)
}

pub(in super::super) fn low_priority(
    node: &Node<'_>,
    levels: &Levels,
    cores: Option<u32>,
) -> Read<LowPriority> {
    let fields = node.fields(&["source", "cores", "mhz"])?;
    let source = fields.source()?;
    let capped = fields.need("cores")?;
    let cores = match cores {
        Some(cores) if cores > 1 => capped.whole(1, cores - 1)?,
        Some(_) => return Err(capped.bad("expected a package of two cores or more")),
        None => capped.whole(1, 1024)?,
    };
    let map = fields.need("mhz")?;
    let by_level = falling(&map, levels)?;
    let mhz: Vec<u32> = by_level.iter().flatten().copied().collect();
    if let Some(level) = by_level.iter().position(Option::is_none) {
        let name = &levels.names[level];
        return Err(map.bad(format_args!("found nothing for level {name}, expected all levels")));
    }
    Ok(LowPriority { cores, mhz, source })
}

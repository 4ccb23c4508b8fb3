//! Puts parts together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::part::{self, Part};
use crate::files;

/// Shards that an error lists.
const LISTED: usize = 20;

/// The table of all points of the grid whose parts are in a folder, and its rows. Its bytes do not
/// depend on the number of shards.
pub fn merged(folder: &Path) -> Result<(String, usize)> {
    let parts = parts(folder)?;
    let mut head = None;
    let mut rows: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for part in &parts {
        let name = part.file_name();
        let text = files::read_text(&folder.join(&name))?;
        let Some((found, lines)) = part::read(&text) else {
            bail!("{name}: it was cut off; remove it, and run shard {} again", part.shard)
        };
        let expected = head.get_or_insert_with(|| found.to_owned());
        ensure!(expected == found, "{name}: it has other columns than the other parts");
        for (order, line) in lines.into_iter().enumerate() {
            let point = line.split(',').next().and_then(|point| point.parse().ok());
            let point = point.with_context(|| format!("{name}: {line:?} begins with no point"))?;
            let is_home = part.shard.has(point);
            ensure!(is_home, "{name}: point {point} is not of shard {}", part.shard);
            rows.insert((point, order), line.to_owned());
        }
    }
    let head = head.unwrap_or_default();
    let lines: String = rows.values().map(|line| format!("{line}\n")).collect();
    Ok((format!("{head}\n{lines}"), rows.len()))
}

/// The parts of one grid, every shard once.
fn parts(folder: &Path) -> Result<BTreeSet<Part>> {
    let read = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut parts = BTreeSet::new();
    for entry in read {
        let name = entry.with_context(|| folder.display().to_string())?.file_name();
        parts.extend(name.to_str().and_then(Part::of_file));
    }
    let folder = folder.display();
    let Some(first) = parts.first().copied() else { bail!("{folder}: no parts of a sweep") };
    for part in &parts {
        ensure!(
            part.grid == first.grid,
            "{folder}: {} is of another grid or version than {}",
            part.file_name(),
            first.file_name()
        );
        ensure!(
            part.shard.of == first.shard.of,
            "{folder}: {} and {} are of different numbers of shards, so that points are double",
            first.file_name(),
            part.file_name()
        );
    }
    let there: BTreeSet<u32> = parts.iter().map(|part| part.shard.number).collect();
    let missing: Vec<u32> = (1..=first.shard.of).filter(|it| !there.contains(it)).collect();
    if !missing.is_empty() {
        let listed: Vec<String> = missing.iter().take(LISTED).map(u32::to_string).collect();
        let more = if missing.len() > LISTED { ", …" } else { "" };
        bail!(
            "{folder}: {} of {} shards are missing: {}{more}",
            missing.len(),
            first.shard.of,
            listed.join(", ")
        );
    }
    Ok(parts)
}

//! Puts parts together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::part::{self, Origin};
use super::table::{Row, Table};

/// Shards that an error lists.
const LISTED: usize = 20;

/// The table of all points of the grid whose parts are in a folder, and the grid's digest. The rows
/// do not depend on the number of shards.
pub fn merged(folder: &Path) -> Result<(Table, u64)> {
    let mut axes: Option<Vec<String>> = None;
    let mut first: Option<(String, Origin)> = None;
    let mut shards: BTreeMap<u32, String> = BTreeMap::new();
    let mut rows: BTreeMap<(u64, usize), Row> = BTreeMap::new();
    for path in parts(folder)? {
        let (table, origin) = part::read(&path)?;
        let name = path.display().to_string();
        let (of, begun) = first.get_or_insert_with(|| (name.clone(), origin));
        ensure!(origin.grid == begun.grid, "{name} is of another grid or version than {of}");
        ensure!(
            origin.shard.of == begun.shard.of,
            "{of} and {name} are of different numbers of shards, so that points are double"
        );
        ensure!(
            *axes.get_or_insert_with(|| table.axes.clone()) == table.axes,
            "{name} has other columns than {of}"
        );
        if let Some(other) = shards.insert(origin.shard.number, name.clone()) {
            bail!("{other} and {name} are both shard {}", origin.shard);
        }
        for (order, row) in table.rows.into_iter().enumerate() {
            let is_home = origin.shard.has(row.point);
            ensure!(is_home, "{name}: point {} is not of shard {}", row.point, origin.shard);
            rows.insert((row.point, order), row);
        }
    }
    let folder = folder.display();
    let Some((_, origin)) = first else {
        bail!("{folder}: no parts of a sweep (part-….parquet)")
    };
    let missing: Vec<u32> = (1..=origin.shard.of).filter(|it| !shards.contains_key(it)).collect();
    if !missing.is_empty() {
        let listed: Vec<String> = missing.iter().take(LISTED).map(u32::to_string).collect();
        let more = if missing.len() > LISTED { ", …" } else { "" };
        bail!(
            "{folder}: {} of {} shards are missing: {}{more}",
            missing.len(),
            origin.shard.of,
            listed.join(", ")
        );
    }
    let rows = rows.into_values().collect();
    Ok((Table { axes: axes.unwrap_or_default(), rows }, origin.grid))
}

/// The files of parts in a folder, in the order of their names.
fn parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut parts = Vec::new();
    for entry in read {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("part-") && name.ends_with(".parquet") {
            parts.push(path);
        }
    }
    parts.sort();
    Ok(parts)
}

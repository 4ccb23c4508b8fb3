//! Which room may use which: the table in `docs/architecture.md` is the rule.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::repo::TextFile;

const TABLE_FILE: &str = "docs/architecture.md";
const TABLE_HEAD: &str = "| Room | Uses |";
/// Stands instead of a list for a room that may use every room.
const ANY: &str = "any room";

/// Rooms that each room may use, by room.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arrows {
    allowed: BTreeMap<String, Allowed>,
}

#[derive(Debug, PartialEq, Eq)]
struct Allowed {
    line: usize,
    any: bool,
    rooms: BTreeSet<String>,
}

impl Arrows {
    /// Reads the table.
    pub fn read(files: &[TextFile]) -> Self {
        let Some(file) = files.iter().find(|file| file.path == TABLE_FILE) else {
            return Self::default();
        };
        let rows = file
            .lines()
            .skip_while(|(_, line)| *line != TABLE_HEAD)
            .skip(2)
            .take_while(|(_, line)| line.starts_with('|'));
        let mut allowed = BTreeMap::new();
        for (line, row) in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            if let [room, uses] = cells[..] {
                let rooms = names(uses);
                allowed.extend(names(room).into_iter().map(|room| {
                    (room, Allowed { line, any: uses.trim() == ANY, rooms: rooms.clone() })
                }));
            }
        }
        Self { allowed }
    }

    /// Rooms that a room may use, itself not among them.
    pub fn of(&self, room: &str) -> impl Iterator<Item = &str> {
        self.allowed.get(room).into_iter().flat_map(|a| a.rooms.iter().map(String::as_str))
    }
}

/// The names between backticks.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// Crates that use a room against the table, and rows of the table that no crate uses.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let arrows = Arrows::read(files);
    let manifests: Vec<(&TextFile, toml::Table)> = files
        .iter()
        .filter(|file| file.path == format!("{}/Cargo.toml", file.room()))
        .filter_map(|file| Some((file, file.text.parse::<toml::Table>().ok()?)))
        .filter(|(_, manifest)| manifest.contains_key("package"))
        .collect();
    let room_of: BTreeMap<String, &str> = manifests
        .iter()
        .filter_map(|(file, manifest)| {
            let name = manifest.get("package")?.get("name")?.as_str()?;
            Some((name.to_string(), file.room()))
        })
        .collect();

    let mut found = Vec::new();
    for (file, manifest) in &manifests {
        let mut used: BTreeSet<&str> =
            dependencies(manifest).filter_map(|name| room_of.get(name).copied()).collect();
        used.extend(super::includes::rooms(files, file.room()));
        found.extend(judge(file, &used, &arrows, files));
    }
    found
}

fn dependencies(manifest: &toml::Table) -> impl Iterator<Item = &String> {
    ["dependencies", "build-dependencies", "dev-dependencies"]
        .into_iter()
        .filter_map(|kind| manifest.get(kind)?.as_table())
        .flat_map(toml::Table::keys)
}

fn judge(
    manifest: &TextFile,
    used: &BTreeSet<&str>,
    arrows: &Arrows,
    files: &[TextFile],
) -> Vec<Finding> {
    let room = manifest.room();
    let Some(allowed) = arrows.allowed.get(room) else {
        let message = format!("`{room}` has no row in the table of {TABLE_FILE}");
        return vec![Finding::new(manifest, 1, message)];
    };
    if allowed.any {
        return Vec::new();
    }
    let mut found = Vec::new();
    for new in used.iter().filter(|&&used| !allowed.rooms.contains(used)) {
        let message = format!("`{room}` uses `{new}`, which the table of {TABLE_FILE} refuses");
        found.push(Finding::new(manifest, 1, message));
    }
    let table = files.iter().find(|file| file.path == TABLE_FILE);
    for gone in allowed.rooms.iter().filter(|&room| !used.contains(room.as_str())) {
        found.extend(table.map(|table| {
            Finding::new(table, allowed.line, format!("`{room}` does not use `{gone}`"))
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn project(table: &str, cli_uses: &str) -> Vec<Finding> {
        let manifest = |name: &str, uses: &str| {
            format!("[package]\nname = \"{name}\"\n[dev-dependencies]\nserde = \"1\"\n{uses}\n")
        };
        check(&[
            file(TABLE_FILE, &format!("{TABLE_HEAD}\n|---|---|\n{table}\n\nEnd.\n")),
            file("trace/Cargo.toml", &manifest("trace", "")),
            file("cli/Cargo.toml", &manifest("evenkeel", cli_uses)),
        ])
    }

    const USES_TRACE: &str = "trace.workspace = true";

    #[test]
    fn an_arrow_of_the_table_passes() {
        assert!(project("| `trace` | – |\n| `cli` | `trace` |", USES_TRACE).is_empty());
    }

    #[test]
    fn an_arrow_that_the_table_lacks_is_found() {
        assert_eq!(project("| `trace` | – |\n| `cli` | – |", USES_TRACE).len(), 1);
    }

    #[test]
    fn an_arrow_that_is_gone_leaves_the_table() {
        let found = project("| `trace` | – |\n| `cli` | `trace` |", "");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), (TABLE_FILE, 4));
    }

    #[test]
    fn a_room_without_a_row_is_found() {
        assert_eq!(project("| `trace` | – |", USES_TRACE).len(), 1);
    }

    #[test]
    fn a_room_may_be_allowed_everything() {
        assert!(project("| `trace` | – |\n| `cli` | any room |", USES_TRACE).is_empty());
    }
}

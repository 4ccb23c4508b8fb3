//! The tables that come with the program.

use super::CpuTable;
use crate::CpuTableError;

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../tables/", $name, ".toml")))),*]
    };
}

const TABLES: &[(&str, &str)] = tables![
    "cascade-lake",
    "cascade-lake-sst-tf",
    "core-i9-7940x",
    "granite-rapids",
    "xeon-e5-2699-v3",
    "xeon-gold-5120",
    "xeon-gold-5512u",
    "xeon-gold-6130",
    "xeon-gold-6140",
    "xeon-gold-6154",
    "xeon-gold-6248",
    "xeon-gold-6326",
    "xeon-platinum-8457c",
    "xeon-platinum-8480-plus",
    "xeon-silver-4108",
    "xeon-silver-4116",
    "xeon-w-2104",
];

/// Name and text of each embedded CPU table, by name.
#[must_use]
pub fn embedded() -> &'static [(&'static str, &'static str)] {
    TABLES
}

impl CpuTable {
    /// Reads an embedded table.
    ///
    /// # Errors
    /// [`CpuTableError::UnknownName`] with all known names and the closest one.
    pub fn by_name(name: &str) -> Result<Self, CpuTableError> {
        let found = TABLES.iter().find(|(known, _)| *known == name);
        let Some((name, text)) = found else { return Err(unknown(name)) };
        Self::parse(text, &format!("{name}.toml"))
    }
}

fn unknown(name: &str) -> CpuTableError {
    let short: String = name.chars().take(64).collect();
    let closest = TABLES
        .iter()
        .map(|&(known, _)| (!known.contains(&short), distance(&short, known), known))
        .min()
        .filter(|&(apart, distance, known)| !apart || distance <= known.len() / 3)
        .filter(|_| !short.is_empty());
    CpuTableError::UnknownName {
        name: short,
        known: TABLES.iter().map(|&(name, _)| name).collect(),
        closest: closest.map(|(_, _, name)| name),
    }
}

/// Letters to add, drop or replace between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

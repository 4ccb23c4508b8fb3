//! From the text of a CPU table to its sections.

use toml::de::DeTable;

use super::node::{Document, Fields, Read};
use super::sections;
use super::{CPU_TABLE_SCHEMA, CpuTable};
use crate::CpuTableError;

/// The longest text that is read, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

const FIELDS: [&str; 14] = [
    "schema",
    "name",
    "description",
    "microarchitecture",
    "machine",
    "levels",
    "turbo",
    "turbo_off",
    "low_priority",
    "demand",
    "license",
    "widen",
    "rise",
    "events",
];

impl CpuTable {
    /// Reads a CPU table; `file` is its name in error messages.
    ///
    /// # Errors
    /// One sentence with file, line, field and the expected value.
    pub fn parse(text: &str, file: &str) -> Result<Self, CpuTableError> {
        let document = Document { file, text };
        if text.len() > FILE_BYTES_MAX {
            let problem = format!("found {} bytes, expected at most {FILE_BYTES_MAX}", text.len());
            return Err(document.invalid(0, "the whole file", problem));
        }
        let parsed = DeTable::parse(text).map_err(|error| {
            let problem: String =
                error.message().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            document.invalid(error.span().map_or(0, |span| span.start), "TOML syntax", problem)
        })?;
        // A newer schema may have fields that are unknown here, so the schema is checked first.
        refuse_newer(&document, parsed.get_ref())?;
        let root = Fields::root(&document, parsed.get_ref(), &FIELDS)?;
        read(&root)
    }
}

fn refuse_newer(document: &Document<'_>, table: &DeTable<'_>) -> Read<()> {
    let Some(value) = table.get("schema") else {
        let problem = format!("found nothing, expected schema = {CPU_TABLE_SCHEMA}");
        return Err(document.invalid(0, "schema", problem));
    };
    let node = super::node::Node::new(document, "schema".to_owned(), value);
    let found = node.whole(1, u32::MAX)?;
    if found > CPU_TABLE_SCHEMA {
        return Err(CpuTableError::NewerSchema {
            file: document.file.to_owned(),
            line: node.line(),
            found: found.into(),
            newest: CPU_TABLE_SCHEMA.into(),
        });
    }
    Ok(())
}

fn read(root: &Fields<'_>) -> Read<CpuTable> {
    let name = root.need("name")?.word()?;
    let description = root.need("description")?.text()?;
    let microarchitecture = root.need("microarchitecture")?.text()?;
    let machine = sections::machine(&root.need("machine")?)?;
    let levels = sections::levels(&root.need("levels")?)?;
    let turbo =
        root.get("turbo").map(|node| sections::turbo(&node, &levels, machine.cores)).transpose()?;
    let turbo_off = root
        .get("turbo_off")
        .map(|node| sections::turbo_off(&node, &levels, turbo.as_ref()))
        .transpose()?;
    let low_priority = root
        .get("low_priority")
        .map(|node| sections::low_priority(&node, &levels, machine.cores))
        .transpose()?;
    let demand = root.get("demand").map(|node| sections::demand(&node, &levels)).transpose()?;
    let license = root.get("license").map(|node| sections::license(&node, &levels)).transpose()?;
    let few = license.as_ref().is_some_and(|license| license.few_cores > 0);
    let widen = root.get("widen").map(|node| sections::widen(&node, few)).transpose()?;
    let rises = root.get("rise").map(|node| sections::rises(&node, &levels, few)).transpose()?;
    let events = root.get("events").map(|node| sections::events(&node)).transpose()?;
    Ok(CpuTable {
        name,
        description,
        microarchitecture,
        machine,
        levels,
        turbo,
        turbo_off,
        low_priority,
        demand,
        license,
        widen,
        rises: rises.unwrap_or_default(),
        events,
    })
}

//! Findings as a CPU table that `evenkeel compare --cpu` can use.
//!
//! Measured values say that they were measured. Other values come from a related CPU, which is
//! named, or are left out; a run that needs a missing value stops with the value's name.

mod relative;
mod sections;

use crate::characterize::Findings;

/// The findings as the text of a CPU table of that name.
#[must_use]
pub fn cpu_table(findings: &Findings, name: &str) -> String {
    let relative = relative::relative(findings.place.signature);
    let mut text = format!(
        "schema = 1\nname = {}\ndescription = {}\nmicroarchitecture = {}\n",
        quoted(name),
        quoted(&format!("{}, as far as this process could see it", cpu_words(findings))),
        quoted(relative.as_ref().map_or("not known", |table| &table.microarchitecture)),
    );
    for section in [
        sections::machine(findings),
        sections::levels(findings),
        sections::turbo(findings),
        sections::demand(findings),
        sections::license(findings, relative.as_ref()),
        sections::widen(findings, relative.as_ref()),
        sections::rises(findings),
        relative.as_ref().map_or_else(String::new, relative::events),
    ] {
        if !section.is_empty() {
            text += "\n";
            text += &section;
        }
    }
    text
}

fn cpu_words(findings: &Findings) -> String {
    let place = &findings.place;
    let kind = if place.is_virtual { "a virtual machine on " } else { "" };
    match place.cpu_name.as_str() {
        "" => format!("{kind}a CPU without a name"),
        name => format!("{kind}{name}"),
    }
}

/// A TOML string of one line.
fn quoted(text: &str) -> String {
    let plain = |c: char| if c == '"' || c == '\\' || c.is_control() { ' ' } else { c };
    format!("\"{}\"", text.chars().map(plain).collect::<String>())
}

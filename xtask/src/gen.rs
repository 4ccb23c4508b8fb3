//! `cargo xtask gen`: files written from other files of the project.
//!
//! `policy/proof/drivers.c` calls every function of the policy headers and of the license machine
//! with arbitrary arguments, for the proof. The pages of the task
//! runtime and of its measurements have the look of the report's pages: copies of the style sheets,
//! since `tasks/` uses no file outside. `sensors/src/pmu/table.rs` has the performance events of
//! each CPU.

mod events;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::repo;

/// Folder of the headers that are proved as a whole.
const POLICY_HEADERS: &str = "policy/include/evenkeel";
/// The license machine, proved too.
const LICENSE_HEADER: &str = "cpu-model/include/evenkeel/license.h";
/// The generated file.
pub const DRIVERS: &str = "policy/proof/drivers.c";
/// The style sheets of charts and of pages.
const LOOK_PARTS: [&str; 2] = ["report/src/svg/chart.css", "report/src/page/page.css"];
/// Copies of them, each with the parts that the copy has.
const LOOKS: [(&str, &[&str]); 3] = [
    ("tasks/observe/src/page/look.css", &LOOK_PARTS),
    ("tasks/bench/src/look/chart.css", &[LOOK_PARTS[0]]),
    ("tasks/bench/src/look/page.css", &[LOOK_PARTS[1]]),
];

/// Write generated files again.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail if a generated file is out of date.
    #[arg(long)]
    pub check: bool,
}

/// Writes or checks every generated file.
pub fn run(args: &Args) -> Result<()> {
    let root = repo::root();
    let mut files = vec![(DRIVERS, drivers(&root)?), (events::TABLE, events::table(&root)?)];
    for (name, parts) in LOOKS {
        files.push((name, look(&root, parts)?));
    }
    for (name, wanted) in files {
        let path = root.join(name);
        if !args.check {
            fs::write(&path, wanted).with_context(|| format!("writing {name}"))?;
            continue;
        }
        let found = fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
        ensure!(found == wanted, "{name} is not up to date: run `cargo xtask gen`");
    }
    Ok(())
}

/// Style sheets, one after the other.
fn look(root: &Path, parts: &[&str]) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        text += &fs::read_to_string(root.join(part)).with_context(|| format!("reading {part}"))?;
    }
    Ok(text)
}

/// The text of the drivers for the headers as they are.
pub fn drivers(root: &Path) -> Result<String> {
    let folder = root.join(POLICY_HEADERS);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("listing {POLICY_HEADERS}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".h") {
            names.push(name);
        }
    }
    names.push("license.h".to_owned());
    names.sort();

    let mut functions = Vec::new();
    for name in &names {
        let path = match name.as_str() {
            "license.h" => root.join(LICENSE_HEADER),
            _ => folder.join(name),
        };
        let text = fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
        functions.extend(functions_of(&text).with_context(|| format!("parsing {name}"))?);
    }
    write_drivers(&names, &functions)
}

/// A function of a header.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    parameters: Vec<Parameter>,
}

#[derive(Debug, PartialEq, Eq)]
struct Parameter {
    /// Without `const` and the star.
    of_type: String,
    name: String,
    is_pointer: bool,
}

/// Every `static inline` function of a header, in order.
fn functions_of(text: &str) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    for after in text.split("\nstatic inline ").skip(1) {
        let (head, _) = after.split_once("\n{").context("a function without a body")?;
        let (before, rest) = head.split_once('(').context("a function without parameters")?;
        let (parameters, _) = rest.rsplit_once(')').context("an unclosed parameter list")?;
        let name = before.rsplit([' ', '*', '\t']).next().unwrap_or_default();
        functions.push(Function {
            name: name.to_owned(),
            parameters: parameters.split(',').map(parameter).collect::<Result<_>>()?,
        });
    }
    let written = text.matches("static inline").count();
    ensure!(functions.len() == written, "{} of {written} functions parsed", functions.len());
    Ok(functions)
}

fn parameter(text: &str) -> Result<Parameter> {
    let words: Vec<&str> = text.split_whitespace().filter(|&word| word != "const").collect();
    let Some((last, of_type)) = words.split_last() else { bail!("an empty parameter") };
    let name = last.strip_prefix('*').unwrap_or(last);
    let is_pointer = name.len() < last.len();
    ensure!(
        !of_type.is_empty() && !name.contains('*') && (!is_pointer || of_type[0] == "struct"),
        "`{}` is neither a number nor a struct nor a pointer to a struct",
        text.trim()
    );
    Ok(Parameter { of_type: of_type.join(" "), name: name.to_owned(), is_pointer })
}

/// The name of the variable that may hold any value of a type.
fn anything(of_type: &str) -> String {
    format!("any_{}", of_type.trim_start_matches("struct "))
}

fn write_drivers(headers: &[String], functions: &[Function]) -> Result<String> {
    let mut text = String::from(
        "/* SPDX-License-Identifier: GPL-2.0-only OR MIT */\n\
         /*\n * Written by `cargo xtask gen`: calls every function with arbitrary arguments.\n\
         \x20*\n * A volatile variable holds any value at each read, so whatever Frama-C shows\n\
         \x20* of these calls holds for all inputs.\n */\n",
    );
    for header in headers {
        writeln!(text, "#include <evenkeel/{header}>")?;
    }
    text.push('\n');
    let types: BTreeSet<&str> = functions
        .iter()
        .flat_map(|function| &function.parameters)
        .map(|parameter| parameter.of_type.as_str())
        .collect();
    for of_type in types {
        writeln!(text, "static volatile {of_type} {};", anything(of_type))?;
    }
    for function in functions {
        writeln!(text, "\nstatic void prove_{}(void)\n{{", function.name)?;
        let mut arguments = Vec::new();
        for Parameter { of_type, name, is_pointer } in &function.parameters {
            writeln!(text, "\t{of_type} {name} = {};", anything(of_type))?;
            arguments.push(if *is_pointer { format!("&{name}") } else { name.clone() });
        }
        writeln!(text, "\n\t{}({});\n}}", function.name, arguments.join(", "))?;
    }
    text.push_str("\nint main(void)\n{\n");
    for function in functions {
        writeln!(text, "\tprove_{}();", function.name)?;
    }
    text.push_str("\treturn 0;\n}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\nstatic inline const struct ek_a *ek_find(const struct ek_a *a,\n\
                          \t\t\t\t\t struct ek_b b, u64 now_ns)\n{\n\treturn a;\n}\n";

    #[test]
    fn a_signature_over_two_lines_is_understood() {
        let functions = functions_of(HEADER).unwrap();
        let of = |of_type: &str, name: &str, is_pointer| Parameter {
            of_type: of_type.to_owned(),
            name: name.to_owned(),
            is_pointer,
        };
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].name, "ek_find");
        assert_eq!(
            functions[0].parameters,
            [
                of("struct ek_a", "a", true),
                of("struct ek_b", "b", false),
                of("u64", "now_ns", false)
            ]
        );
    }

    #[test]
    fn a_driver_passes_structs_by_address_where_the_function_wants_that() {
        let text = write_drivers(&[], &functions_of(HEADER).unwrap()).unwrap();
        assert!(text.contains("static volatile struct ek_a any_ek_a;"));
        assert!(text.contains("\tek_find(&a, b, now_ns);"));
        assert!(text.contains("int main(void)\n{\n\tprove_ek_find();"));
    }

    #[test]
    fn what_cannot_be_given_any_value_is_refused() {
        assert!(functions_of("\nstatic inline void ek_f(u64 *p)\n{\n}\n").is_err());
        assert!(functions_of("\nstatic inline void ek_f(struct ek_a **p)\n{\n}\n").is_err());
        assert!(functions_of("\nstatic inline void ek_f(u64 a);\n").is_err());
        assert!(functions_of("\n\tstatic inline void ek_f(u64 a)\n{\n}\n").is_err());
    }

    #[test]
    fn the_files_in_the_project_are_the_ones_that_would_be_written() {
        run(&Args { check: true }).unwrap();
    }
}

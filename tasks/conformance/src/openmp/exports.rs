//! The version script, and the assembly of all names that Rust does not define, from the tables
//! and the names that our code defines.
//!
//! Each name has one default version, from the script; each further version is a jump to the
//! default. A function without a definition is a stub that prints its name and aborts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::symbols::{Kind, Symbol};

/// libomp's node for its own names, and its default for all names; gcc's nodes take precedence.
const OF_LIBOMP: &str = "VERSION";
/// A node of our own, with no name in it.
const OURS: &str = "EVENKEEL";
/// The function behind the stubs: `openmp/src/unsupported.rs`.
const UNSUPPORTED: &str = "evenkeel_omp_unsupported";

/// A name with its versions, the default first.
#[derive(Debug, PartialEq, Eq)]
pub struct Export {
    name: String,
    kind: Kind,
    versions: Vec<String>,
}

/// Names with all their versions.
pub fn of(symbols: &BTreeSet<Symbol>) -> Vec<Export> {
    let mut by_name: BTreeMap<&str, (Kind, Vec<String>)> = BTreeMap::new();
    for symbol in symbols {
        let (_, versions) = by_name.entry(&symbol.name).or_insert((symbol.kind, Vec::new()));
        versions.push(symbol.version.clone());
    }
    let export = |(name, (kind, mut versions)): (&str, (Kind, Vec<String>))| {
        // The newest node of gcc's: nodes are numbered so that their names sort by age.
        versions.sort_by(|a, b| (a == OF_LIBOMP, b).cmp(&(b == OF_LIBOMP, a)));
        Export { name: name.to_owned(), kind, versions }
    };
    by_name.into_iter().map(export).collect()
}

/// How many of the names are defined, by prefix of the names, in a sentence.
pub fn summary(exports: &[Export], defined: &BTreeSet<String>) -> String {
    let groups = ["omp_", "GOMP_", "__kmpc_", "kmp", "acc_", ""];
    let group_of = |export: &Export| groups.iter().position(|group| export.name.starts_with(group));
    let count = |(index, group): (usize, &&str)| {
        let names = || exports.iter().filter(move |export| group_of(export) == Some(index));
        let there = names().filter(|export| defined.contains(&export.name)).count();
        let group = if group.is_empty() { "others" } else { group };
        format!("{there} of {} {group}", names().count())
    };
    let counts: Vec<String> = groups.iter().enumerate().map(count).collect();
    format!("supported: {}", counts.join(", "))
}

/// The linker's version script: every node, with the names whose default version is the node.
pub fn version_script(exports: &[Export]) -> String {
    let mut nodes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for export in exports {
        for (index, version) in export.versions.iter().enumerate() {
            let names = nodes.entry(version).or_default();
            if index == 0 {
                names.push(&export.name);
            }
        }
    }
    let mut text = String::new();
    for (node, names) in nodes {
        let names: String = names.iter().map(|name| format!(" {name};")).collect();
        let global = if names.is_empty() { names } else { format!(" global:{names}") };
        let _ = writeln!(text, "{node} {{{global} }};");
    }
    // All other names, of Rust and of libraries, are hidden. In a node of gcc's or clang's, `*`
    // would also hide the names whose default is another node.
    let _ = writeln!(text, "{OURS} {{ local: *; }};");
    text
}

/// The instructions of a machine that the assembly needs.
pub struct Machine {
    /// How `as` marks the type of a symbol: `@function` or `%function`.
    mark: char,
    jump: &'static str,
    /// Loads the address of `.Lname_N` as first argument.
    first_argument: fn(usize) -> String,
}

/// The machine that we build for.
pub fn machine(architecture: &str) -> Result<Machine> {
    Ok(match architecture {
        "x86_64" => Machine {
            mark: '@',
            jump: "jmp",
            first_argument: |n| format!("leaq .Lname_{n}(%rip), %rdi"),
        },
        "aarch64" => Machine {
            mark: '%',
            jump: "b",
            first_argument: |n| format!("adrp x0, .Lname_{n}\n\tadd x0, x0, :lo12:.Lname_{n}"),
        },
        other => bail!("no stubs for {other}: write them here"),
    })
}

/// The assembly: stubs for undefined names, and the further versions of every name.
pub fn assembly(exports: &[Export], defined: &BTreeSet<String>, machine: &Machine) -> String {
    let mut text = String::new();
    for (n, export) in exports.iter().enumerate() {
        let name = &export.name;
        if !defined.contains(name) {
            let _ = match export.kind {
                Kind::Func => write_stub(&mut text, n, name, machine),
                Kind::Object => write_object(&mut text, name, machine),
            };
        }
        for (v, version) in export.versions.iter().enumerate().skip(1) {
            let alias = format!("evenkeel_omp_{n}_{v}");
            let body = format!("{} {name}", machine.jump);
            let _ = write_function(&mut text, &alias, &body, machine);
            let _ = writeln!(text, "\t.symver {alias}, {name}@{version}, remove");
        }
    }
    text.push_str("\t.section .note.GNU-stack, \"\", ");
    let _ = writeln!(text, "{}progbits", machine.mark);
    text
}

fn write_stub(text: &mut String, n: usize, name: &str, machine: &Machine) -> std::fmt::Result {
    writeln!(text, "\t.section .rodata\n.Lname_{n}:\n\t.asciz \"{name}\"")?;
    let body = format!("{}\n\t{} {UNSUPPORTED}", (machine.first_argument)(n), machine.jump);
    write_function(text, name, &body, machine)
}

fn write_function(
    text: &mut String,
    name: &str,
    body: &str,
    machine: &Machine,
) -> std::fmt::Result {
    writeln!(text, "\t.text\n\t.globl {name}\n\t.type {name}, {}function", machine.mark)?;
    writeln!(text, "{name}:\n\t{body}\n\t.size {name}, . - {name}")
}

/// A variable without a value: debuggers and tools look for some of libomp's variables.
fn write_object(text: &mut String, name: &str, machine: &Machine) -> std::fmt::Result {
    writeln!(
        text,
        "\t.data\n\t.balign 8\n\t.globl {name}\n\t.type {name}, {}object",
        machine.mark
    )?;
    writeln!(text, "{name}:\n\t.quad 0\n\t.size {name}, 8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, version: &str, kind: Kind) -> Symbol {
        Symbol { name: name.to_owned(), version: version.to_owned(), kind }
    }

    fn exports() -> Vec<Export> {
        of(&BTreeSet::from([
            symbol("omp_init_lock", "OMP_1.0", Kind::Func),
            symbol("omp_init_lock", "OMP_3.0", Kind::Func),
            symbol("omp_init_lock", "VERSION", Kind::Func),
            symbol("kmp_diag", "VERSION", Kind::Object),
        ]))
    }

    #[test]
    fn the_newest_node_of_gcc_is_the_default() {
        let exports = exports();
        assert_eq!(exports[1].versions, ["OMP_3.0", "OMP_1.0", "VERSION"]);
        assert_eq!(exports[0].versions, ["VERSION"]);
    }

    #[test]
    fn a_summary_counts_names_whatever_their_versions() {
        let defined = BTreeSet::from(["omp_init_lock".to_owned()]);
        let summary = summary(&exports(), &defined);
        assert!(summary.starts_with("supported: 1 of 1 omp_, 0 of 0 GOMP_,"), "{summary}");
        assert!(summary.contains("0 of 1 kmp,"), "{summary}");
    }

    #[test]
    fn the_script_has_every_node_and_hides_the_rest() {
        assert_eq!(
            version_script(&exports()),
            "OMP_1.0 { };\nOMP_3.0 { global: omp_init_lock; };\n\
             VERSION { global: kmp_diag; };\nEVENKEEL { local: *; };\n"
        );
    }

    #[test]
    fn a_defined_function_gets_no_stub_but_its_other_versions() {
        let machine = machine("x86_64").unwrap();
        let without = assembly(&exports(), &BTreeSet::new(), &machine);
        let defined = BTreeSet::from(["omp_init_lock".to_owned()]);
        let with = assembly(&exports(), &defined, &machine);
        let stub =
            "\nomp_init_lock:\n\tleaq .Lname_1(%rip), %rdi\n\tjmp evenkeel_omp_unsupported\n";
        assert!(without.contains(stub) && !with.contains("\nomp_init_lock:"));
        for version in ["OMP_1.0", "VERSION"] {
            assert!(with.contains(&format!("omp_init_lock@{version}, remove")));
        }
        assert!(!with.contains("omp_init_lock@OMP_3.0"));
    }
}

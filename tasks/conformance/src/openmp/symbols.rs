//! Names that OpenMP libraries export: from our tables, and from a library file.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use commands::program;

/// The type of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something to call.
    Func,
    /// A variable.
    Object,
}

/// A name that a library exports, with the version node it is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// The name that programs use.
    pub name: String,
    /// The node.
    pub version: String,
    /// The symbol's type.
    pub kind: Kind,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Func => "func",
            Kind::Object => "object",
        };
        write!(f, "{} {} {kind}", self.name, self.version)
    }
}

/// Everything that the tables of a folder name.
pub fn tables(folder: &Path) -> Result<BTreeSet<Symbol>> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        all.extend(table(&text).with_context(|| format!("reading {}", path.display()))?);
    }
    ensure!(!all.is_empty(), "no table in {}", folder.display());
    Ok(all)
}

/// One table: `NAME VERSION KIND SINCE` a line, and comments.
fn table(text: &str) -> Result<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, version, kind, _since] = words[..] else {
            bail!("line {number}: not NAME VERSION KIND SINCE: `{line}`");
        };
        let kind = match kind {
            "func" => Kind::Func,
            "object" => Kind::Object,
            _ => bail!("line {number}: `{kind}` is neither func nor object"),
        };
        symbols.push(Symbol { name: name.to_owned(), version: version.to_owned(), kind });
    }
    Ok(symbols)
}

/// Everything that a shared library exports.
pub fn exported(library: &Path) -> Result<BTreeSet<Symbol>> {
    readelf("--dyn-syms", library)
}

/// Symbols that binutils' readelf lists as defined and visible outside the file.
pub fn readelf(list: &str, file: &Path) -> Result<BTreeSet<Symbol>> {
    Ok(listed(&read(list, file)?))
}

/// The names that a program takes from its libraries.
pub fn taken(file: &Path) -> Result<BTreeSet<String>> {
    Ok(undefined(&read("--dyn-syms", file)?))
}

fn undefined(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let mut words = line.split_whitespace().skip(6);
        let (section, name) = (words.next()?, words.next()?);
        (section == "UND").then(|| name.split('@').next().unwrap_or(name).to_owned())
    };
    text.lines().filter_map(name).collect()
}

fn read(list: &str, file: &Path) -> Result<String> {
    let mut readelf = program("readelf");
    let output = readelf.env("LC_ALL", "C").args([list, "--wide"]).arg(file).output();
    let output = output.context("starting readelf, of binutils")?;
    ensure!(output.status.success(), "readelf does not read {}", file.display());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The symbols of readelf's list. The nodes themselves are absolute, and left out.
fn listed(text: &str) -> BTreeSet<Symbol> {
    text.lines().filter_map(symbol).collect()
}

fn symbol(line: &str) -> Option<Symbol> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, kind, "GLOBAL" | "WEAK", visibility, section, name] = words[..] else {
        return None;
    };
    if matches!(section, "UND" | "ABS") || visibility != "DEFAULT" {
        return None;
    }
    let kind = if kind == "FUNC" { Kind::Func } else { Kind::Object };
    let (name, version) = name.split_once('@').unwrap_or((name, "-"));
    let version = version.trim_start_matches('@').to_owned();
    Some(Symbol { name: name.to_owned(), version, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::root;

    #[test]
    fn readelf_tells_names_versions_and_kinds() {
        let text = "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n\
             1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND free@GLIBC_2.2.5 (2)\n\
            42: 000000000000b0a0    11 FUNC    GLOBAL DEFAULT   13 omp_init_lock@@OMP_3.0\n\
            43: 000000000000b0b0    11 FUNC    GLOBAL DEFAULT   13 omp_init_lock@OMP_1.0\n\
            44: 0000000000000000     0 OBJECT  GLOBAL DEFAULT  ABS OMP_1.0\n\
            45: 00000000000c0000     8 OBJECT  GLOBAL DEFAULT   24 kmp_diag@@VERSION\n";
        let found: Vec<String> = listed(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["kmp_diag VERSION object", "omp_init_lock OMP_1.0 func", "omp_init_lock OMP_3.0 func"]
        );
    }

    #[test]
    fn imported_names_lose_their_version() {
        let text = "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n\
             1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND GOMP_task@GOMP_2.0 (2)\n\
             2: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND __kmpc_barrier\n\
            42: 000000000000b0a0    11 FUNC    GLOBAL DEFAULT   13 main\n";
        let expected = ["GOMP_task", "__kmpc_barrier"].map(str::to_owned);
        assert_eq!(undefined(text), BTreeSet::from(expected));
    }

    #[test]
    fn a_table_says_where_it_is_wrong() {
        assert_eq!(table("# A comment\nf V func 12\n").unwrap().len(), 1);
        let error = table("f V func 12\nf V funk 12\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: `funk` is neither func nor object");
        assert!(table("f V func\n").is_err());
    }

    /// The installed libraries, if any, export the names of the tables.
    #[test]
    fn the_tables_name_what_installed_libraries_export() {
        let installed = [
            ("libgomp-12", "libgomp.so.1", "12"),
            ("libgomp-14", "libgomp.so.1", "14"),
            ("libomp-14", "../../lib/llvm-14/lib/libomp.so.5", ""),
            ("libomp-19", "../../lib/llvm-19/lib/libomp.so.5", ""),
        ];
        let gcc = gcc_of_libgomp();
        for (name, file, of_gcc) in installed {
            let library = Path::new("/usr/lib/x86_64-linux-gnu").join(file);
            if !library.exists() || (!of_gcc.is_empty() && gcc.as_deref() != Some(of_gcc)) {
                continue;
            }
            let path = root().join(super::super::TABLES).join(format!("{name}.txt"));
            let expected = table(&fs::read_to_string(path).unwrap()).unwrap();
            let found: Vec<Symbol> = exported(&library).unwrap().into_iter().collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    /// The release of gcc whose libgomp is installed, of those that have their own nodes.
    fn gcc_of_libgomp() -> Option<String> {
        let found = exported(Path::new("/usr/lib/x86_64-linux-gnu/libgomp.so.1")).ok()?;
        let has = |node: &str| found.iter().any(|symbol| symbol.version == node);
        let nodes =
            [("GOMP_5.1.3", "15"), ("GOMP_5.1.2", "14"), ("GOMP_5.1.1", "13"), ("GOMP_5.1", "12")];
        nodes.iter().find(|(node, _)| has(node)).map(|(_, gcc)| (*gcc).to_owned())
    }
}

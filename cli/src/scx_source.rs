//! `scx:FILE.bpf.c`: a sched_ext scheduler of the user, compiled when the command begins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use simulator::ScxSource;

use crate::run_options::FROM_THE_KERNEL;

/// A scheduler's file and the constants to set: `scx:FILE.bpf.c:NAME=VALUE:…`.
#[derive(Debug, PartialEq, Eq)]
struct Named<'a> {
    file: &'a str,
    constants: Vec<(&'a str, i128)>,
}

/// Reads the name; `None` if it names no file.
fn parse(name: &str) -> Result<Option<Named<'_>>> {
    let Some(rest) = name.strip_prefix("scx:") else { return Ok(None) };
    let mut words = rest.split(':');
    let file = words.next().unwrap_or_default();
    if Path::new(file).extension().is_none_or(|extension| extension != "c") {
        return Ok(None);
    }
    let constant = |word: &'_ str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let number = match value.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        };
        number.map(|number| (name.len(), number))
    };
    let mut constants = Vec::new();
    for word in words {
        let Some((length, number)) = constant(word) else {
            bail!("{word:?} is not NAME=NUMBER, as in scx:{file}:slice_ns=5000000");
        };
        constants.push((&word[..length], number));
    }
    Ok(Some(Named { file, constants }))
}

/// The file that a scheduler's name means, if any.
pub fn file_of(name: &str) -> Option<&str> {
    parse(name).ok().flatten().map(|named| named.file)
}

/// The name, where a file that it means is seen from a folder.
pub fn seen_from(name: &str, folder: &Path) -> String {
    file_of(name).map_or_else(
        || name.to_owned(),
        |file| name.replacen(file, &folder.join(file).to_string_lossy(), 1),
    )
}

/// The scheduler of a name; `None` if the name means no file. Each name is compiled once.
pub fn compiled(name: &str, include: &[PathBuf]) -> Result<Option<ScxSource>> {
    static KNOWN: Mutex<BTreeMap<(String, Vec<PathBuf>), ScxSource>> = Mutex::new(BTreeMap::new());
    let Some(named) = parse(name)? else { return Ok(None) };
    let mut known = KNOWN.lock().expect("no thread panics while it compiles");
    let key = (name.to_owned(), include.to_vec());
    if let Some(source) = known.get(&key) {
        return Ok(Some(source.clone()));
    }
    let source = compile(&named, include).context(named.file.to_owned())?;
    let is_ours = FROM_THE_KERNEL.contains(&source.name());
    let twin = is_ours || known.values().any(|other| other.name() == source.name());
    ensure!(
        !twin,
        "{}: another scheduler is named {:?} too; give its operations another `.name`",
        named.file,
        source.name()
    );
    known.insert(key, source.clone());
    Ok(Some(source))
}

#[cfg(feature = "scx")]
fn compile(named: &Named<'_>, include: &[PathBuf]) -> Result<ScxSource> {
    let path = Path::new(named.file);
    // A sentence for a file that is not there, or that cannot be read.
    std::fs::File::open(path)?;
    for folder in include {
        ensure!(folder.is_dir(), "--set include: {} is no folder", folder.display());
    }
    let folder = tempfile::tempdir()?;
    let mut object = scx_host::compile(path, include, folder.path())?;
    for &(name, value) in &named.constants {
        if let Err(error) = object.set_number(name, value) {
            let known = object.constants();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("{error}; constants that can be set: {known}");
        }
    }
    let own = object.scheduler_name();
    let stem = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().unwrap_or_default();
    let mut shown = format!("scx:{}", if own.is_empty() { stem } else { &own });
    for (name, value) in &named.constants {
        shown += &format!(":{name}={value}");
    }
    Ok(ScxSource::new(&shown, object))
}

#[cfg(not(feature = "scx"))]
fn compile(_: &Named<'_>, _: &[PathBuf]) -> Result<ScxSource> {
    bail!("this build has no host for it: build it with cargo's feature scx")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_file_and_constants() {
        assert_eq!(parse("scx:fair").unwrap(), None);
        assert_eq!(parse("fair").unwrap(), None);
        let named = parse("scx:a/b.bpf.c:slice_ns=0x10:is_on=1").unwrap().unwrap();
        assert_eq!(named.file, "a/b.bpf.c");
        assert_eq!(named.constants, [("slice_ns", 16), ("is_on", 1)]);
        assert_eq!(file_of("scx:b.bpf.c"), Some("b.bpf.c"));
        let error = parse("scx:b.bpf.c:slice").unwrap_err().to_string();
        assert_eq!(error, "\"slice\" is not NAME=NUMBER, as in scx:b.bpf.c:slice_ns=5000000");
    }
}

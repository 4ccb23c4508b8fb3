//! May we use every crate that we build with? The rules are those of `deny.toml`.
//!
//! Building cargo-deny itself takes longer than half of our tests, so this reads
//! the same file and checks the same three rules: licence, source, ban. Known
//! vulnerabilities are not checked; that needs a database and a network.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{command, repo};

/// The rules of `deny.toml`.
struct Rules {
    target: String,
    allowed: BTreeSet<String>,
    banned: BTreeSet<String>,
}

/// Prints refused packages; an error if any is refused.
pub fn run() -> Result<()> {
    let path = repo::root().join("deny.toml");
    let rules = read(&fs::read_to_string(path).context("reading deny.toml")?)?;
    let mut packages = packages("Cargo.toml", &rules.target)?;
    packages.extend(self::packages("tasks/Cargo.toml", &rules.target)?);
    let refused: Vec<String> =
        packages.iter().filter_map(|package| refuse(package, &rules)).collect();
    for line in &refused {
        println!("{line}");
    }
    if !refused.is_empty() {
        bail!("{} of {} packages refused", refused.len(), packages.len());
    }
    println!("{} packages", packages.len());
    Ok(())
}

fn read(text: &str) -> Result<Rules> {
    let deny: toml::Table = text.parse().context("deny.toml")?;
    let list = |section: &str, key: &str| -> Result<Vec<String>> {
        let entries = deny.get(section).and_then(|table| table.get(key)?.as_array());
        let entries = entries.with_context(|| format!("deny.toml has no list {section}.{key}"))?;
        Ok(entries.iter().filter_map(|entry| Some(entry.as_str()?.to_string())).collect())
    };
    Ok(Rules {
        target: list("graph", "targets")?.pop().context("deny.toml names no target")?,
        allowed: list("licenses", "allow")?.into_iter().collect(),
        banned: list("bans", "deny")?.into_iter().collect(),
    })
}

/// The packages that a workspace builds with.
fn packages(manifest: &str, target: &str) -> Result<Vec<Value>> {
    let output = command::cargo()
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target])
        .args(["--manifest-path", manifest])
        .output()
        .context("starting cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    Ok(packages.clone())
}

/// The reason to refuse a package; `None` if the package may be used.
fn refuse(package: &Value, rules: &Rules) -> Option<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let source = package["source"].as_str();
    if rules.banned.contains(name) {
        return Some(format!("{name}: banned by deny.toml"));
    }
    if source.is_some_and(|source| !source.starts_with("registry+")) {
        return Some(format!("{name}: does not come from a registry"));
    }
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name}: names no licence"));
    };
    let allowed = allows(licence, &rules.allowed);
    (!allowed).then(|| format!("{name}: `{licence}` is not among the licences of deny.toml"))
}

/// Whether one way to read an SPDX expression needs only allowed licences.
fn allows(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut ok = all_of(words, allowed);
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        ok |= all_of(words, allowed);
    }
    ok
}

fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut ok = one(words, allowed);
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        ok &= one(words, allowed);
    }
    ok
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let Some((&first, rest)) = words.split_first() else {
        return false;
    };
    *words = rest;
    if first == "(" {
        let ok = any_of(words, allowed);
        let Some((&")", rest)) = words.split_first() else {
            return false;
        };
        *words = rest;
        return ok;
    }
    if let [with, exception, rest @ ..] = *words
        && *with == "WITH"
    {
        *words = rest;
        return allowed.contains(&format!("{first} WITH {exception}"));
    }
    allowed.contains(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        read(
            "[graph]\ntargets = [\"here\"]\n[licenses]\nallow = [\"MIT\", \"Zlib\", \
             \"Apache-2.0 WITH LLVM-exception\"]\n[bans]\ndeny = [\"scx_utils\"]\n",
        )
        .unwrap()
    }

    fn package(name: &str, source: Option<&str>, license: Option<&str>) -> Value {
        serde_json::json!({ "name": name, "source": source, "license": license })
    }

    #[test]
    fn one_allowed_way_to_read_a_licence_is_enough() {
        let allowed = rules().allowed;
        for good in ["MIT", "GPL-2.0 OR MIT", "GPL-2.0/MIT", "(MIT OR Apache-2.0) AND Zlib"] {
            assert!(allows(good, &allowed), "{good}");
        }
        assert!(allows("Apache-2.0 WITH LLVM-exception", &allowed));
    }

    #[test]
    fn a_licence_that_must_be_kept_must_be_allowed() {
        let allowed = rules().allowed;
        for bad in ["GPL-2.0", "MIT AND GPL-2.0", "Apache-2.0", "(MIT", "MIT MIT", "", "MIT WITH x"]
        {
            assert!(!allows(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn a_package_is_judged_by_name_source_and_licence() {
        let rules = rules();
        let registry = Some("registry+https://example.org");
        assert_eq!(refuse(&package("a", registry, Some("MIT")), &rules), None);
        assert_eq!(refuse(&package("ours", None, Some("MIT")), &rules), None);
        assert!(refuse(&package("scx_utils", registry, Some("MIT")), &rules).is_some());
        assert!(refuse(&package("a", Some("git+https://x"), Some("MIT")), &rules).is_some());
        assert!(refuse(&package("a", registry, Some("GPL-2.0")), &rules).is_some());
        assert!(refuse(&package("a", registry, None), &rules).is_some());
    }

    #[test]
    fn a_file_without_rules_is_refused() {
        assert!(read("[graph]\ntargets = [\"here\"]\n").is_err());
    }
}

//! Banned words, each with a replacement.

use super::{Finding, shipped_lines};
use crate::repo::TextFile;

/// Where a word is not welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Code, prose, scripts, settings.
    Everywhere,
    /// Rust and C code of the rooms whose results must repeat to the last bit.
    Deterministic,
    /// C headers that the kernel's host compiles.
    SharedHeaders,
    /// Names of files and folders.
    FileNames,
}

struct Banned {
    word: &'static str,
    scope: Scope,
    instead: &'static str,
}

const fn banned(scope: Scope, word: &'static str, instead: &'static str) -> Banned {
    Banned { word, scope, instead }
}

const SEEDED: &str = "take it as an argument; a run is a function of its inputs";
const ORDERED: &str = "use BTreeMap, BTreeSet or a Vec; hash order differs between runs";
const WHOLE: &str = "use whole numbers; floats round differently between builds";
const FREESTANDING: &str = "policy is freestanding, total and made of integers";
const DOMAIN_NAME: &str = "name it for what it knows";
const PORTABLE: &str = "use a path relative to the project, or the system's temporary folder";
const NO_HOST: &str = "name the registry's client, not its host";
const FINISHED: &str = "finish it, or say in prose what is missing";

/// Words of the first group are in two halves, so that this table passes its own rule.
const TABLE: &[Banned] = &[
    banned(Scope::Everywhere, concat!("TO", "DO"), FINISHED),
    banned(Scope::Everywhere, concat!("FIX", "ME"), FINISHED),
    banned(Scope::Everywhere, concat!("XX", "X"), FINISHED),
    banned(Scope::Everywhere, concat!("to", "do!"), FINISHED),
    banned(Scope::Everywhere, concat!("unimple", "mented!"), FINISHED),
    banned(Scope::Everywhere, concat!("dbg", "!"), "delete it"),
    banned(Scope::Everywhere, concat!("#if", " 0"), "delete the code"),
    banned(Scope::Everywhere, concat!("/wo", "rk/"), PORTABLE),
    banned(Scope::Everywhere, concat!("/tm", "p/"), PORTABLE),
    banned(Scope::Everywhere, concat!("/ro", "ot/"), PORTABLE),
    banned(Scope::Everywhere, concat!("crates", ".io"), NO_HOST),
    banned(Scope::Everywhere, concat!("py", "pi.org"), NO_HOST),
    banned(Scope::Everywhere, concat!("deb.debian", ".org"), NO_HOST),
    banned(Scope::Deterministic, "HashMap", ORDERED),
    banned(Scope::Deterministic, "HashSet", ORDERED),
    banned(Scope::Deterministic, "Instant::now", SEEDED),
    banned(Scope::Deterministic, "SystemTime", SEEDED),
    banned(Scope::Deterministic, "std::env", SEEDED),
    banned(Scope::Deterministic, "env::var", SEEDED),
    banned(Scope::Deterministic, "std::thread", "a run has one thread; the caller spreads runs"),
    banned(Scope::Deterministic, "f32", WHOLE),
    banned(Scope::Deterministic, "f64", WHOLE),
    banned(Scope::SharedHeaders, "float", FREESTANDING),
    banned(Scope::SharedHeaders, "double", FREESTANDING),
    banned(Scope::SharedHeaders, "__int128", FREESTANDING),
    banned(Scope::SharedHeaders, "malloc", FREESTANDING),
    banned(Scope::SharedHeaders, "volatile", FREESTANDING),
    banned(Scope::SharedHeaders, "for (;;)", "bound the loop"),
    banned(Scope::SharedHeaders, "while (1)", "bound the loop"),
    banned(Scope::FileNames, "util", DOMAIN_NAME),
    banned(Scope::FileNames, "utils", DOMAIN_NAME),
    banned(Scope::FileNames, "helper", DOMAIN_NAME),
    banned(Scope::FileNames, "helpers", DOMAIN_NAME),
    banned(Scope::FileNames, "common", DOMAIN_NAME),
    banned(Scope::FileNames, "misc", DOMAIN_NAME),
    banned(Scope::FileNames, "manager", DOMAIN_NAME),
];

const READ: [&str; 13] =
    ["rs", "c", "h", "py", "sh", "md", "toml", "html", "css", "js", "yml", "yaml", "mk"];

/// Banned words of a file and of its name.
pub fn check(file: &TextFile) -> Vec<Finding> {
    let mut found = Vec::new();
    for banned in TABLE {
        let hits: Vec<usize> = match banned.scope {
            Scope::Everywhere => everywhere(file, banned.word),
            Scope::Deterministic => deterministic(file, banned.word),
            Scope::SharedHeaders => shared_headers(file, banned.word),
            Scope::FileNames => file_names(file, banned.word),
        };
        found.extend(hits.into_iter().map(|line| {
            Finding::new(file, line, format!("`{}`: {}", banned.word, banned.instead))
        }));
    }
    found
}

fn everywhere(file: &TextFile, word: &str) -> Vec<usize> {
    let script = file.extension().is_empty();
    if !script && !READ.contains(&file.extension()) {
        return Vec::new();
    }
    file.lines().filter(|(_, line)| contains(line, word)).map(|(number, _)| number).collect()
}

fn deterministic(file: &TextFile, word: &str) -> Vec<usize> {
    let judged = ["policy/src/", "simulator/src/"];
    if file.extension() != "rs" || !judged.iter().any(|room| file.path.starts_with(room)) {
        return Vec::new();
    }
    shipped_lines(file).filter(|(_, line)| contains(line, word)).map(|(number, _)| number).collect()
}

fn shared_headers(file: &TextFile, word: &str) -> Vec<usize> {
    let judged = ["policy/include/", "cpu-model/include/"];
    if file.extension() != "h" || !judged.iter().any(|room| file.path.starts_with(room)) {
        return Vec::new();
    }
    file.lines()
        .filter(|(_, line)| !line.trim_start().starts_with(['*', '/']))
        .filter(|(_, line)| contains(line, word))
        .map(|(number, _)| number)
        .collect()
}

/// Names that other projects prescribe: headers that BPF programs include.
const PRESCRIBED: [&str; 1] = ["bpf_helpers.h"];

fn file_names(file: &TextFile, word: &str) -> Vec<usize> {
    if file.path.rsplit('/').next().is_some_and(|name| PRESCRIBED.contains(&name)) {
        return Vec::new();
    }
    let named = file.path.split(['/', '.', '_', '-']).any(|part| part == word);
    if named { vec![1] } else { Vec::new() }
}

/// Whether a line contains a word, not merely as a part of a longer one.
pub fn contains(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(begin, _)| {
        let before = line[..begin].chars().next_back();
        let after = line[begin + word.len()..].chars().next();
        let joined_before = word.starts_with(in_word) && before.is_some_and(in_word);
        let joined_after = word.ends_with(in_word) && after.is_some_and(in_word);
        !joined_before && !joined_after
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn judged(banned: &Banned, text: &str) -> TextFile {
        match banned.scope {
            Scope::Everywhere => file("README.md", text),
            Scope::Deterministic => file("simulator/src/engine.rs", text),
            Scope::SharedHeaders => file("policy/include/evenkeel/a.h", text),
            Scope::FileNames => file(&format!("cli/src/{}.rs", banned.word), text),
        }
    }

    #[test]
    fn every_banned_word_is_found_once() {
        for banned in TABLE {
            let line = format!("a {} b\n", banned.word);
            assert_eq!(check(&judged(banned, &line)).len(), 1, "{}", banned.word);
        }
    }

    #[test]
    fn a_longer_word_is_another_one() {
        for banned in TABLE.iter().filter(|banned| banned.word.starts_with(char::is_alphabetic)) {
            if banned.scope != Scope::FileNames {
                let line = format!("a q{} b\n", banned.word);
                assert!(check(&judged(banned, &line)).is_empty(), "{}", banned.word);
            }
        }
        assert!(check(&file("cli/src/utility.rs", "")).is_empty());
        assert!(check(&file("cli/headers/bpf_helpers.h", "")).is_empty());
    }

    #[test]
    fn only_code_that_must_repeat_is_held_to_it() {
        let text = "use std::collections::HashMap;\n";
        assert!(check(&file("trace/src/import.rs", text)).is_empty());
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(check(&file("simulator/src/engine.rs", &test)).is_empty());
    }

    #[test]
    fn a_comment_of_a_header_may_speak_of_floats() {
        let text = " * no float, no double\n";
        assert!(check(&file("policy/include/evenkeel/a.h", text)).is_empty());
    }
}

//! Which variables of the environment there are, so that one that is misspelt is told.

use std::env;
use std::sync::Once;

use crate::notice::tell;

/// What the names of all of them begin with.
const PREFIX: &str = "EVENKEEL_";

/// Those of the task runtime, from whichever way in.
const KNOWN: [&str; 7] = [
    "EVENKEEL_PAGE",
    "EVENKEEL_RULES",
    "EVENKEEL_SUMMARY",
    "EVENKEEL_TOPOLOGY",
    "EVENKEEL_TRACE",
    "EVENKEEL_WIDE",
    "EVENKEEL_WIDE_CPUS",
];

/// Those that tests and commands of the project read: nothing is said of them, and nobody is sent
/// there. Those that a test has for itself begin with [`TEST`].
const ELSEWHERE: [&str; 9] = [
    "EVENKEEL_CASES",
    "EVENKEEL_CI",
    "EVENKEEL_DILATION",
    "EVENKEEL_EXPORTS",
    "EVENKEEL_GRAPHS",
    "EVENKEEL_LAB_TEST_FOLDER",
    "EVENKEEL_OMP",
    "EVENKEEL_SEARCH_ROUNDS",
    "EVENKEEL_SEED",
];
/// See [`ELSEWHERE`].
const TEST: &str = "EVENKEEL_TEST_";

/// A name that differs in more letters is no slip.
const SLIPS_MAX: usize = 3;

/// Tells, once a process, which variables of the environment look like ours and are none. Whoever
/// reads the environment for a runtime calls it.
pub fn tell_unknown() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (name, _) in env::vars_os() {
            if let Some(line) = mistake(&name.to_string_lossy()) {
                tell(&line);
            }
        }
    });
}

/// A line about a name that looks like one of ours, and is none.
fn mistake(name: &str) -> Option<String> {
    let is_known = !name.starts_with(PREFIX)
        || name.starts_with(TEST)
        || KNOWN.contains(&name)
        || ELSEWHERE.contains(&name);
    if is_known {
        return None;
    }
    let distances = KNOWN.into_iter().map(|known| (strsim::levenshtein(name, known), known));
    let nearest = distances.min().filter(|&(distance, _)| distance <= SLIPS_MAX);
    let meant = nearest.map(|(_, known)| format!("; is {known} meant?")).unwrap_or_default();
    Some(format!("no variable {name} is known, and it is ignored{meant}"))
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_misspelt_name_is_told_with_the_nearest_and_others_are_not() {
        for (name, nearest) in [
            ("EVENKEEL_SUMARY", "EVENKEEL_SUMMARY"),
            ("EVENKEEL_RULE", "EVENKEEL_RULES"),
            ("EVENKEEL_WIDE_CPU", "EVENKEEL_WIDE_CPUS"),
            ("EVENKEEL_TRACES", "EVENKEEL_TRACE"),
        ] {
            let line = mistake(name).unwrap();
            assert!(line.contains(&format!("{name} is")), "{line}");
            assert!(line.ends_with(&format!("; is {nearest} meant?")), "{line}");
        }
        assert!(mistake("EVENKEEL_NONSENSE").unwrap().ends_with("ignored"));
        let fine = ["EVENKEEL_PAGE", "EVENKEEL_SEED", "EVENKEEL_TEST_X", "OMP_FOO", "EVENKEELS"];
        assert!(fine.iter().all(|name| mistake(name).is_none()));
    }

    /// Names in quotes that a text has, but those that are read when it is compiled.
    fn names(text: &str) -> impl Iterator<Item = &str> {
        let begin = ["\"", PREFIX].concat();
        let found: Vec<_> = text.match_indices(&begin).map(|(at, _)| at).collect();
        found.into_iter().filter_map(move |at| {
            let name = text[at + 1..].split('"').next()?;
            let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            (is_name && name != PREFIX && !text[..at].ends_with("env!(")).then_some(name)
        })
    }

    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                collect(&path, found);
            }
            let is_source = ["rs", "c", "cpp", "h"].iter().any(|&end| {
                path.is_file() && path.extension().is_some_and(|extension| extension == end)
            });
            // What is named so has misspelt ones.
            if is_source && !name.starts_with("variables.") {
                found.extend(names(&fs::read_to_string(&path).unwrap()).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_variable_that_a_source_reads_is_known() {
        let mut found = BTreeSet::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut found);
        for name in &found {
            assert_eq!(mistake(name), None);
        }
        for name in KNOWN.iter().chain(&ELSEWHERE) {
            assert!(found.contains(*name), "nothing reads {name}");
        }
    }
}

//! Libraries never print and never open files; binaries do.

use super::{Finding, shipped_lines};
use crate::repo::TextFile;

const REFUSED: [(&str, &str); 9] = [
    ("println!", "return the text; the command prints it"),
    ("print!", "return the text; the command prints it"),
    ("eprintln!", "return an error; the command prints it"),
    ("eprint!", "return an error; the command prints it"),
    ("io::stdout", "take a writer; the command opens it"),
    ("io::stderr", "take a writer; the command opens it"),
    ("std::fs", "take text or a reader; the command opens files"),
    ("File::", "take text or a reader; the command opens files"),
    ("process::exit", "return an error; the command decides how it ends"),
];

/// The task runtime is loaded into programs without a command of ours: these files are its edge,
/// where the runtime reads the machine and the environment, and writes reports. The files that
/// print for the commands of developers are an edge too, and the one that has clang compile a
/// source, which takes files.
const EDGES: [&str; 14] = [
    "scx-host/src/compile.rs",
    "tasks/commands/src/progress.rs",
    "tasks/commands/src/steps.rs",
    "tasks/commands/src/test_runner.rs",
    "tasks/commands/src/whole_file.rs",
    "tasks/runtime/src/limits.rs",
    "tasks/runtime/src/topology/sysfs.rs",
    "tasks/openmp/src/place/machine.rs",
    "tasks/openmp/src/ompt/log.rs",
    "tasks/observe/src/environment.rs",
    "tasks/runtime/src/class/environment.rs",
    "tasks/runtime/src/class/set_file.rs",
    "tasks/runtime/src/variables.rs",
    "tasks/runtime/src/notice.rs",
];

/// Lines of library crates that print, open or exit. A library is a room with
/// `src/lib.rs` and without `src/main.rs`.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let has = |path: String| files.iter().any(|file| file.path == path);
    let is_library = |file: &TextFile| {
        let room = file.room();
        file.extension() == "rs"
            && file.path.starts_with(&format!("{room}/src/"))
            && has(format!("{room}/src/lib.rs"))
            && !has(format!("{room}/src/main.rs"))
            && !EDGES.contains(&file.path.as_str())
    };
    files.iter().filter(|file| is_library(file)).flat_map(check_file).collect()
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    shipped_lines(file)
        .filter_map(|(number, line)| {
            let (word, instead) =
                REFUSED.iter().find(|(word, _)| super::words::contains(line, word))?;
            let word = word.trim_end_matches(['(', ':']);
            Some(Finding::new(file, number, format!("`{word}` in a library: {instead}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn a_library_may_do_none_of_it() {
        for (word, _) in REFUSED {
            let files = [file("trace/src/lib.rs", &format!("fn f() {{\n    {word}\n}}\n"))];
            assert_eq!(check(&files).len(), 1, "{word}");
        }
    }

    #[test]
    fn a_command_its_build_script_and_tests_may() {
        let print = "fn main() { println!() }\n";
        let test = format!("#[cfg(test)]\nmod tests {{\n{print}}}\n");
        let files = [
            file("cli/src/lib.rs", print),
            file("cli/src/main.rs", print),
            file("trace/build.rs", print),
            file("trace/tests/all.rs", print),
            file("trace/src/lib.rs", &test),
        ];
        assert!(check(&files).is_empty());
    }

    #[test]
    fn a_longer_name_is_another_word() {
        let files = [file("trace/src/lib.rs", "my_println!(); TextFile::new();\n")];
        assert!(check(&files).is_empty());
    }
}

//! The lines of lit in LLVM's tests: `RUN:`, and the conditions under which the test applies.

/// The commands of a test, and their expected end.
#[derive(Debug, PartialEq, Eq)]
pub struct Lines {
    /// Commands of the shell, with lit's names in them; all have to succeed.
    pub commands: Vec<String>,
    /// Whether the test should fail on this machine.
    pub should_fail: bool,
}

/// A command of a test.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A compiler's, whose program is `%t`.
    Compile(String),
    /// Anything else.
    Run(String),
}

/// lit's names for several commands, with the commands; longest first.
const SHORT: [(&str, &str); 3] = [
    ("%libomp-cxx-compile-and-run", "%libomp-cxx-compile && %libomp-run"),
    ("%libomp-c99-compile-and-run", "%libomp-c99-compile && %libomp-run"),
    ("%libomp-compile-and-run", "%libomp-compile && %libomp-run"),
];
/// How commands of a compiler begin.
const COMPILERS: [&str; 4] =
    ["%libomp-compile", "%libomp-cxx-compile", "%libomp-c99-compile", "%clang"];

/// The lines of a source; an error says why the test is skipped. No `RUN:` is no test.
pub fn read(source: &str, features: &[&str]) -> Result<Option<Lines>, String> {
    let mut lines = Lines { commands: Vec::new(), should_fail: false };
    let mut begun = String::new();
    for line in source.lines() {
        if let Some(command) = after(line, "RUN:") {
            begun.push_str(command.trim_end_matches('\\'));
            if !command.ends_with('\\') {
                lines.commands.push(std::mem::take(&mut begun));
            }
        } else if let Some(words) = after(line, "REQUIRES:") {
            for word in conditions(words) {
                if !holds(word, features)? {
                    return Err(format!("needs {word}"));
                }
            }
        } else if let Some(words) = after(line, "UNSUPPORTED:") {
            if let Some(word) = first_that_holds(words, features)? {
                return Err(format!("not for {word}"));
            }
        } else if let Some(words) = after(line, "XFAIL:") {
            lines.should_fail |= words == "*" || first_that_holds(words, features)?.is_some();
        }
    }
    Ok((!lines.commands.is_empty()).then_some(lines))
}

/// The text after a keyword of a line.
fn after<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let (before, rest) = line.split_once(keyword)?;
    let is_comment = !before.contains(|c: char| c.is_alphanumeric() || "-_".contains(c));
    is_comment.then(|| rest.trim_end_matches("*/").trim())
}

fn conditions(words: &str) -> impl Iterator<Item = &str> {
    words.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn first_that_holds<'a>(words: &'a str, features: &[&str]) -> Result<Option<&'a str>, String> {
    for word in conditions(words) {
        if holds(word, features)? {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// Whether features fulfil a condition: names with `!`, `&&` and `||`.
fn holds(condition: &str, features: &[&str]) -> Result<bool, String> {
    if condition.contains(['(', '{']) {
        return Err(format!("asks for {condition}, which is not understood"));
    }
    let name = |word: &str| match word.trim().strip_prefix('!') {
        Some(name) => !features.contains(&name.trim()),
        None => features.contains(&word.trim()),
    };
    Ok(condition.split("||").any(|all| all.split("&&").all(name)))
}

/// A command, cut where one has to succeed before the next.
pub fn steps(command: &str) -> Vec<Step> {
    let long =
        SHORT.iter().fold(command.to_owned(), |text, (short, long)| text.replace(short, long));
    let steps = long.split("&&").map(str::trim).filter(|step| !step.is_empty());
    steps
        .map(|step| {
            let compiles = COMPILERS.iter().any(|compiler| step.starts_with(compiler));
            if compiles { Step::Compile(step.to_owned()) } else { Step::Run(step.to_owned()) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [&str; 3] = ["clang", "clang-14", "linux"];

    fn read(source: &str) -> Result<Option<Lines>, String> {
        super::read(source, &FEATURES)
    }

    fn compile(command: &str) -> Step {
        Step::Compile(command.to_owned())
    }

    fn run(command: &str) -> Step {
        Step::Run(command.to_owned())
    }

    #[test]
    fn lines_end_where_no_backslash_continues_them() {
        let lines = read("// RUN: %libomp-run | \\\n// RUN: FileCheck %s\n/* RUN: true */\n");
        assert_eq!(lines.unwrap().unwrap().commands, ["%libomp-run | FileCheck %s", "true"]);
    }

    #[test]
    fn a_file_without_commands_is_no_test() {
        assert_eq!(read("int a; // PRERUN: %libomp-run\n"), Ok(None));
    }

    #[test]
    fn a_test_for_another_compiler_is_skipped_with_the_reason() {
        for (source, why) in [
            ("// REQUIRES: linux, hwloc\n", "needs hwloc"),
            ("// UNSUPPORTED: gcc, clang-14\n", "not for clang-14"),
            ("// UNSUPPORTED: clang && !gcc\n", "not for clang && !gcc"),
            ("// REQUIRES: (a)\n", "asks for (a), which is not understood"),
        ] {
            assert_eq!(read(&format!("{source}// RUN: true\n")), Err(why.to_owned()));
        }
        let fails = |line: &str| read(line).unwrap().unwrap().should_fail;
        assert!(fails("// XFAIL: clang\n// RUN: true\n"));
        assert!(!fails("// XFAIL: gcc, clang-1\n// RUN: true\n"));
    }

    #[test]
    fn compilers_are_told_from_what_runs() {
        assert_eq!(
            steps("%libomp-cxx-compile-and-run | FileCheck %s"),
            [compile("%libomp-cxx-compile"), run("%libomp-run | FileCheck %s")]
        );
        assert_eq!(
            steps("%libomp-compile -DA=1 && env B=2 %libomp-run 3 && %libomp-run"),
            [compile("%libomp-compile -DA=1"), run("env B=2 %libomp-run 3"), run("%libomp-run")]
        );
        assert_eq!(
            steps("%clang %flags -shared %s -o %T/tool.so"),
            [compile("%clang %flags -shared %s -o %T/tool.so")]
        );
    }
}

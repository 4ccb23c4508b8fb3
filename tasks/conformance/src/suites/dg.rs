//! The directives in libgomp's tests: `{ dg-do run }`.

use super::selector::{Target, holds, words};

/// The directives of a test.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub options: Vec<String>,
    /// Further sources, from the folder of the test.
    pub sources: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub should_fail: bool,
    /// Texts that the output has to contain.
    pub output: Vec<String>,
}

/// Options of a test without `dg-options` (`c.exp`).
const DEFAULT_OPTIONS: &str = "-O2";
/// The reason to skip a test that only compiles or links.
const NOT_RUN: &str = "only compiles";
/// End of a line in the patterns of outputs.
const LINE_ENDS: [&str; 2] = ["(\n|\r|\r\n)", "(\n|\r\n|\r)"];

/// The directives of a source; an error says why the test is skipped.
pub fn read(source: &str, target: &Target) -> Result<Directives, String> {
    let mut found = Directives::default();
    let mut options = DEFAULT_OPTIONS.to_owned();
    let mut additional = Vec::new();
    let mut is_run = true;
    for line in source.lines() {
        let Some(directive) = directive(line) else { continue };
        let words = words(directive).ok_or_else(|| format!("unreadable: {directive}"))?;
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        match (words[0].as_str(), &arguments[..]) {
            ("dg-do", [what, rest @ ..]) => {
                require(is_meant(rest, target)?, "not for this target")?;
                is_run = *what == "run";
            }
            ("dg-options", [these, rest @ ..]) if is_meant(rest, target)? => {
                options = (*these).to_owned();
            }
            ("dg-additional-options", [these, rest @ ..]) if is_meant(rest, target)? => {
                additional.push((*these).to_owned());
            }
            ("dg-additional-sources", [these, ..]) => {
                found.sources.extend(these.split_whitespace().map(str::to_owned));
            }
            ("dg-set-target-env-var", [name, value, rest @ ..]) if is_meant(rest, target)? => {
                found.environment.push(((*name).to_owned(), (*value).to_owned()));
            }
            ("dg-require-effective-target", [name, rest @ ..]) => {
                let has = holds(&[(*name).to_owned()], target).map_err(unknown)?;
                require(has || !is_meant(rest, target)?, &format!("needs {name}"))?;
            }
            ("dg-skip-if" | "dg-xfail-run-if" | "dg-xfail-if", [why, rest @ ..]) => {
                let why = format!("{} {why}", words[0]);
                require(!is_excluded(rest, &options, target)?, why.trim_end())?;
            }
            ("dg-shouldfail", [_, rest @ ..]) => found.should_fail |= is_meant(rest, target)?,
            ("dg-output", [pattern, rest @ ..]) if is_meant(rest, target)? => {
                found.output.push(literal(pattern)?);
            }
            ("dg-error", _) => return Err(NOT_RUN.to_owned()),
            _ => {}
        }
    }
    require(is_run, NOT_RUN)?;
    additional.insert(0, options);
    found.options =
        additional.iter().flat_map(|some| some.split_whitespace()).map(str::to_owned).collect();
    Ok(found)
}

/// The directive in the braces of a line.
fn directive(line: &str) -> Option<&str> {
    let begin = line.find("{ dg-").or_else(|| line.find("{dg-"))?;
    let end = line.rfind('}')?;
    line.get(begin + 1..end).map(str::trim)
}

fn require(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

fn unknown(name: String) -> String {
    format!("needs {name}, which nobody here knows")
}

/// Whether the rest of a directive, `target ...` in braces or nothing, means us.
fn is_meant(rest: &[&str], target: &Target) -> Result<bool, String> {
    let Some(selector) = rest.iter().find(|word| !word.trim().is_empty()) else { return Ok(true) };
    let selector = words(selector).ok_or_else(|| format!("unreadable: {selector}"))?;
    match selector.split_first() {
        Some((first, rest)) if first == "target" => holds(rest, target).map_err(unknown),
        // A test that is expected to fail runs like any other.
        _ => Ok(true),
    }
}

/// Whether targets, options to have and options to lack exclude us.
fn is_excluded(rest: &[&str], options: &str, target: &Target) -> Result<bool, String> {
    let Some((targets, lists)) = rest.split_first() else { return Ok(true) };
    let targets = words(targets).ok_or_else(|| format!("unreadable: {targets}"))?;
    let named = |list: &&str| words(list).unwrap_or_default();
    let has = |option: &String| option == "*" || options.split(' ').any(|one| one == option);
    let included = lists.first().map(named).is_none_or(|list| list.iter().any(has));
    let excepted = lists.get(1).map(named).is_some_and(|list| list.iter().any(has));
    let named_target = targets.first().is_some_and(|first| first == "target");
    let targets = &targets[usize::from(named_target)..];
    Ok(included && !excepted && holds(targets, target).map_err(unknown)?)
}

/// The text of a pattern that is one but for its ends of lines.
fn literal(pattern: &str) -> Result<String, String> {
    let text = pattern.to_owned();
    let text = LINE_ENDS.iter().fold(text, |text, end| text.replace(&format!("{end}+"), ""));
    let text = LINE_ENDS.iter().fold(text, |text, end| text.replace(end, ""));
    let is_literal = !text.contains(['\\', '[', ']', '(', ')', '|', '+', '*', '?', '\n']);
    if is_literal { Ok(text) } else { Err("its output is a pattern".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::program::Language;
    use super::*;

    fn target(language: Language) -> Target<'static> {
        Target { triple: "x86_64-pc-linux-gnu", language, cpu_flags: &["avx"] }
    }

    fn read(source: &str) -> Result<Directives, String> {
        super::read(source, &target(Language::C))
    }

    #[test]
    fn a_test_that_says_nothing_is_run_with_the_default_options() {
        assert_eq!(read("int main(void) { return 0; }\n").unwrap().options, ["-O2"]);
    }

    #[test]
    fn options_replace_the_default_and_additional_ones_do_not() {
        let found = read(
            "/* { dg-options \"-O0 -g\" } */\n\
             // { dg-additional-options \"-mavx\" { target avx_runtime } }\n\
             // { dg-additional-options \"-std=c++17\" {target c++ } }\n",
        );
        assert_eq!(found.unwrap().options, ["-O0", "-g", "-mavx"]);
        assert_eq!(read("{ dg-additional-options \"-g\" }").unwrap().options, ["-O2", "-g"]);
    }

    #[test]
    fn the_environment_and_the_end_are_as_a_test_says() {
        let found = read(
            "/* { dg-set-target-env-var OMP_NUM_THREADS \"4\" } */\n\
             /* { dg-shouldfail \"it says so\" } */\n\
             /* { dg-output \"a message(\\n|\\r|\\r\\n)\" } */\n",
        )
        .unwrap();
        assert_eq!(found.environment, [("OMP_NUM_THREADS".to_owned(), "4".to_owned())]);
        assert!(found.should_fail);
        assert_eq!(found.output, ["a message"]);
    }

    #[test]
    fn a_test_for_another_target_is_skipped_with_the_reason() {
        for (source, why) in [
            ("{ dg-do compile }", NOT_RUN),
            ("{ dg-do run { target alpha*-*-* } }", "not for this target"),
            ("{ dg-require-effective-target offload_device }", "needs offload_device"),
            ("{ dg-skip-if \"too slow\" { *-*-* } }", "dg-skip-if too slow"),
            ("{ dg-require-effective-target rain }", "needs rain, which nobody here knows"),
            ("{ dg-output \"a [0-9]+\" }", "its output is a pattern"),
        ] {
            assert_eq!(read(source), Err(why.to_owned()), "{source}");
        }
    }

    #[test]
    fn a_skip_may_be_for_some_options_only() {
        assert!(read("{ dg-skip-if \"\" { *-*-* } { \"-O0\" } { \"\" } }").is_ok());
        assert!(read("{ dg-skip-if \"\" { *-*-* } { \"*\" } { \"-O2\" } }").is_ok());
        assert!(read("{ dg-skip-if \"\" { *-*-* } { \"*\" } { \"\" } }").is_err());
    }

    #[test]
    fn one_source_may_be_for_one_language() {
        let source = "// { dg-do run { target c++ } }";
        assert!(super::read(source, &target(Language::Cxx)).is_ok());
        assert!(super::read(source, &target(Language::C)).is_err());
    }
}

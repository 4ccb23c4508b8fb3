//! Files that a person writes end before 600 lines, and functions before 70.
//!
//! The formatters put the closing brace of a function at the indentation of its
//! first line, so the end of a function needs no parser.

use super::Finding;
use crate::r#gen::DRIVERS;
use crate::repo::TextFile;

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

/// Files and functions that are too long.
pub fn check(file: &TextFile) -> Vec<Finding> {
    if file.path == DRIVERS {
        return Vec::new();
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let functions: Vec<(usize, usize)> = match file.extension() {
        "rs" => braced(&lines, rust_function),
        "c" | "h" => braced(&lines, c_function),
        "py" => python(&lines),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    if lines.len() > FILE_LINES_MAX {
        let message =
            format!("{} lines; split it by question (at most {FILE_LINES_MAX})", lines.len());
        found.push(Finding::new(file, FILE_LINES_MAX, message));
    }
    for (begin, length) in functions {
        if length > FUNCTION_LINES_MAX {
            let message = format!("a function of {length} lines; at most {FUNCTION_LINES_MAX}");
            found.push(Finding::new(file, begin + 1, message));
        }
    }
    found
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Functions by their first line, from 0, and how many lines they have.
fn braced(lines: &[&str], begins: fn(&str) -> bool) -> Vec<(usize, usize)> {
    let mut functions = Vec::new();
    for (begin, first) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        if first.ends_with('}') || first.ends_with(';') {
            continue;
        }
        let indent = indentation(first);
        let end = lines[begin + 1..].iter().position(|line| {
            indentation(line) == indent
                && (line.trim() == "}"
                    || (line.trim_start().starts_with(')') && line.ends_with(';')))
        });
        if let Some(end) = end {
            functions.push((begin, end + 2));
        }
    }
    functions
}

fn rust_function(line: &str) -> bool {
    const BEFORE: [&str; 8] =
        ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "\"C\""];
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = words.iter().position(|&word| word == "fn");
    name.is_some_and(|name| words[..name].iter().all(|word| BEFORE.contains(word)))
}

fn c_function(line: &str) -> bool {
    let starts_with_name = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_with_name && line.contains('(') && !line.starts_with("typedef")
}

fn python(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut functions = Vec::new();
    for (begin, first) in lines.iter().enumerate() {
        let trimmed = first.trim_start();
        if !trimmed.starts_with("def ") && !trimmed.starts_with("async def ") {
            continue;
        }
        let depth = indentation(first).len();
        let inside = |line: &&str| {
            let text = line.trim_start();
            text.is_empty() || text.starts_with(')') || indentation(line).len() > depth
        };
        let body = &lines[begin + 1..];
        let body = &body[..body.iter().position(|line| !inside(line)).unwrap_or(body.len())];
        let length =
            body.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        functions.push((begin, 1 + length));
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn function(first: &str, inside: &str, last: &str, lines: usize) -> String {
        format!("{first}\n{}{last}\n", format!("{inside}\n").repeat(lines - 2))
    }

    #[test]
    fn seventy_lines_of_rust_pass_and_one_more_does_not() {
        let first = "    pub(crate) fn f(a: u8) -> u8 {";
        let fits = file("a.rs", &function(first, "        1;", "    }", 70));
        let long = file("a.rs", &function(first, "        1;", "    }", 71));
        assert!(check(&fits).is_empty());
        assert_eq!(check(&long).len(), 1);
    }

    #[test]
    fn seventy_lines_of_c_pass_and_one_more_does_not() {
        let first = "static inline u8 f(u8 a,\n\t\tu8 b)\n{";
        let fits = file("a.h", &function(first, "\t1;", "}", 68));
        let long = file("a.h", &function(first, "\t1;", "}", 69));
        assert!(check(&fits).is_empty());
        assert_eq!(check(&long).len(), 1);
    }

    #[test]
    fn seventy_lines_of_python_pass_and_one_more_does_not() {
        let fits = file("a.py", &function("def f():", "    a", "\n\nb = 1", 71));
        let long = file("a.py", &function("def f():", "    a", "\n\nb = 1", 72));
        assert!(check(&fits).is_empty());
        assert_eq!(check(&long).len(), 1);
    }

    #[test]
    fn a_declaration_has_no_body() {
        let text = function("    fn f(\n        a: u8,\n    ) -> u8;", "\n", "    }", 80);
        assert!(check(&file("a.rs", &text)).is_empty());
        let text = function("u8 f(u8 a);", "\n", "}", 80);
        assert!(check(&file("a.c", &text)).is_empty());
    }

    #[test]
    fn six_hundred_lines_pass_and_one_more_does_not() {
        assert!(check(&file("a.rs", &"\n".repeat(600))).is_empty());
        assert_eq!(check(&file("a.rs", &"\n".repeat(601))).len(), 1);
    }
}

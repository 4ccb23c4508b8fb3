//! Links of Markdown files lead to an existing file, and to an existing heading of the file.

use std::collections::BTreeSet;

use super::Finding;
use crate::repo::TextFile;

/// Relative links whose file or heading does not exist.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let paths = paths_and_folders(files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension() == "md") {
        let mut in_code = false;
        for (number, line) in file.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            if in_code {
                continue;
            }
            for target in
                targets(line).into_iter().filter(|target| !leads(files, &paths, file, target))
            {
                found.push(Finding::new(file, number, format!("`{target}` leads nowhere")));
            }
        }
    }
    found
}

fn paths_and_folders(files: &[TextFile]) -> BTreeSet<String> {
    let mut paths = BTreeSet::from([String::new()]);
    for file in files {
        let mut path = file.path.as_str();
        while paths.insert(path.to_string()) {
            path = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
    }
    paths
}

/// Targets of the links and pictures of a line.
fn targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        for (begin, _) in line.match_indices(open) {
            let rest = &line[begin + open.len()..];
            targets.extend(rest.find(close).map(|end| &rest[..end]));
        }
    }
    targets
}

fn leads(files: &[TextFile], paths: &BTreeSet<String>, from: &TextFile, target: &str) -> bool {
    if target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { Some(from.path.clone()) } else { resolve(&from.path, path) };
    let Some(path) = path.filter(|path| paths.contains(path)) else {
        return false;
    };
    heading.is_empty()
        || files.iter().filter(|file| file.path == path).any(|file| has_heading(file, heading))
}

/// The path a relative link of a file names; `None` outside the project.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn has_heading(file: &TextFile, heading: &str) -> bool {
    file.lines().any(|(_, line)| line.starts_with('#') && slug(line) == heading)
}

fn slug(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn links(text: &str) -> usize {
        let files = [
            file("docs/a.md", text),
            file("docs/b/c.md", "# Two words, one slug\n"),
            file("README.md", ""),
        ];
        check(&files).len()
    }

    #[test]
    fn links_to_files_folders_and_headings_pass() {
        assert_eq!(links("[x](b/c.md) [x](b) [x](../README.md) <img src=\"b/c.md\">\n"), 0);
        assert_eq!(links("[x](b/c.md#two-words-one-slug) [x](https://example.org/a)\n"), 0);
        assert_eq!(links("# Here\n[x](#here)\n"), 0);
    }

    #[test]
    fn links_to_nothing_are_found() {
        assert_eq!(links("[x](b/d.md)\n"), 1);
        assert_eq!(links("[x](../../README.md)\n"), 1);
        assert_eq!(links("<img src=\"d.svg\">\n"), 1);
        assert_eq!(links("[x](b/c.md#three)\n"), 1);
        assert_eq!(links("[x](#three)\n"), 1);
    }

    #[test]
    fn code_is_not_prose() {
        assert_eq!(links("```\n[x](b/d.md)\n```\n"), 0);
    }
}

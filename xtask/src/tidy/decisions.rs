//! Decisions have a number, a status and an end, and are in the list of their folder.

use super::Finding;
use crate::repo::TextFile;

/// Folders of decisions.
const FOLDERS: [&str; 2] = ["docs/decisions/", "tasks/docs/decisions/"];
/// Past this, a decision has a second question.
const LINES_MAX: usize = 200;

/// Decisions that lack one of these.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let list = files.iter().find(|file| file.path == format!("{folder}README.md"));
        let list = list.map_or("", |file| file.text.as_str());
        for file in files.iter().filter(|file| file.path.starts_with(folder)) {
            let name = &file.path[folder.len()..];
            if name != "README.md" {
                found.extend(judge(file, name, list));
            }
        }
    }
    found
}

fn judge(file: &TextFile, name: &str, list: &str) -> Vec<Finding> {
    let number = name.split('-').next().unwrap_or_default();
    let lines = file.text.lines().count();
    let mut found = Vec::new();
    if !file.text.starts_with(&format!("# {number}: ")) {
        found.push(Finding::new(file, 1, format!("begin with `# {number}: `")));
    }
    if !file.text.lines().any(|line| line.starts_with("Status: ")) {
        found.push(Finding::new(file, 1, "a decision has a line `Status: `"));
    }
    if lines > LINES_MAX {
        found.push(Finding::new(file, lines, format!("{lines} lines, at most {LINES_MAX}")));
    }
    if !list.contains(&format!("[{number}]({name})")) {
        found.push(Finding::new(file, 1, "not in the list of README.md"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn found(text: &str, list: &str) -> usize {
        let name = "docs/decisions/0001-rooms.md";
        check(&[file(name, text), file("docs/decisions/README.md", list)]).len()
    }

    #[test]
    fn a_decision_has_its_number_a_status_and_a_place_in_the_list() {
        let list = "| [0001](0001-rooms.md) | Rooms |\n";
        assert_eq!(found("# 0001: Rooms\n\nStatus: taken.\n", list), 0);
        assert_eq!(found("# 0002: Rooms\n\nStatus: taken.\n", list), 1);
        assert_eq!(found("# 0001: Rooms\n\nTaken.\n", list), 1);
        assert_eq!(found("# 0001: Rooms\n\nStatus: taken.\n", ""), 1);
    }

    #[test]
    fn a_decision_ends() {
        let list = "[0001](0001-rooms.md)";
        let text = format!("# 0001: Rooms\n\nStatus: taken.\n{}", "a\n".repeat(198));
        assert_eq!(found(&text, list), 1);
        assert_eq!(found(text.trim_end_matches("a\n"), list), 0);
    }
}

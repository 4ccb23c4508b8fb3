//! Comments name their subject: how many lines lean on a pronoun instead, by room.
//!
//! A line leans on a pronoun if one of [`PRONOUNS`] is among its words. English needs some such
//! lines: published concurrency libraries have 6 to 13 %.

use std::collections::BTreeMap;

use super::Finding;
use super::words::contains;
use crate::repo::TextFile;

/// Words that stand for a thread, a task or a value that the reader has to find.
const PRONOUNS: [&str; 7] = ["what", "who", "whoever", "whom", "others", "there", "it"];

/// The largest share of such lines in a room.
const PERCENT_MAX: usize = 15;

/// Comment lines of a room, and how many of them lean on a pronoun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Lines of comments.
    pub lines: usize,
    /// Those with a pronoun.
    pub leaning: usize,
}

impl Count {
    /// The share of lines that lean on a pronoun, rounded up.
    pub fn percent(self) -> usize {
        (100 * self.leaning).div_ceil(self.lines.max(1))
    }
}

/// Rooms with too many lines that lean on a pronoun.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (room, count) in by_room(files) {
        let percent = count.percent();
        if percent <= PERCENT_MAX {
            continue;
        }
        let message = format!(
            "{percent} % of the comment lines of `{room}` lean on a pronoun, at most \
             {PERCENT_MAX}: name the subject (`cargo xtask tidy --prose {room}` shows the lines)"
        );
        let first = files.iter().find(|file| file.room() == room);
        found.extend(first.map(|file| Finding::new(file, 1, message)));
    }
    found
}

/// Counts of every room that has comments.
pub fn by_room(files: &[TextFile]) -> BTreeMap<&str, Count> {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for file in files {
        for (_, comment) in comments(file) {
            let count = counts.entry(file.room()).or_default();
            count.lines += 1;
            count.leaning += usize::from(leans(comment));
        }
    }
    counts
}

/// Whether a line of a comment has a pronoun of the list.
pub fn leans(comment: &str) -> bool {
    let comment = comment.to_lowercase();
    PRONOUNS.iter().any(|word| contains(&comment, word))
}

/// Lines of a file that are comments and nothing else, with their numbers.
pub fn comments(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    let is_c = matches!(file.extension(), "c" | "h");
    let mut inside = false;
    file.lines().filter_map(move |(number, line)| {
        let line = line.trim_start();
        let text = match file.extension() {
            "rs" => line.strip_prefix("//"),
            "py" => line.strip_prefix('#'),
            "c" | "h" if inside || line.starts_with("/*") => Some(line),
            _ => None,
        };
        if is_c && text.is_some() {
            inside = !line.contains("*/");
        }
        let text = text?.trim_matches(['/', '*', '!', '#', ' ']);
        let is_prose = text.contains(char::is_alphabetic) && !text.starts_with("SPDX");
        is_prose.then_some((number, text))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn a_pronoun_counts_as_a_word_only() {
        assert!(leans("What is queued waits."));
        assert!(leans("Others wait."));
        assert!(!leans("A worker waits with its queue, and whatever item is therefore first."));
    }

    #[test]
    fn comments_of_both_languages_are_read_and_code_is_not() {
        let rust = file("trace/src/a.rs", "//! It runs.\nlet it = 1; // it\n    /// A b.\n");
        let lines: Vec<usize> = comments(&rust).map(|(number, _)| number).collect();
        assert_eq!(lines, [1, 3]);
        let text = "/* SPDX */\n/*\n * It runs.\n */\nint it;\n/* A b. */\n";
        let c = file("policy/include/a.h", text);
        let lines: Vec<usize> = comments(&c).map(|(number, _)| number).collect();
        assert_eq!(lines, [3, 6]);
    }

    #[test]
    fn a_room_with_too_many_is_found() {
        let leaning = file("new/src/a.rs", "// It runs.\n");
        assert_eq!(check(&[leaning]).len(), 1);
        let plain = file("new/src/a.rs", "// The task runs.\n");
        assert!(check(&[plain]).is_empty());
    }
}

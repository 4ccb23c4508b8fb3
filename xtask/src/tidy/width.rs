//! No line of code is wider than 100 columns, and none of Markdown wider than 120.

use super::Finding;
use crate::repo::TextFile;

const COLUMNS_MAX: usize = 100;
const PROSE_COLUMNS_MAX: usize = 120;
/// As in the kernel, whose style the C files follow.
const TAB: usize = 8;

/// Lines that are too wide. A line with an address may be wider, since an address cannot be
/// broken. In tests, text in double quotes does not count, so that a row of a table is one line.
pub fn check(file: &TextFile) -> Vec<Finding> {
    if file.extension() == "md" {
        return check_prose(file);
    }
    if !matches!(file.extension(), "rs" | "c" | "h" | "py" | "sh") {
        return Vec::new();
    }
    let of_test = file.path.contains("/tests/");
    file.lines()
        .filter(|(_, line)| !line.contains("://"))
        .map(|(number, line)| (number, if of_test { beside_texts(line) } else { columns(line) }))
        .filter(|&(_, columns)| columns > COLUMNS_MAX)
        .map(|(number, columns)| {
            Finding::new(file, number, format!("{columns} columns; break it at {COLUMNS_MAX}"))
        })
        .collect()
}

/// Lines of Markdown that are too wide. Rows of tables, lines of code and lines with an address may
/// be wider, since they cannot be broken; the target of a link does not count.
fn check_prose(file: &TextFile) -> Vec<Finding> {
    let mut in_code = false;
    let mut is_prose = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence && !line.starts_with('|') && !line.contains("://")
    };
    file.lines()
        .filter(|(_, line)| is_prose(line))
        .map(|(number, line)| (number, without_targets(line).chars().count()))
        .filter(|&(_, columns)| columns > PROSE_COLUMNS_MAX)
        .map(|(number, columns)| {
            let message = format!("{columns} columns; break it at {PROSE_COLUMNS_MAX}");
            Finding::new(file, number, message)
        })
        .collect()
}

/// A line of Markdown as it is read: without the targets of its links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once(')').map_or(part, |(_, after)| after);
    }
    text
}

fn columns(line: &str) -> usize {
    line.chars().fold(0, |column, c| if c == '\t' { column / TAB * TAB + TAB } else { column + 1 })
}

/// Columns outside double quotes.
fn beside_texts(line: &str) -> usize {
    let unescaped = line.replace("\\\\", "").replace("\\\"", "");
    unescaped.split('"').step_by(2).map(columns).sum()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn a_hundred_columns_pass_and_one_more_does_not() {
        let fits = file("a.rs", &"x".repeat(100));
        let wide = file("a.rs", &"x".repeat(101));
        assert!(check(&fits).is_empty());
        assert_eq!(check(&wide).len(), 1);
    }

    #[test]
    fn a_tab_reaches_to_the_next_eighth_column() {
        assert_eq!(columns("\tx"), 9);
        assert_eq!(columns("ab\tx"), 9);
    }

    #[test]
    fn a_text_in_a_test_may_be_wide_and_the_code_around_it_may_not() {
        let text = format!("(\"\\\"{}\", 1),", "x".repeat(100));
        let code = format!("(\"\\\"\", {}),", "x".repeat(100));
        assert!(check(&file("a/tests/b.rs", &text)).is_empty());
        assert_eq!(check(&file("a/tests/b.rs", &code)).len(), 1);
        assert_eq!(check(&file("a/src/b.rs", &text)).len(), 1);
    }

    #[test]
    fn prose_ends_at_a_column_of_its_own_and_what_cannot_be_broken_does_not() {
        let found = |text: &str| check(&file("a.md", text)).len();
        let (fits, wide) = ("x".repeat(120), "x".repeat(121));
        assert_eq!(found(&fits), 0);
        assert_eq!(found(&wide), 1);
        assert_eq!(found(&format!("| {wide} |")), 0);
        assert_eq!(found(&format!("```\n{wide}\n```\n")), 0);
        assert_eq!(found(&format!("```\n```\n{wide}\n")), 1);
        assert_eq!(found(&format!("[a]({wide}) b [c]({wide})")), 0);
        assert_eq!(found(&format!("<https://example.org/{wide}>")), 0);
    }
}

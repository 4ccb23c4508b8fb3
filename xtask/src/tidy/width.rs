//! No line of code is wider than 100 columns.

use super::Finding;
use crate::repo::TextFile;

const COLUMNS_MAX: usize = 100;
/// As in the kernel, whose style the C files follow.
const TAB: usize = 8;

/// Lines that are too wide. A line with an address may be wider, since an address cannot be
/// broken. In tests, text in double quotes does not count, so that a row of a table is one line.
pub fn check(file: &TextFile) -> Vec<Finding> {
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
    fn prose_may_be_wide() {
        assert!(check(&file("a.md", &"x".repeat(300))).is_empty());
    }
}

//! Aligned columns for a terminal; columns that do not fit are left out, least needed first.

use unicode_width::UnicodeWidthStr;

/// A column.
pub(crate) struct Column {
    pub(crate) head: String,
    /// Numbers end where they end; words begin where they begin.
    pub(crate) right: bool,
    /// When the width is too small, the columns with the highest value are dropped first.
    pub(crate) expendable: u32,
}

impl Column {
    pub(crate) fn words(head: &str, expendable: u32) -> Self {
        Self { head: head.to_owned(), right: false, expendable }
    }

    pub(crate) fn numbers(head: &str, expendable: u32) -> Self {
        Self { head: head.to_owned(), right: true, expendable }
    }
}

/// How a cell is shown where colour is allowed; the words alone say as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Dim,
}

/// Rows of cells under columns.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<(String, Tone)>>,
}

const GAP: usize = 2;
/// The widest a column of names gets.
const CELL_MAX: usize = 40;

impl TextTable {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; cells are clean, one a column.
    pub(crate) fn push(&mut self, row: Vec<(String, Tone)>) {
        debug_assert_eq!(row.len(), self.columns.len());
        let shorten = |(text, tone): (String, Tone)| (shorten(&text, CELL_MAX), tone);
        self.rows.push(row.into_iter().map(shorten).collect());
    }

    /// Lines of at most `width`, as far as the columns that are always kept allow.
    pub(crate) fn render(&self, width: usize, color: bool) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let shown = self.fitting(&widths, width);
        let mut text = String::new();
        let head = self.columns.iter().map(|column| (column.head.clone(), Tone::Dim)).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut line = String::new();
            for &column in &shown {
                if column != shown[0] {
                    line.push_str(&" ".repeat(GAP));
                }
                line.push_str(&self.cell(&row[column], column, widths[column], color));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].0.width());
        cells.chain([self.columns[column].head.width()]).max().unwrap_or(0)
    }

    fn fitting(&self, widths: &[usize], width: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len())
            .filter(|&column| self.rows.iter().any(|row| !row[column].0.is_empty()))
            .collect();
        let total = |shown: &[usize]| {
            shown.iter().map(|&column| widths[column] + GAP).sum::<usize>().saturating_sub(GAP)
        };
        while total(&shown) > width {
            let expendable = |&column: &usize| self.columns[column].expendable;
            let Some(worst) = shown.iter().copied().max_by_key(expendable) else { break };
            if self.columns[worst].expendable == 0 {
                break;
            }
            shown.retain(|&column| column != worst);
        }
        shown
    }

    fn cell(
        &self,
        (text, tone): &(String, Tone),
        column: usize,
        width: usize,
        color: bool,
    ) -> String {
        let room = " ".repeat(width.saturating_sub(text.width()));
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "\u{1b}[32m",
            Tone::Bad => "\u{1b}[1;31m",
            Tone::Dim => "\u{1b}[2m",
        };
        let shown =
            if color && !code.is_empty() { format!("{code}{text}\u{1b}[0m") } else { text.clone() };
        if self.columns[column].right { format!("{room}{shown}") } else { format!("{shown}{room}") }
    }
}

/// Cuts a text to a width and says so.
fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if short.width() >= width {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

/// Breaks a text between words, but not between a number and its `%`.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    broken(text, width, 0)
}

/// Breaks the lines of a text that are longer than `width` columns between words; what does not fit
/// follows two columns further in.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    text.lines().map(|line| broken(line, width, 2)).collect()
}

fn broken(text: &str, width: usize, further: usize) -> String {
    let words = text.trim_start_matches(' ');
    let indent = text.len() - words.len();
    let mut lines = " ".repeat(indent);
    let mut used = indent;
    for (index, word) in words.replace(" %", "\u{a0}%").split(' ').enumerate() {
        if index > 0 && used + 1 + word.width() > width {
            lines.truncate(lines.trim_end_matches(' ').len());
            lines.push('\n');
            used = indent + further;
            lines.push_str(&" ".repeat(used));
        } else if index > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += word.width();
    }
    lines.push('\n');
    lines.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let columns =
            vec![Column::words("name", 0), Column::numbers("n", 2), Column::numbers("kept", 1)];
        let mut table = TextTable::new(columns);
        let plain = |text: &str| (text.to_owned(), Tone::Plain);
        table.push(vec![plain("λambda"), plain("7"), plain("10")]);
        table.push(vec![plain("日本"), plain("12"), ("3".to_owned(), Tone::Bad)]);
        table
    }

    #[test]
    fn columns_align_whatever_the_width_of_the_letters() {
        assert_eq!(
            table().render(80, false),
            "name     n  kept\nλambda   7    10\n日本    12     3\n"
        );
    }

    #[test]
    fn the_most_expendable_column_is_dropped_first() {
        assert_eq!(table().render(13, false), "name    kept\nλambda    10\n日本       3\n");
        assert_eq!(table().render(3, false), "name\nλambda\n日本\n");
    }

    #[test]
    fn colour_changes_no_column() {
        let plain = table().render(80, false);
        let colored = table().render(80, true);
        let mut stripped = colored.clone();
        for code in ["\u{1b}[2m", "\u{1b}[1;31m", "\u{1b}[0m"] {
            stripped = stripped.replace(code, "");
        }
        assert_ne!(plain, colored);
        assert_eq!(plain, stripped);
    }

    #[test]
    fn long_names_are_cut_and_texts_break_between_words() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(wrap("aa bb cc", 5), "aa bb\ncc\n");
        assert_eq!(wrap("aa 7 %", 5), "aa\n7 %\n");
    }

    #[test]
    fn continuation_lines_are_indented() {
        assert_eq!(fit("  one two three\n  a   b\n\n", 10), "  one two\n    three\n  a   b\n\n");
        assert_eq!(fit("a-very-long-word b", 5), "a-very-long-word\n  b\n");
    }
}

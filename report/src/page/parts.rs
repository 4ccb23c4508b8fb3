//! Building blocks of a page: parts with a title, tables, legends.

use crate::drawing::{escape, swatch};
use crate::format::grouped;

/// A part of the page.
pub(super) struct Part {
    /// The finding of this part, as its heading.
    pub(super) title: String,
    pub(super) html: String,
}

/// The parts one after the other, and a list of them that leads to each.
pub(super) fn join(parts: &[Part]) -> (String, String) {
    let mut list = String::new();
    let mut html = String::new();
    for (number, Part { title, html: body }) in parts.iter().enumerate() {
        let title = escape(title);
        let id = format!("part-{}", number + 1);
        list += &format!("<li><a href=\"#{id}\">{title}</a></li>\n");
        html += &format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n\
             <h2 id=\"{id}-title\">{title}</h2>\n{body}</section>\n"
        );
    }
    (format!("<ol>\n{list}</ol>\n"), html)
}

/// A cell of a table, escaped.
pub(super) struct Cell {
    is_number: bool,
    html: String,
}

impl Cell {
    pub(super) fn text(text: &str) -> Self {
        Self { is_number: false, html: escape(text) }
    }

    pub(super) fn number(text: &str) -> Self {
        Self { is_number: true, html: escape(text) }
    }

    /// A text that shows another one where the pointer is on it.
    pub(super) fn hinted(text: &str, hint: &str) -> Self {
        let html = format!("<span title=\"{}\">{}</span>", escape(hint), escape(text));
        Self { is_number: false, html }
    }

    /// A cell with a remark below its text.
    pub(super) fn remarked(self, remark: &str) -> Self {
        if remark.is_empty() {
            return self;
        }
        let html = format!("{}<br/><span class=\"soft\">{}</span>", self.html, escape(remark));
        Self { html, ..self }
    }

    /// A cell marked as hit or miss; the text says the same.
    pub(super) fn judged(text: &str, hit: Option<bool>) -> Self {
        let html = match hit {
            Some(true) => format!("<span class=\"hit\">{}</span>", escape(text)),
            Some(false) => format!("<span class=\"miss\">{}</span>", escape(text)),
            None => escape(text),
        };
        Self { is_number: false, html }
    }
}

/// Rows of a table that belong together.
pub(super) struct Rows {
    /// The heading of the group.
    pub(super) head: String,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A table; heads that begin with `#` are those of numbers. A reader that cannot see it is told
/// `caption`.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    format!("{}{}</table></div>\n", begin(caption, heads), body("", rows))
}

/// A table of groups of rows, each below its heading.
pub(super) fn grouped_table(caption: &str, heads: &[&str], groups: &[Rows]) -> String {
    let mut html = begin(caption, heads);
    for Rows { head, rows } in groups {
        let head = format!(
            "<tr><th scope=\"rowgroup\" class=\"g\" colspan=\"{}\">{}</th></tr>\n",
            heads.len(),
            escape(head)
        );
        html += &body(&head, rows);
    }
    html + "</table></div>\n"
}

fn begin(caption: &str, heads: &[&str]) -> String {
    let caption = escape(caption);
    let mut html = format!(
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n\
         <caption class=\"heard\">{caption}</caption>\n<thead><tr>"
    );
    for head in heads {
        let (class, text) = head.strip_prefix('#').map_or(("", *head), |t| (" class=\"n\"", t));
        html += &format!("<th scope=\"col\"{class}>{}</th>", escape(text));
    }
    html + "</tr></thead>\n"
}

fn body(head: &str, rows: &[Vec<Cell>]) -> String {
    let mut html = format!("<tbody>\n{head}");
    for row in rows {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let class = if cell.is_number { " class=\"n\"" } else { "" };
            html += &match column {
                0 => format!("<th scope=\"row\"{class}>{}</th>", cell.html),
                _ => format!("<td{class}>{}</td>", cell.html),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>"
}

/// The first of many, and how many are left out.
pub(super) fn first<T>(mut all: Vec<T>, most: usize) -> (Vec<T>, usize) {
    let left_out = all.len().saturating_sub(most);
    all.truncate(most);
    (all, left_out)
}

/// A sentence about the number of rows left out, which the JSON form has.
pub(super) fn left_out(count: usize, what: &str) -> String {
    if count == 0 {
        return String::new();
    }
    let count = grouped(count);
    format!("<p class=\"soft\">{count} smaller {what} are left out; --json writes all.</p>\n")
}

/// A part that opens on a click on its summary.
pub(super) fn details(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escape(summary))
}

/// Names beside their colours.
pub(super) fn legend(names: &[String], colors: &[usize]) -> String {
    let mut html = "<ul class=\"legend\">\n".to_owned();
    for (name, color) in names.iter().zip(colors) {
        html += &format!("<li>{}{}</li>\n", swatch(*color), escape(name));
    }
    html + "</ul>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_leads_to_every_part() {
        let part = |title: &str| Part { title: title.to_owned(), html: String::new() };
        let (list, html) = join(&[part("a < b"), part("c")]);
        assert!(list.contains("<a href=\"#part-1\">a &lt; b</a>"), "{list}");
        assert!(html.contains("<section id=\"part-2\"") && html.contains("id=\"part-2-title\">c<"));
    }

    #[test]
    fn rows_left_out_are_counted() {
        let (kept, more) = first(vec![0; 1200], 100);
        assert_eq!((kept.len(), more), (100, 1100));
        assert!(left_out(more, "losses").contains("1,100 smaller losses are left out"));
        assert_eq!(left_out(first(vec![0; 100], 100).1, "losses"), "");
    }
}

//! What wide code gained its program, and what it cost others.

use crate::drawing::escape;
use crate::page::parts::{Cell, Part, table};
use crate::profile::Comparison;
use crate::profile::words::{NOTE_MAX, cut};

/// The table and its sentences.
pub(super) fn comparison(of: &Comparison) -> Part {
    let heads: Vec<&str> = of.heads.iter().map(String::as_str).collect();
    let cell = |(head, text): (&&str, &String)| match head.starts_with('#') {
        true => Cell::number(text),
        false => Cell::text(text),
    };
    let row = |row: &Vec<String>| heads.iter().zip(row).map(cell).collect();
    let rows: Vec<Vec<Cell>> = of.rows.iter().map(row).collect();
    let mut html = String::new();
    if !rows.is_empty() {
        html += &table("The same work with wide and with narrow code", &heads, &rows);
    }
    for sentence in &of.sentences {
        html += &format!("<p class=\"soft\">{}</p>\n", escape(&cut(sentence, NOTE_MAX)));
    }
    Part { title: cut(&of.title, NOTE_MAX), html }
}

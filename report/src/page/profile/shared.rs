//! What the tables of a profile's page share.

use crate::format::counted;
use crate::page::parts::Cell;
use crate::profile::View;
use crate::profile::words::{NOTE_MAX, cut, name};

/// A program's name as a cell, which shows its path, if it has one, where the pointer is on it.
pub(super) fn named(view: &View, name_of: &str) -> Cell {
    let victim = view.victims.iter().find(|victim| victim.name == name_of);
    match victim.and_then(|victim| victim.path.as_deref()) {
        Some(path) => Cell::hinted(&name(name_of), &cut(path, NOTE_MAX)),
        None => Cell::text(&name(name_of)),
    }
}

/// A sentence about how many of something the page leaves out; an `s` is the plural.
pub(super) fn left_out(count: usize, what: &str) -> String {
    if count == 0 {
        return String::new();
    }
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "<p class=\"soft\">{} {are} left out.</p>\n",
        counted(count, &format!("further {what}"))
    )
}

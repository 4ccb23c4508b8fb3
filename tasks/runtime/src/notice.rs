//! What whoever runs a program is told, a line each.

use std::io::{self, Write};

/// Tells it on standard error.
pub(crate) fn tell(what: &str) {
    // There is nobody to tell that standard error is closed.
    let _ = io::stderr().write_all(format!("evenkeel: {what}\n").as_bytes());
}

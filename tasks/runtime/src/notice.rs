//! Messages to the user of a program, a line each.

use std::io::{self, Write};

/// Writes the message to standard error.
pub fn tell(what: &str) {
    // Standard error is closed, so the failure cannot be reported.
    let _ = io::stderr().write_all(format!("evenkeel: {what}\n").as_bytes());
}

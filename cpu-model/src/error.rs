//! Errors of CPU tables.

use thiserror::Error;

/// A CPU table that cannot be used; each message is one sentence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CpuTableError {
    /// The text is not a CPU table.
    #[error("{file}:{line}: {field}: {problem}")]
    Invalid {
        /// Name of the file, as passed to the reader.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Path of the field, such as `turbo.rows[2].mhz.avx2`.
        field: String,
        /// The value found, and the one expected.
        problem: String,
    },
    /// The table was written for a later version of this program.
    #[error(
        "{file}:{line}: schema: found {found}, expected at most {newest}, the newest schema \
         that this version reads"
    )]
    NewerSchema {
        /// Name of the file, as passed to the reader.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Schema of the file.
        found: u64,
        /// Newest schema that can be read.
        newest: u64,
    },
    /// A run needs values that the table does not have.
    #[error("CPU {cpu}: a run needs {}, which the table does not give", values.join(", "))]
    Missing {
        /// Name of the table.
        cpu: String,
        /// Names of the values.
        values: Vec<String>,
    },
    /// No embedded table has that name.
    #[error("found CPU name `{}`, expected one of {}{}", name.escape_debug(), known.join(", "),
        closest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default())]
    UnknownName {
        /// The name asked for.
        name: String,
        /// All known names.
        known: Vec<&'static str>,
        /// The known name that resembles `name` most, if any does.
        closest: Option<&'static str>,
    },
}

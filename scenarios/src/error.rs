//! Errors of scenarios; each message is one sentence with file, line and field.

/// Newest version of the format.
pub const SCHEMA: u32 = 1;

/// Why a scenario cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not TOML.
    #[error("{file}:{line}: this is not TOML: {reason}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Message of the TOML reader.
        reason: String,
    },
    /// The file follows a newer format than this version reads.
    #[error("{file}:{line}: `schema` is {found}, expected at most {SCHEMA}; use a newer Evenkeel")]
    Newer {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Version found.
        found: u64,
    },
    /// A field that the format does not have.
    #[error("{file}:{line}: `{field}` is not a field here, expected one of: {known}")]
    Unknown {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Path of the field.
        field: String,
        /// Known fields.
        known: String,
    },
    /// A field has an invalid value, or is missing.
    #[error("{file}:{line}: `{field}`: expected {expected}")]
    Value {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Path of the field.
        field: String,
        /// The expected value.
        expected: String,
    },
    /// A parameter is to be set that the scenario does not have.
    #[error("{file}: there is no parameter `{name}`, expected one of: {known}")]
    NoParameter {
        /// Name of the file.
        file: String,
        /// Parameter asked for.
        name: String,
        /// Known parameters.
        known: String,
    },
}

impl ScenarioError {
    /// Line of the mistake, from 1; `None` for a mistake outside the file.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::Syntax { line, .. }
            | Self::Newer { line, .. }
            | Self::Unknown { line, .. }
            | Self::Value { line, .. } => Some(*line),
            Self::NoParameter { .. } => None,
        }
    }
}

/// Text of a file made safe to print: no control characters, at most 80 characters.
pub(crate) fn printable(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

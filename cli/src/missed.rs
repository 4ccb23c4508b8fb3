//! A goal that was requested and missed: no mistake of the input.

/// Names the goals in a sentence; the command ends with exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missed(pub String);

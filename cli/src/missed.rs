//! What was asked to be reached and was not: no mistake of the input.

/// Says what, in a sentence; the command ends with exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missed(pub String);

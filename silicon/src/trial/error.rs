//! Why a trial ended without a result.

use crate::machine::PinError;

/// Why a trial ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("`{command}` ended with {status}; try it by hand first")]
    Failed {
        /// The command.
        command: String,
        /// The exit status.
        status: std::process::ExitStatus,
    },
    /// A culprit that keeps ending at once does no work to suffer from.
    #[error("`{command}` ended within {within_ms} ms of its start; a culprit must run for longer")]
    TooShort {
        /// The command.
        command: String,
        /// The time from start to end.
        within_ms: u128,
    },
    /// The victim did nothing in most blocks.
    #[error(
        "the victim made no progress in most blocks of {block_ms} ms; a longer --block may help"
    )]
    NoProgress {
        /// Length of the block.
        block_ms: u128,
    },
    /// The CPU cannot be used.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The kernel refused something.
    #[error("{what}: {source}")]
    Kernel {
        /// The operation.
        what: &'static str,
        /// The kernel's error.
        source: nix::Error,
    },
}

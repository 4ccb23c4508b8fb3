//! Return codes of the calls, and the text of `ekrt_error`.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};

use evenkeel_runtime::{ConfigError, TopologyError};

/// The reason why a call had no effect. The header has its code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}: {1}")]
    Topology(&'static str, TopologyError),
    #[error("{0}: {1}")]
    Rules(&'static str, ConfigError),
    #[error("{0} is not UTF-8")]
    Text(&'static str),
    #[error("`workers` is {0}; expected at most {1}")]
    Workers(u32, u32),
    #[error("`bytes` is {0}; begin the options with EKRT_OPTIONS, of the library's own header")]
    Options(usize),
    #[error("the system gives no thread: {0}")]
    System(std::io::Error),
    #[error("no runtime that is open has this handle")]
    Closed,
    #[error("the runtime is another process's, of which this one is a child")]
    Child,
    #[error("the runtime is in use by ekrt_run")]
    Busy,
    #[error("this thread runs no task; ekrt_run begins the first")]
    Outside,
    #[error("no task that the running one has created, and not yet submitted, has this handle")]
    Task,
    #[error("a task accesses {0:#x} in a way that the task around it did not say")]
    Access(usize),
    #[error("{0} is {1}; expected {2}")]
    Range(&'static str, u64, &'static str),
    #[error("only a task created with EKRT_DEFERRED may pause")]
    Deferred,
    #[error("{0} is NULL")]
    Null(&'static str),
}

impl Error {
    fn code(&self) -> c_int {
        match self {
            Self::Topology(..)
            | Self::Rules(..)
            | Self::Text(_)
            | Self::Workers(..)
            | Self::Options(_) => -1,
            Self::System(_) => -2,
            Self::Closed | Self::Child => -3,
            Self::Busy => -4,
            Self::Outside => -5,
            Self::Task => -6,
            Self::Access(_) => -7,
            Self::Range(..) => -8,
            Self::Deferred => -9,
            Self::Null(_) => -10,
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

thread_local! {
    /// The text of the last failure on this thread.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the text of an error for `ekrt_error`.
pub(crate) fn keep(error: &Error) {
    // Texts from the caller come from C strings, and so have no zero byte inside.
    let text = CString::new(error.to_string()).unwrap_or_default();
    // An ending thread has destroyed `LAST` already, and its program asks for no error.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// The return value for C; keeps the text of an error.
pub(crate) fn code(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            keep(&error);
            error.code()
        }
    }
}

/// The text of the last failure on this thread; empty if no call has failed.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

//! The log of the search for a tool, for `OMP_TOOL_VERBOSE_INIT`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::ptr;

/// The output of the log.
pub(crate) enum Log {
    Nowhere,
    Out,
    Error,
    File(File),
}

impl Log {
    /// As the variable says; a file that cannot be made is none.
    pub(crate) fn new(says: Option<&OsStr>) -> Self {
        let Some(says) = says else { return Self::Nowhere };
        match says.to_string_lossy().to_lowercase().as_str() {
            "" | "disabled" => Self::Nowhere,
            "stdout" => Self::Out,
            "stderr" => Self::Error,
            _ => File::create(says).map_or(Self::Nowhere, Self::File),
        }
    }

    /// Writes a text, in order with the output of tools.
    pub(crate) fn tell(&mut self, text: &str) {
        // SAFETY: without a stream all are written out; the bytes live as long as the calls.
        // A failure could not be reported.
        let write = |to| unsafe {
            libc::fflush(ptr::null_mut());
            let _ = libc::write(to, text.as_ptr().cast(), text.len());
        };
        match self {
            Self::Nowhere => {}
            Self::Out => write(libc::STDOUT_FILENO),
            Self::Error => write(libc::STDERR_FILENO),
            Self::File(file) => {
                let _ = file.write_all(text.as_bytes());
            }
        }
    }
}

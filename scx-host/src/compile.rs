//! A scheduler's source, compiled while the program runs.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::object::{Object, ObjectError};

#[path = "../build/native.rs"]
mod native;

/// What a source is compiled with, which the program carries: the host's headers and functions,
/// and the parts of the kernel that our own scheduler declares.
const FILES: [(&str, &str); 6] = [
    ("headers/bpf/bpf_helpers.h", include_str!("../headers/bpf/bpf_helpers.h")),
    ("headers/bpf/bpf_core_read.h", include_str!("../headers/bpf/bpf_core_read.h")),
    ("headers/bpf/bpf_tracing.h", include_str!("../headers/bpf/bpf_tracing.h")),
    ("native/calls.h", include_str!("../native/calls.h")),
    ("native/functions.c", include_str!("../native/functions.c")),
    ("scheduler/kernel.h", include_str!("../../scheduler/src/bpf/kernel.h")),
];

/// Why a source is no scheduler that the host can run.
#[derive(Debug, Error)]
pub enum CompileError {
    /// A temporary file cannot be written or read.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// clang's message, or what the host lacks.
    #[error("{0}")]
    Source(String),
    /// The compiled source is no scheduler.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

/// Compiles the BPF source of any scheduler with clang, in `folder`, which must exist and be
/// empty. Besides the host's headers it finds `kernel.h` of our own scheduler, and what is in the
/// folders of `include`, which come first.
///
/// A program of such a scheduler that does not end, uses a bad address or divides by zero ends the
/// scheduler and not the process, which gets a handler of SIGSEGV, SIGBUS and SIGFPE for that. A
/// bad address that a program passes to one of the host's functions still ends the process.
///
/// # Errors
/// [`CompileError`].
pub fn compile(file: &Path, include: &[PathBuf], folder: &Path) -> Result<Object, CompileError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| CompileError::File { path, error }
    };
    for (name, text) in FILES {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(at(parent))?;
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    let mut arguments = vec!["-Wno-everything".to_owned(), "-fms-extensions".to_owned()];
    let folders = include.iter().map(|one| format!("-I{}", one.display()));
    arguments.extend(folders.chain([format!("-I{}", folder.join("scheduler").display())]));
    native::compile(&native::Source {
        file,
        arguments: &arguments,
        room: folder,
        output: folder,
        name: "source",
        is_guarded: true,
    })
    .map_err(CompileError::Source)?;
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(at(&path))
    };
    let mut object = Object::parse(&read("source.so")?, &read("source.bpf.o")?)?;
    object.is_guarded = true;
    Ok(object)
}

//! Python environments of the checks, kept below `target`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::command::{program, run, target};

/// A Python in an environment of this name that has the packages, of which `import` is proof; the
/// environment is made if missing. `None` where the packages cannot be had.
pub fn with_packages(name: &str, packages: &[&str], import: &str) -> Option<PathBuf> {
    let folder = target().join(name);
    let python = folder.join("bin/python");
    if imports(&python, import) {
        return Some(python);
    }
    run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder)).ok()?;
    let mut pip = program(&python.to_string_lossy());
    run(pip.args(["-m", "pip", "install", "--quiet"]).args(packages)).ok()?;
    imports(&python, import).then_some(python)
}

fn imports(python: &Path, import: &str) -> bool {
    let mut command = program(&python.to_string_lossy());
    command.args(["-c", import]).stderr(Stdio::null());
    python.is_file() && run(&mut command).is_ok()
}

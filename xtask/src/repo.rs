//! The files of the project, as text.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold nothing a person wrote.
const SKIPPED: [&str; 4] = [".git", "target", "out", "__pycache__"];

/// The workspace of the task runtime, which has rooms of its own.
pub const TASKS: &str = "tasks/";

/// A text file of the project.
pub struct TextFile {
    /// Path from the root, with `/`.
    pub path: String,
    /// Content.
    pub text: String,
}

impl TextFile {
    /// The file's folder at the root, below `tasks/` with the next folder; empty for files at the
    /// root.
    pub fn room(&self) -> &str {
        let end_of = |begin: usize| self.path[begin..].find('/').map(|end| begin + end);
        let end = match self.path.strip_prefix(TASKS) {
            Some(_) => end_of(TASKS.len()).or(Some(TASKS.len() - 1)),
            None => end_of(0),
        };
        end.map_or("", |end| &self.path[..end])
    }

    /// The text after the last dot; empty without a dot.
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// The root of the project.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or_else(|| xtask.to_path_buf(), Path::to_path_buf)
}

/// Every text file of the project, by path.
pub fn text_files() -> Result<Vec<TextFile>> {
    let root = root();
    let mut paths = Vec::new();
    collect(&root, &mut paths)?;
    paths.sort();

    let mut files = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let relative = path.strip_prefix(&root).unwrap_or(&path);
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: relative.to_string_lossy().into_owned(), text });
        }
    }
    Ok(files)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && !SKIPPED.iter().any(|&skipped| entry.file_name() == skipped) {
            collect(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_a_folder_at_the_root_or_in_the_workspace_of_the_task_runtime() {
        let room = |path: &str| {
            let file = TextFile { path: path.to_owned(), text: String::new() };
            file.room().to_owned()
        };
        assert_eq!(room("README.md"), "");
        assert_eq!(room("trace/src/lib.rs"), "trace");
        assert_eq!(room("tasks/README.md"), "tasks");
        assert_eq!(room("tasks/runtime/src/lib.rs"), "tasks/runtime");
    }
}

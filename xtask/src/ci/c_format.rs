//! Is the C of the scheduling project formatted? That of `tasks/` is a step there.

use anyhow::Result;
use commands::c_format;

use super::Done;
use crate::{command, r#gen, repo};

/// Files that a person writes are as clang-format writes them.
pub fn check() -> Result<Done> {
    let files = repo::text_files()?;
    let is_judged = |path: &&str| {
        let is_left_out = path.starts_with(repo::TASKS) || *path == r#gen::DRIVERS;
        c_format::is_c(path) && !is_left_out
    };
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).filter(is_judged).collect();
    c_format::check(&command::workspace(), &paths)
}

//! Does pprof read the stacks of a profile as they are meant?

use anyhow::Result;

use super::Done;
use crate::command::{cargo, find, run, tested};

/// The test that runs pprof, which is part of Go, and its test program.
const TEST: (&str, &str) = ("profile", "pprof::pprof_itself_reads_the_profile");

/// pprof prints the times, the counts and the labels of stacks.
pub fn check() -> Result<Done> {
    if find(&["go"]).is_none() {
        return Ok(Done::Skipped("no go here".to_string()));
    }
    tested()?;
    let (program, name) = TEST;
    let mut test = cargo();
    test.args(["test", "--workspace", "--locked", "--quiet", "--test", program]);
    run(test.args(["--", "--exact", name, "--ignored"]))?;
    Ok(Done::Passed)
}

//! Does the independent checker pass its own tests, and does it agree with the simulator?

use anyhow::Result;

use super::Done;
use crate::command::{find, program, run};

/// The checker's own tests hold.
pub fn check() -> Result<Done> {
    let Some(python) = find(&["python3"]) else {
        return Ok(Done::Skipped("no python3 here".to_string()));
    };
    run(program(python).args(["-m", "unittest", "discover", "-s", "checker/tests", "-t", "."]))?;
    Ok(Done::Passed)
}

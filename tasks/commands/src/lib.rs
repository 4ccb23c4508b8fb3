//! Code shared by the commands of developers: starting programs, checks in steps, the format of C,
//! progress on a terminal, a time limit for tests, files that are written whole. No shipped crate
//! depends on this one.

pub mod c_format;
pub mod progress;
pub mod steps;
pub mod test_runner;
pub mod whole_file;
mod workspace;

pub use workspace::{Workspace, cargo, find, is_strict, program, root, run, says_yes, target};

//! `evenkeel scenarios`: the scenarios that come with evenkeel.

use anyhow::Result;
use scenarios::Scenario;

use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  evenkeel scenarios
  evenkeel compare light512";

/// Scenarios that come with evenkeel.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

/// Runs the verb.
pub fn run(_: &Args) -> Result<()> {
    for name in scenarios::names() {
        let (file, text) = scenarios::by_name(name).expect("the name is from the list");
        let scenario = Scenario::parse(text, file)?;
        let line = format!("{name:25} {}", scenario.description);
        terminal::print(&report::fit(&line, terminal::width()))?;
    }
    Ok(())
}

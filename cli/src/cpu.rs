//! `evenkeel cpu`: CPU tables.

mod show;

use anyhow::Result;
use clap::Subcommand;
use cpu_model::{CpuTable, TurboMode, embedded};

use crate::{files, machine, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel cpu show xeon-gold-6130
  evenkeel cpu check mine.toml
  evenkeel compare light512 --cpu mine.toml";

/// CPU tables.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Names of the tables, and what each lacks
    List,
    /// A table with the source of each value
    Show {
        /// A name of `evenkeel cpu list`, or a file
        #[arg(value_name = "NAME|FILE")]
        cpu: String,
    },
    /// Says whether a file is a CPU table that runs can use
    Check {
        /// The file
        file: std::path::PathBuf,
    },
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    match args.action {
        Action::List => list(),
        Action::Show { cpu } => terminal::print(&show::show(&machine::table(&cpu)?)),
        Action::Check { file } => {
            let table = CpuTable::parse(&files::read_text(&file)?, &file.display().to_string())?;
            let missing = table.missing();
            if missing.is_empty() {
                table.model(TurboMode::On)?;
                terminal::print(&format!("{}: complete, a run can use it\n", file.display()))
            } else {
                terminal::print(&format!(
                    "{}: well-formed; a run needs also: {}\n",
                    file.display(),
                    missing.join(", ")
                ))
            }
        }
    }
}

fn list() -> Result<()> {
    for (name, _) in embedded() {
        let table = CpuTable::by_name(name)?;
        let missing = table.missing();
        let state = if missing.is_empty() {
            "complete".to_owned()
        } else {
            format!("lacks {}", missing.join(", "))
        };
        terminal::print(&format!("{name:24} {state}\n"))?;
    }
    Ok(())
}

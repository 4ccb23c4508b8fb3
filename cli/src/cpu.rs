//! `evenkeel cpu`: CPU tables.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use cpu_model::{CpuTable, TurboMode, embedded};
use serde::Serialize;

use crate::{cpu_text, files, machine, terminal};

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

    /// Writes the same as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE", global = true)]
    json: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Names of the tables, and the missing values of each
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
        file: PathBuf,
    },
}

/// A table, as `list` and `check` sum up its contents.
#[derive(Serialize)]
struct Summary {
    cpu: String,
    complete: bool,
    missing: Vec<String>,
}

impl Summary {
    fn of(table: &CpuTable) -> Self {
        let missing = table.missing();
        Self { cpu: table.name.clone(), complete: missing.is_empty(), missing }
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    let json = args.json.as_deref();
    match args.action {
        Action::List => {
            let tables = embedded()
                .iter()
                .map(|(name, _)| Ok(Summary::of(&CpuTable::by_name(name)?)))
                .collect::<Result<Vec<_>>>()?;
            let line = |summary: &Summary| match summary.complete {
                true => format!("{:24} complete\n", summary.cpu),
                false => format!("{:24} lacks {}\n", summary.cpu, summary.missing.join(", ")),
            };
            print(json, &tables, &tables.iter().map(line).collect::<String>())
        }
        Action::Show { cpu } => {
            let table = machine::table(&cpu)?;
            print(json, &table, &cpu_text::show(&table))
        }
        Action::Check { file } => {
            let table = CpuTable::parse(&files::read_text(&file)?, &file.display().to_string())?;
            let summary = Summary::of(&table);
            let missing = summary.missing.join(", ");
            let text = match table.model(TurboMode::On) {
                Ok(_) if summary.complete => "complete, a run can use it".to_owned(),
                Ok(_) => format!("a run can use it; without: {missing}"),
                Err(error) if summary.complete => return Err(error.into()),
                Err(_) => format!("well-formed; a run needs more; without: {missing}"),
            };
            print(json, &summary, &format!("{}: {text}\n", file.display()))
        }
    }
}

fn print(json: Option<&Path>, value: &impl Serialize, text: &str) -> Result<()> {
    let took_stdout = json.map(|path| files::write_json(path, value)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&report::fit(text, terminal::width()))
}

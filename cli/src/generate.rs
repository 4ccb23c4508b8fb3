//! `evenkeel generate`: manual pages and completions, for packages and installations.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::{files, settings};

const EXAMPLES: &str = "\
Examples:
  evenkeel generate man ~/.local/share/man/man1
  evenkeel generate completions bash -o ~/.local/share/bash-completion/completions/evenkeel";

/// Manual pages and completions.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Writes a manual page for the command and one for each of its verbs
    Man {
        /// Folder to write to
        folder: PathBuf,
    },
    /// Writes completions of verbs and flags for a shell
    Completions {
        /// The shell
        shell: Shell,
        /// File to write; - is standard output
        #[arg(short, long, default_value = "-")]
        output: PathBuf,
    },
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    match args.what {
        What::Man { folder } => {
            let mut command = crate::Arguments::command().disable_help_subcommand(true);
            // Gives every verb its full name.
            command.build();
            manual(&folder, &command)
        }
        What::Completions { shell, output } => {
            let mut text = Vec::new();
            let mut command = crate::Arguments::command();
            clap_complete::generate(shell, &mut command, "evenkeel", &mut text);
            files::write(&output, &text)
        }
    }
}

/// A page for the command, and one for each of its verbs.
fn manual(folder: &Path, command: &clap::Command) -> Result<()> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    if command.get_arguments().any(|argument| argument.get_long() == Some(settings::SET)) {
        unfilled("SETTINGS", settings::list()).to_writer(&mut text)?;
    }
    if let Some(examples) = command.get_after_help() {
        unfilled("EXAMPLES", examples.to_string()).to_writer(&mut text)?;
    }
    files::write(&folder.join(page.get_filename()), &text)?;
    command.get_subcommands().try_for_each(|verb| manual(folder, verb))
}

/// A section whose lines are not joined, as those of commands must not be.
fn unfilled(heading: &str, lines: String) -> Roff {
    let mut section = Roff::new();
    section.control("SH", [heading]).control("nf", []);
    section.text([roman(lines)]).control("fi", []);
    section
}

//! `--generate`: the manual page and the completions, for installation and packaging.

use std::io::{Write, stdout};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use scheduler::stats::socket::PATH;

use crate::{Args, EXAMPLES};

/// Name of the program.
const NAME: &str = "scx_evenkeel";
/// Programs for administrators are in section 8 of the manual.
const SECTION: &str = "8";
/// The four uses of the program; clap's own synopsis would list all flags.
const SYNOPSIS: &str = "\
scx_evenkeel [OPTIONS]
scx_evenkeel --check [OPTIONS]
scx_evenkeel --observe [OPTIONS]
scx_evenkeel --monitor";
/// Statuses of `main` and of `report`.
const STATUSES: [(&str, &str); 3] = [
    (
        "0",
        "The scheduler ended by a signal, after --for, or because the kernel was asked to end it, \
         as by SysRq-S. With --check: this kernel can take the scheduler.",
    ),
    (
        "1",
        "The kernel ended the scheduler because of an error, such as a task that waited for longer \
         than --watchdog. The kernel's own scheduler has the tasks back.",
    ),
    (
        "2",
        "Any other failure: a wrong argument, a kernel that cannot take the scheduler, a missing \
         privilege, a file that cannot be written. A sentence on standard error says what is \
         wrong.",
    ),
];
/// Related manual pages.
const RELATED: &str =
    "evenkeel(1), evenkeel-characterize(1), evenkeel-cpu(1), evenkeel-trace-import(1)";

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The manual page, of section 8.
    Man,
    /// Completions for bash.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
}

/// Writes the page or the completions to standard output.
pub fn run(what: What) -> Result<ExitCode> {
    let text = match what {
        What::Man => page()?,
        What::Bash => completions(Shell::Bash),
        What::Zsh => completions(Shell::Zsh),
        What::Fish => completions(Shell::Fish),
    };
    stdout().write_all(&text).context("writing to standard output")?;
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: Shell) -> Vec<u8> {
    // clap_complete offers hidden flags too, and so gets a command without them.
    let args = Args::command();
    let shown = args.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
    let mut command = Command::new(NAME).version(env!("CARGO_PKG_VERSION")).args(shown);
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut text);
    text
}

fn page() -> Result<Vec<u8>> {
    let page = Man::new(Args::command().override_usage(SYNOPSIS)).section(SECTION);
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    // No hyphenation, so that a name such as CONFIG_SCHED_CLASS_EXT can be copied from the page.
    Roff::new().control("nh", []).control("ad", ["l"]).to_writer(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    let mut rest = Roff::new();
    rest.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in STATUSES {
        rest.control("TP", []).text([bold(status)]).text([roman(meaning)]);
    }
    rest.control("SH", ["FILES"]).control("TP", []).text([bold(PATH)]);
    rest.text([roman("Socket of the statistics while the scheduler runs: what --monitor reads.")]);
    // Command lines keep their line breaks.
    rest.control("SH", ["EXAMPLES"]).control("nf", []);
    rest.text([roman(EXAMPLES)]).control("fi", []);
    rest.control("SH", ["SEE ALSO"]).text([roman(RELATED)]);
    rest.to_writer(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_flag_that_is_not_hidden() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        assert!(page.contains(".TH scx_evenkeel 8 "), "{page}");
        // Roff has its own minus sign.
        let page = page.replace("\\-", "-");
        for arg in Args::command().get_arguments() {
            let flag = format!("--{}\\", arg.get_long().unwrap());
            assert_eq!(page.contains(&flag), !arg.is_hide_set(), "{flag}");
        }
    }

    #[test]
    fn no_shell_offers_a_hidden_flag() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = String::from_utf8(completions(shell)).unwrap();
            assert!(text.contains("watchdog") && !text.contains("generate"), "{shell}");
        }
    }
}

//! `evenkeel trace`: recordings and histories.

mod import;
mod marks;
mod print;
#[cfg(feature = "record")]
mod record;
mod validate;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use trace::Glob;

use crate::{files, terminal};

const EXAMPLES: &str = "\
Example: record two programs (as root) and replay them under other schedulers:
  evenkeel trace record -o rec.ektrace -- sh -c 'prog1 & prog2 & wait'
  evenkeel trace info rec.ektrace
  evenkeel compare --trace rec.ektrace --class 'prog1*=avx512-heavy'
Where that cannot record (evenkeel doctor says why), perf can:
  perf sched record -k CLOCK_MONOTONIC -m 8M -o rec.data \\
      -e 'irq:*_entry,irq:*_exit,irq_vectors:local_timer_*' \\
      -- sh -c 'prog1 & prog2 & wait'
  evenkeel trace import rec.data -o rec.ektrace
The events of interrupts (-e) are optional; without them it is partly a guess which
wake-ups are by tasks and which by timers. With -e power:cpu_frequency recorded
frequencies say how much work was done. With -e x86_fpu:x86_fpu_regs_deactivated
`info` and `marks` show which registers were in use.";

const VALIDATE: &str = "\
A recording is replayed under the model of its scheduler: its tasks do the recorded work, and the
model decides who runs where and when. The table has what was recorded beside what came of it, by
program. The same replay under two models known to be wrong (slices four times as long, and first
come, first served) shows which figures tell schedulers apart: those that both wrong models hit as
well say nothing about the model. Recordings that show interrupts (evenkeel trace --help) are
replayed with the right wakers.";

/// Recordings and histories.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Records the schedule of this machine, with register states
    #[cfg(feature = "record")]
    #[command(after_help = record::EXAMPLES)]
    Record(record::Args),
    /// This build has no recorder
    #[cfg(not(feature = "record"))]
    Record {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<std::ffi::OsString>,
    },
    /// Turns a recording of perf, trace-cmd, tracefs or Perfetto into a history
    #[command(after_help = import::EXAMPLES)]
    Import(import::Args),
    /// CPU time, slices and register states of each task
    Info {
        /// The history
        file: PathBuf,
        /// Tasks to list
        #[arg(long, default_value_t = 20)]
        top: u32,
        /// Writes everything as JSON; - is standard output, then without the text
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// A page of who had the CPUs, and what the scheduler gave back at whose cost
    Page {
        /// The history
        file: PathBuf,
        /// Page to write
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Which register states each program left its CPUs with
    Marks(marks::Args),
    /// Says whether a history is sound, and how near a model of its scheduler comes to it
    #[command(after_help = VALIDATE)]
    Validate(validate::Args),
    /// Writes a history in a form that other tools open
    Export {
        /// The history
        file: PathBuf,
        /// Form to write
        #[arg(long, value_enum, default_value_t = Format::Perfetto)]
        format: Format,
        /// File to write
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Replaces names that no rule keeps
    Scrub {
        /// The history
        file: PathBuf,
        /// Names to keep, such as 'x265*'
        #[arg(long, value_name = "GLOB")]
        keep: Vec<String>,
        /// History to write
        #[arg(short, long)]
        output: PathBuf,
    },
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// For ui.perfetto.dev: scheduling, license levels, frequencies and decisions of the policy
    Perfetto,
    /// Text in the format of ftrace
    Ftrace,
    /// Version 6 of trace.dat, for trace-cmd and KernelShark
    TraceDat,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    match args.action {
        #[cfg(feature = "record")]
        Action::Record(args) => record::run(args),
        #[cfg(not(feature = "record"))]
        Action::Record { .. } => {
            anyhow::bail!(
                "this build has no recorder: cargo build --release --package evenkeel makes one"
            )
        }
        Action::Marks(args) => marks::run(args),
        Action::Import(args) => import::run(&args),
        Action::Info { file, top, json } => {
            let info = trace::info(&files::history(&file)?);
            let took_stdout = json.map(|path| files::write_json(&path, &info)).transpose()?;
            if took_stdout == Some(true) {
                return Ok(());
            }
            let width = terminal::width();
            terminal::print(&report::fit(&print::info(&info, top as usize, width), width))
        }
        Action::Page { file, output } => {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let page = report::recording_page(&files::history(&file)?, &name);
            files::write(&output, page.as_bytes())
        }
        Action::Validate(args) => validate::run(&args),
        Action::Export { file, format, output } => {
            let history = files::history(&file)?;
            files::write_with(&output, |out| {
                match format {
                    Format::Perfetto => trace::export::perfetto(&history, out)?,
                    Format::Ftrace => trace::export::ftrace(&history, out)?,
                    Format::TraceDat => trace::export::trace_dat(&history, out)?,
                }
                Ok(())
            })
        }
        Action::Scrub { file, keep, output } => {
            let mut history = files::history(&file)?;
            let keep: Vec<Glob> = keep.iter().map(|glob| Glob::new(glob)).collect();
            trace::scrub(&mut history, &keep);
            files::write_with(&output, |out| Ok(history.write(out).map(|_| ())?))
        }
    }
}

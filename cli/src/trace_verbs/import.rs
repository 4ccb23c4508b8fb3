//! `evenkeel trace import`: a recording of any form becomes a history.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use trace::import::{FORM_BYTES, Form, ImportReport, recognise, recording, stream};
use trace::{HistoryWriter, Sink};

use super::print;
use crate::{files, terminal};

/// Examples of the verb.
pub const EXAMPLES: &str = "\
Example:
  evenkeel trace import perf.data -o rec.ektrace
  evenkeel trace import rec.pftrace -o rec.ektrace
  evenkeel trace import rec.ekdec -o rec.ektrace
(the last is what scx_evenkeel --decisions rec.ekdec writes)
or from text, which is read from standard input too:
  perf script -i perf.data --ns --show-lost-events \\
      -F comm,pid,tid,cpu,time,event,trace | evenkeel trace import - -o rec.ektrace
  trace-cmd report -t -l trace.dat | evenkeel trace import - -o rec.ektrace
  cat /sys/kernel/tracing/trace | evenkeel trace import - -o rec.ektrace
The form is recognised by what is in the file. How to record: evenkeel trace --help.";

/// The first bytes of every unpacked history.
const HISTORY: &str = "{\"ektrace\":";

/// The arguments of the verb.
#[derive(clap::Args)]
pub struct Args {
    /// The file of `perf sched record`, of trace-cmd (version 6), of Perfetto or of `scx_evenkeel
    /// --decisions`, or text of `perf script`, `trace-cmd report` or tracefs; - is text, decisions
    /// or Perfetto from standard input; these three are unpacked if packed with zstd
    file: PathBuf,
    /// History to write
    #[arg(short, long, value_name = "FILE.ektrace")]
    output: PathBuf,
    /// Writes counts of imported events and problems as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    let Args { file, output, json } = args;
    let json = json.as_deref();
    let on_stdout =
        [Some(&**output), json].iter().filter(|file| **file == Some(Path::new("-"))).count();
    ensure!(on_stdout <= 1, "standard output (-) can take one of --output, --json");
    let report = files::write_with(output, |out| {
        let mut writer = HistoryWriter::new(out)?;
        let report = import(file, &mut writer)?;
        writer.into_inner()?;
        Ok(report)
    })?;
    if on_stdout == 0 {
        terminal::print(&print::import_summary(&report))?;
    }
    if let Some(json) = json {
        files::write_json(json, &report)?;
    }
    Ok(())
}

fn import(path: &Path, sink: &mut impl Sink) -> Result<ImportReport> {
    const BUFFER: usize = 1 << 20;
    let named = || path.display().to_string();
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(files::open(path)?)
    };
    let mut raw = BufReader::with_capacity(BUFFER, raw);
    let start = raw.fill_buf().with_context(|| format!("reading {}", path.display()))?;
    if start.starts_with(&files::ZSTD) {
        let unpacked = zstd::Decoder::with_buffer(raw)
            .with_context(|| format!("unpacking {}", path.display()))?;
        let mut unpacked = BufReader::with_capacity(BUFFER, unpacked);
        let starts_as_one = |start: &[u8]| start.starts_with(HISTORY.as_bytes());
        let is_history = unpacked.fill_buf().is_ok_and(starts_as_one);
        ensure!(!is_history, "{}: a history already; nothing to import", path.display());
        return stream(unpacked, sink).with_context(named);
    }
    let form = recognise(&start[..start.len().min(FORM_BYTES)]);
    if matches!(form, Form::PerfData | Form::TraceDat) && path != Path::new("-") {
        return recording(files::open(path)?, sink).with_context(named);
    }
    stream(raw, sink).with_context(named)
}

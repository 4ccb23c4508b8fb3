//! Exports of a simulated history can be read back.
//!
//! With `EVENKEEL_EXPORTS` naming a folder, every history and its exports are kept for
//! `checker/exports.py`, which reads them with third-party programs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor};
use std::path::Path;

use trace::import::ImportReport;
use trace::{Event, History, Record, export, import};

use crate::for_each_case;

#[test]
fn every_export_of_a_run_comes_back() {
    let folder = std::env::var_os("EVENKEEL_EXPORTS");
    for_each_case("exports::every_export_of_a_run_comes_back", 200, |case| {
        let outcome = case.run().map_err(|error| error.to_string())?;
        let history = outcome.history.ok_or("there is no history")?;
        file_comes_back(&history)?;
        perfetto_comes_back(&history)?;
        recordings_come_back(&history)?;
        let Some(folder) = &folder else { return Ok(()) };
        let name = format!("{:016x}", case.config.seed);
        keep(&history, &Path::new(folder).join(name)).map_err(|error| error.to_string())
    });
}

fn file_comes_back(history: &History) -> Result<(), String> {
    let file = history.write(Vec::new()).map_err(|error| error.to_string())?;
    let read = History::read(&file[..]).map_err(|error| error.to_string())?;
    if read == *history { Ok(()) } else { Err("the file says something else".to_owned()) }
}

fn perfetto_comes_back(history: &History) -> Result<(), String> {
    let mut trace = Vec::new();
    export::perfetto(history, &mut trace).map_err(|error| error.to_string())?;
    let (read, report) = import::stream_history(&trace[..]).map_err(|error| error.to_string())?;
    needs_no_repair(&report)?;
    if read == *history { Ok(()) } else { Err("Perfetto's trace says something else".to_owned()) }
}

/// Text of ftrace, and `trace.dat`.
fn recordings_come_back(history: &History) -> Result<(), String> {
    if !history.records.iter().any(|record| matches!(record.event, Event::Switch { .. })) {
        return Ok(());
    }
    let (mut text, mut file) = (Vec::new(), Vec::new());
    export::ftrace(history, &mut text).map_err(|error| error.to_string())?;
    export::trace_dat(history, &mut file).map_err(|error| error.to_string())?;
    for (form, bytes) in [("the text", text), ("trace.dat", file)] {
        let read = import::recording_history(Cursor::new(bytes)).map_err(|error| error.to_string());
        read.and_then(|(read, report)| {
            needs_no_repair(&report)?;
            same_records(history, &read)
        })
        .map_err(|wrong| format!("{form}: {wrong}"))?;
    }
    Ok(())
}

fn needs_no_repair(report: &ImportReport) -> Result<(), String> {
    if report.repaired_switches + report.unreadable + report.reordered_lines > 0 {
        return Err(format!("it needs repairs: {report:?}"));
    }
    Ok(())
}

fn same_records(history: &History, read: &History) -> Result<(), String> {
    let expected = carried(history);
    let differ = expected.iter().zip(&read.records).find(|(ours, theirs)| ours != theirs);
    if let Some((ours, theirs)) = differ {
        return Err(format!("{ours:?} comes back as {theirs:?}"));
    }
    let (ours, theirs) = (&history.header, &read.header);
    let sizes = [
        (expected.len() as u64, read.records.len() as u64),
        (ours.start_ns, theirs.start_ns),
        (ours.end_ns, theirs.end_ns),
        (ours.cpus.into(), theirs.cpus.into()),
    ];
    if let Some((ours, theirs)) = sizes.into_iter().find(|(ours, theirs)| ours != theirs) {
        return Err(format!("{ours} comes back as {theirs}"));
    }
    let known: BTreeMap<u32, (&str, i8)> =
        ours.tasks.iter().map(|task| (task.tid, (&task.comm[..], task.nice))).collect();
    let other = theirs.tasks.iter().find(|task| known[&task.tid] != (&task.comm, task.nice));
    other.map_or(Ok(()), |task| Err(format!("{:?} comes back as {task:?}", known[&task.tid])))
}

/// The content of text and `trace.dat`: all records except frequencies by core, since these
/// formats have no topology.
fn carried(history: &History) -> Vec<Record> {
    let threads = history.header.threads_per_core.unwrap_or(1);
    let mut carried = Vec::new();
    for record in &history.records {
        match record.event {
            Event::Frequency { core, khz } => {
                let cpus = core * threads..(core + 1) * threads;
                let event = |core| Event::Frequency { core, khz };
                let time_ns = record.time_ns;
                carried.extend(cpus.map(|cpu| Record { time_ns, event: event(cpu) }));
            }
            _ => carried.push(record.clone()),
        }
    }
    carried
}

fn keep(history: &History, stem: &Path) -> io::Result<()> {
    let file = |extension| File::create(stem.with_extension(extension)).map(io::BufWriter::new);
    history.write(file("ektrace")?)?;
    export::perfetto(history, file("pftrace")?)?;
    export::trace_dat(history, file("dat")?)
}

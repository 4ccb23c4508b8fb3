//! Do programs of other projects read our exports as the histories say?

use std::fs;
use std::process::Stdio;

use anyhow::Result;

use super::{Done, python};
use crate::command::{find, program, run, target, tested};

/// Version of the package with Perfetto's descriptors.
const PERFETTO: &str = "0.59.1";
const IMPORT: &str = "import perfetto.protos.perfetto.trace.perfetto_trace_pb2";

/// Scenario, scheduler and sensors: with decisions, siblings, idle CPUs, thousands of switches.
const RUNS: &[(&str, &str, &str)] = &[
    ("light512", "fair-isolation", "d7"),
    ("amx-inference", "fair-relative", "truth"),
    ("parsec-x265-two-cores", "fair-isolation", "truth"),
    ("half-load", "eevdf", "d7"),
];

/// Exports some runs; `checker/exports.py` compares how other projects' programs read them.
pub fn check() -> Result<Done> {
    for tool in ["python3", "zstd", "trace-cmd"] {
        if find(&[tool]).is_none() {
            return Ok(Done::Skipped(format!("no {tool} here")));
        }
    }
    let (name, package) = (format!("perfetto-{PERFETTO}"), format!("perfetto=={PERFETTO}"));
    let Some(python) = python::with_packages(&name, &[&package], IMPORT) else {
        let why = "Python's package perfetto is neither here nor to be had";
        return Ok(Done::Skipped(why.to_string()));
    };
    let evenkeel = tested()?.join("evenkeel");
    let folder = target().join("exports");
    fs::create_dir_all(&folder)?;
    let mut histories = Vec::new();
    for &(scenario, scheduler, sensors) in RUNS {
        let history = folder.join(format!("{scenario}-{scheduler}.ektrace"));
        let mut simulate = program(&evenkeel.to_string_lossy());
        simulate.args(["simulate", scenario, "--scheduler", scheduler, "--sensors", sensors]);
        run(simulate.arg("-o").arg(&history).stdout(Stdio::null()))?;
        for (format, extension) in [("perfetto", "pftrace"), ("trace-dat", "dat")] {
            run(program(&evenkeel.to_string_lossy())
                .args(["trace", "export", "--format", format])
                .arg(&history)
                .arg("-o")
                .arg(history.with_extension(extension)))?;
        }
        histories.push(history);
    }
    run(program(&python.to_string_lossy()).arg("checker/exports.py").args(&histories))?;
    Ok(Done::Passed)
}

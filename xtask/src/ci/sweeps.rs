//! Do GNU parallel and Slurm run a sweep to the bytes of one process, and do others read its parts?

mod slurm;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Done, python};
use crate::command::{find, program, run, target, tested};
use crate::repo;

/// Programs of the step.
const TOOLS: [&str; 6] = ["parallel", "sbatch", "slurmctld", "slurmd", "munged", "python3"];
/// Python's packages that read parts.
const READERS: [&str; 3] = ["duckdb==2.0.1", "pyarrow==26.0.1", "polars==2.1.0"];
const IMPORT: &str = "import duckdb, polars, pyarrow.parquet";

const GRID: &str = r#"
schema = 1
compare = "light512"
schedulers = ["cfs", "even"]
replicates = 1
axis = [
    { set = "smt-share", from = 500, to = 700, steps = 5 },
    { set = "hold-us", values = [100, 650] },
]
"#;

/// Stands before the command: shard 3 is killed the first time, as by a node that goes down.
const KILLED_ONCE: &str = r#"#!/bin/sh
case " $* " in
*" --shard 3/4 "*)
    [ -e killed ] || { touch killed; kill -KILL $$; } ;;
esac
exec "$EVENKEEL" "$@"
"#;

/// Runs the grid in one process, by GNU parallel with a shard that is killed, and by Slurm.
pub fn check() -> Result<Done> {
    if let Some(missing) = TOOLS.iter().find(|tool| find(&[tool]).is_none()) {
        return Ok(Done::Skipped(format!("no {missing} here")));
    }
    if program("id").arg("-u").output()?.stdout.trim_ascii() != b"0" {
        return Ok(Done::Skipped("Slurm's daemons take root".to_string()));
    }
    let Some(python) = python::with_packages("sweep-readers", &READERS, IMPORT) else {
        let why = "Python's packages duckdb, pyarrow and polars are neither here nor to be had";
        return Ok(Done::Skipped(why.to_string()));
    };
    let bench = Bench::new()?;
    run(&mut bench.command("evenkeel", &["sweep", "grid.toml", "-o", "one"]))?;
    run(&mut bench.command("evenkeel", &["sweep", "merge", "one", "-o", "one.parquet"]))?;

    let by_parallel = ["grid.toml", "by-parallel", "4", "--jobs", "2"];
    let mut first = bench.script("parallel.sh", &by_parallel);
    let ended = first.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(!ended.success(), "a shard was killed, and scripts/sweep/parallel.sh succeeded");
    let resumed = [&by_parallel[..], &["--resume-failed"]].concat();
    run(&mut bench.script("parallel.sh", &resumed))?;
    bench.is_that_of_one_process("by-parallel.parquet")?;

    let mut cluster = slurm::Cluster::start(&bench.folder.join("slurm"))?;
    let script = repo::root().join("scripts/sweep/slurm.sh");
    let mut batch = bench.command("sbatch", &["--wait", "--array=1-4"]);
    batch.arg(script).args(["grid.toml", "by-slurm", "4"]);
    run(batch.env("SLURM_CONF", cluster.configuration()))?;
    cluster.stop();
    let merge = ["sweep", "merge", "by-slurm", "-o", "by-slurm.parquet"];
    run(&mut bench.command("evenkeel", &merge))?;
    bench.is_that_of_one_process("by-slurm.parquet")?;

    run(&mut bench.command("evenkeel", &["sweep", "merge", "by-slurm", "-o", "table.csv"]))?;
    let mut readers = bench.command(&python.to_string_lossy(), &[]);
    readers.arg(repo::root().join("checker/sweeps.py"));
    run(readers.args(["by-slurm", "by-slurm.parquet", "table.csv"]))?;
    Ok(Done::Passed)
}

/// A folder with the grid, and the command that is killed once.
struct Bench {
    folder: PathBuf,
    evenkeel: PathBuf,
}

impl Bench {
    fn new() -> Result<Self> {
        let evenkeel = tested()?.join("evenkeel");
        let folder = target().join("sweeps");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("bin"))?;
        fs::write(folder.join("grid.toml"), GRID)?;
        let killed_once = folder.join("bin/evenkeel");
        fs::write(&killed_once, KILLED_ONCE)?;
        fs::set_permissions(&killed_once, fs::Permissions::from_mode(0o755))?;
        Ok(Self { folder, evenkeel })
    }

    fn command(&self, name: &str, args: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.folder.join("bin");
        let mut command = program(name);
        command.current_dir(&self.folder).args(args).stdout(Stdio::null());
        command.env("PATH", format!("{}:{path}", bin.display())).env("EVENKEEL", &self.evenkeel);
        command
    }

    fn script(&self, name: &str, args: &[&str]) -> Command {
        let script = repo::root().join("scripts/sweep").join(name);
        self.command(&script.to_string_lossy(), args)
    }

    fn is_that_of_one_process(&self, merged: &str) -> Result<()> {
        let read = |name: &str| fs::read(self.folder.join(name)).with_context(|| name.to_owned());
        ensure!(read(merged)? == read("one.parquet")?, "{merged} is not what one process wrote");
        Ok(())
    }
}

//! A runtime has as many workers as the control group of its process leaves CPUs, and CPU time.
//!
//! Without the right to make groups, or on a machine with one CPU, the tests say so and try
//! nothing.
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use evenkeel_runtime::{CpuList, Runtime};

/// Where the process that runs a test again is to go first: the group's file of processes.
const VARIABLE: &str = "EVENKEEL_TEST_GROUP";

/// A group of this test's own, removed at the end.
struct Group {
    folder: PathBuf,
    /// Whether the group is of the second version, in which all controllers are one tree.
    is_unified: bool,
}

impl Group {
    /// Below where a controller is mounted, by either version.
    fn of(controller: &str) -> io::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let found = mounts.lines().find_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let &[_, folder, kind, options, ..] = &words[..] else { return None };
            let has = |text: &str, by: char| text.trim().split(by).any(|one| one == controller);
            let controllers = Path::new(folder).join("cgroup.controllers");
            let is_unified = kind == "cgroup2"
                && fs::read_to_string(controllers).is_ok_and(|text| has(&text, ' '));
            let is_own = kind == "cgroup" && has(options, ',');
            (is_unified || is_own).then(|| (PathBuf::from(folder), is_unified))
        });
        let (above, is_unified) = found.ok_or(io::ErrorKind::NotFound)?;
        if is_unified {
            fs::write(above.join("cgroup.subtree_control"), format!("+{controller}"))?;
        }
        let folder = above.join(format!("evenkeel-{controller}-{}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Self { folder, is_unified })
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), text)
    }

    /// The output of a test of this file in a process in the group.
    fn says(&self, test: &str) -> String {
        let processes = self.folder.join("cgroup.procs");
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(VARIABLE, processes);
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The group is empty: its process has ended.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Joins the group that the environment names, if any, and prints how many workers a runtime has in
/// that group.
fn is_in_group() -> bool {
    let Some(processes) = env::var_os(VARIABLE) else { return false };
    fs::write(processes, "0").unwrap();
    let runtime = Runtime::new().unwrap();
    let of_global = Runtime::global().workers();
    println!("{} CPUs, {} and {of_global} workers", CpuList::allowed().iter().len(), {
        runtime.scope(|s| (0..1000).for_each(|_| s.spawn(|_| ())));
        runtime.workers()
    });
    true
}

/// A group that is ready, unless the machine allows none.
fn made(controller: &str, prepare: impl Fn(&Group) -> io::Result<()>) -> Option<Group> {
    if available_parallelism().unwrap().get() < 2 {
        eprintln!("not tried: there is one CPU to use");
        return None;
    }
    let group = Group::of(controller).and_then(|group| prepare(&group).map(|()| group));
    group.inspect_err(|error| eprintln!("not tried: no group for `{controller}`: {error}")).ok()
}

#[test]
fn a_set_of_one_cpu_is_one_worker() {
    if is_in_group() {
        return;
    }
    let last = CpuList::allowed().iter().last().unwrap().to_string();
    let group = made("cpuset", |group| {
        if !group.is_unified {
            let nodes = fs::read_to_string(group.folder.join("../cpuset.mems"))?;
            group.write("cpuset.mems", &nodes)?;
        }
        group.write("cpuset.cpus", &last)
    });
    let Some(group) = group else { return };
    let said = group.says("a_set_of_one_cpu_is_one_worker");
    assert!(said.contains("1 CPUs, 1 and 1 workers"), "{said}");
}

#[test]
fn time_for_one_cpu_is_one_worker_on_any_cpu() {
    if is_in_group() {
        return;
    }
    let group = made("cpu", |group| {
        if group.is_unified {
            return group.write("cpu.max", "100000 100000");
        }
        group.write("cpu.cfs_period_us", "100000")?;
        group.write("cpu.cfs_quota_us", "100000")
    });
    let Some(group) = group else { return };
    let cpus = CpuList::allowed().iter().len();
    let said = group.says("time_for_one_cpu_is_one_worker_on_any_cpu");
    assert!(said.contains(&format!("{cpus} CPUs, 1 and 1 workers")), "{said}");
}

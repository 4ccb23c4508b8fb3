//! Whose losses are shown: those of the whole machine, of processes, or of a control group.

use std::path::{Path, PathBuf};

#[cfg(feature = "record")]
use anyhow::{Result, ensure};
use profiler::{By, Names};
use trace::{History, TaskInfo};

/// Where control groups are mounted, of version 2 alone or beside version 1.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/// What a line is, unless --by says otherwise.
pub const PROGRAM: &str = "program";

/// The tasks in question.
#[derive(clap::Args)]
pub struct Focus {
    /// Shows what this process lost to others, and others to it; may be repeated
    #[arg(short, long, value_name = "PID", conflicts_with = "scenario", help_heading = "Shown")]
    pid: Vec<u32>,

    /// The same of a control group: its path, such as /system.slice/nginx.service
    #[arg(long, value_name = "PATH", conflicts_with = "scenario", help_heading = "Shown")]
    cgroup: Option<PathBuf>,

    /// What makes tasks one line: their program, process, thread or control group
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ByName::Program,
        conflicts_with = "scenario", help_heading = "Shown")]
    by: ByName,
}

/// Names of [`By`].
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ByName {
    Program,
    Process,
    Thread,
    ControlGroup,
}

impl Focus {
    /// Whether something is in focus.
    #[cfg(feature = "record")]
    pub fn is_given(&self) -> bool {
        !self.pid.is_empty() || self.cgroup.is_some()
    }

    /// What makes tasks one line.
    pub fn by(&self) -> By {
        match self.by {
            ByName::Program => By::Program,
            ByName::Process => By::Process,
            ByName::Thread => By::Thread,
            ByName::ControlGroup => By::ControlGroup,
        }
    }

    /// What a line is, for a heading.
    pub fn heading(&self) -> &'static str {
        match self.by {
            ByName::Program => PROGRAM,
            ByName::Process => "process",
            ByName::Thread => "thread",
            ByName::ControlGroup => "control group",
        }
    }

    /// Refuses what does not exist on this machine.
    #[cfg(feature = "record")]
    pub fn refuse_missing(&self) -> Result<()> {
        for pid in &self.pid {
            ensure!(Path::new(&format!("/proc/{pid}")).exists(), "--pid {pid}: no such process");
        }
        if let Some(path) = &self.cgroup {
            let relative = relative(path);
            let exists = |mount: &&str| Path::new(mount).join(&relative).is_dir();
            ensure!(
                MOUNTS.iter().any(exists),
                "--cgroup {}: no such control group; `systemd-cgls` lists them",
                path.display()
            );
        }
        Ok(())
    }

    /// The names of the groups in focus, as a recording has them; all are where nothing is. And
    /// what was asked for and never ran, in sentences.
    pub fn names(&self, history: &History) -> (Vec<String>, Vec<String>) {
        let mut idle = Vec::new();
        let tasks = &history.header.tasks;
        let relative = self.cgroup.as_deref().map(relative);
        for pid in &self.pid {
            let is_there = |task: &TaskInfo| task.pid == Some(*pid) || task.tid == *pid;
            let unknown = tasks.iter().filter(|task| task.pid.is_none() && !task.kernel).count();
            let but = if unknown > 0 { " among those whose process is known" } else { "" };
            if !tasks.iter().any(is_there) {
                idle.push(format!(
                    "--pid {pid}: no task of this process ran while the machine was recorded{but}"
                ));
            }
        }
        let is_meant = |task: &&TaskInfo| {
            let of_process = |pid: &u32| task.pid == Some(*pid) || task.tid == *pid;
            let group = task.control_group.as_ref();
            let is_below = |wanted: &PathBuf| {
                group
                    .is_some_and(|group| self::relative(Path::new(&group.path)).starts_with(wanted))
            };
            self.pid.iter().any(of_process) || relative.as_ref().is_some_and(is_below)
        };
        let of_tasks = Names::of(tasks, self.by());
        let mut names: Vec<String> =
            tasks.iter().filter(is_meant).map(|task| of_tasks.name(task)).collect();
        names.sort();
        names.dedup();
        if let (Some(path), true) = (&self.cgroup, names.is_empty()) {
            idle.push(format!(
                "--cgroup {}: none of its tasks ran while the machine was recorded",
                path.display()
            ));
        }
        (names, idle)
    }
}

/// The path below the root of the control groups.
fn relative(path: &Path) -> PathBuf {
    let below = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount).ok());
    let below = below.unwrap_or(path);
    below.strip_prefix("/").unwrap_or(below).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_the_root_of_the_control_groups() {
        for path in ["/a/b.service", "a/b.service", "/sys/fs/cgroup/a/b.service"] {
            assert_eq!(relative(Path::new(path)), Path::new("a/b.service"));
        }
    }
}

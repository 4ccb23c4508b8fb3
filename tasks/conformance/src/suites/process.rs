//! A command in a process group of its own, with limits on time, memory and files.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Writable memory of one program, stacks included.
const MEMORY_BYTES: u64 = 4 << 30;
/// The most that a program may write to one file, or to its output.
const FILE_BYTES: u64 = 64 << 20;
/// Runs commands that are more than a program and its arguments.
pub const SHELL: &str = "bash";
/// How much later `timeout` ends a program than we do.
const GRACE: Duration = Duration::from_secs(10);
/// Time between two looks at whether the program has ended.
const LOOK: Duration = Duration::from_millis(5);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Status(i32),
    Signal(i32),
    TimeUp,
}

/// Runs a command in a folder, which also gets its temporary files, with only the given variables
/// and a path as environment. Its output and its errors go to one file.
pub fn run(
    command: &[String],
    environment: &[(String, String)],
    folder: &Path,
    output: &Path,
    limit: Duration,
) -> Result<End> {
    let file = File::create(output).with_context(|| format!("creating {}", output.display()))?;
    // The system's own programs set the limits, so that ours needs nothing unsafe. We keep the
    // time; `timeout` ends a program that would outlive an interrupted run.
    let mut limited = Command::new("timeout");
    limited.args([
        "--signal=KILL".to_owned(),
        (limit + GRACE).as_secs().to_string(),
        "prlimit".to_owned(),
        format!("--data={MEMORY_BYTES}"),
        format!("--fsize={FILE_BYTES}"),
        "--core=0".to_owned(),
        "--".to_owned(),
    ]);
    limited.args(command).current_dir(folder).env_clear();
    limited.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    limited
        .env("LC_ALL", "C")
        .env("TMPDIR", folder)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    limited.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).process_group(0);
    let mut child = limited.spawn().context("starting timeout, of coreutils")?;
    let status = wait(&mut child, limit);
    // Processes that the program left running end too; most programs leave none.
    kill_group(&child);
    Ok(match status? {
        None => {
            child.wait()?;
            End::TimeUp
        }
        Some(status) => end(status, command.first().is_some_and(|name| name == SHELL)),
    })
}

/// The status, unless time was up before.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

fn kill_group(child: &Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// A shell reports the signal that ended a command as a status above 128.
fn end(status: ExitStatus, of_shell: bool) -> End {
    match (status.code(), status.signal()) {
        (Some(code @ 129..=192), _) if of_shell => End::Signal(code - 128),
        (Some(code), _) => End::Status(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// A command's output, with bytes replaced that are not UTF-8.
pub fn written(output: &Path) -> Result<String> {
    let bytes = fs::read(output).with_context(|| format!("reading {}", output.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str, limit: Duration) -> (End, String) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let command = ["bash", "-c", script].map(str::to_owned);
        let environment = [("A".to_owned(), "b".to_owned())];
        let end = run(&command, &environment, folder.path(), &output, limit).unwrap();
        (end, written(&output).unwrap())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_sees_what_it_is_given_and_no_more() {
        let (end, output) = bash("echo $A$CARGO >&2; exit 3", LONG);
        assert_eq!((end, output.as_str()), (End::Status(3), "b\n"));
    }

    #[test]
    fn a_signal_is_told_from_a_status() {
        assert_eq!(bash("kill -ABRT $$", LONG).0, End::Signal(6));
        assert_eq!(bash("bash -c 'kill -ABRT $$'; exit $?", LONG).0, End::Signal(6));
    }

    #[test]
    fn a_program_may_end_with_any_status() {
        let status = ExitStatus::from_raw(200 << 8);
        assert_eq!(end(status, false), End::Status(200));
        let status = ExitStatus::from_raw(134 << 8);
        assert_eq!((end(status, true), end(status, false)), (End::Signal(6), End::Status(134)));
    }

    #[test]
    fn time_up_ends_the_children_too() {
        let begun = Instant::now();
        let (end, output) = bash("sleep 100 & echo $!; wait", Duration::from_millis(300));
        assert_eq!(end, End::TimeUp);
        assert!(begun.elapsed() < LONG);
        let child = Path::new("/proc").join(output.trim()).join("stat");
        let is_gone = || {
            let state = fs::read_to_string(&child).ok();
            state.is_none_or(|state| state.contains(") Z "))
        };
        let mut looks = (0..1000).map(|_| std::thread::sleep(LOOK));
        assert!(looks.any(|()| is_gone()), "{}", child.display());
    }
}

//! Runs one test program, as cargo's `runner`, and ends it if it stands still: a check without an
//! end would use up all of the time that a machine has for the whole change, and say nothing.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};

use crate::find;

/// First word of the command line that `run` takes the rest of.
const WORD: &str = "test-runner";

/// For tests under a sanitizer. To print a backtrace, Rust allocates memory inside of
/// `dl_iterate_phdr`, with the lock of the dynamic linker held. If another thread makes the
/// sanitizer report at that moment, that thread waits for the linker's lock and this one for the
/// sanitizer's: both stand still. A report that is suppressed later is enough.
pub const NO_BACKTRACE: [(&str, &str); 1] = [("RUST_BACKTRACE", "0")];

/// The slowest test program takes 20 s.
const LONGEST: Duration = Duration::from_secs(300);

/// Cargo's setting for a target that makes it run each test through this program, whose `main`
/// calls `requested` first.
///
/// # Errors
/// The system does not know the path of this program.
pub fn setting(target: &str) -> Result<String> {
    let program = env::current_exe().context("finding this program")?;
    // As TOML; a path that is quoted like this may have spaces.
    Ok(format!("target.{target}.runner=[{program:?}, {WORD:?}]"))
}

/// If cargo has started this program as the runner of a test: the exit code of the test, or why
/// the test could not be started, was ended by a signal, or stood still.
pub fn requested() -> Option<Result<ExitCode>> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let (first, program) = words.split_first()?;
    (first == WORD).then(|| run(program))
}

/// Runs a program with its arguments; the exit code is the program's.
fn run(words: &[OsString]) -> Result<ExitCode> {
    run_within(words, LONGEST)
}

fn run_within(words: &[OsString], longest: Duration) -> Result<ExitCode> {
    let [program, arguments @ ..] = words else { bail!("no program to watch") };
    let name = Path::new(program).display();
    let start = || Command::new(program).args(arguments).spawn();
    let mut child = start().with_context(|| format!("starting {name}"))?;
    let Some(status) = end_within(&mut child, longest)? else {
        print_threads(child.id());
        child.kill().context("ending the program")?;
        child.wait().context("waiting for the program's end")?;
        bail!("{name} had not ended after {} s; its threads are printed above", longest.as_secs());
    };
    match status.code() {
        Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        None => bail!("{name} ended with {status}"),
    }
}

fn end_within(child: &mut Child, longest: Duration) -> Result<Option<ExitStatus>> {
    const PAUSE: Duration = Duration::from_millis(10);
    let begin = Instant::now();
    while begin.elapsed() < longest {
        if let Some(status) = child.try_wait().context("waiting for the program")? {
            return Ok(Some(status));
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// Where each thread of a process is: as the kernel says, and by gdb if this machine has it.
fn print_threads(process: u32) {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for thread in threads {
        let read = |file| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let [name, call, place] = ["comm", "syscall", "wchan"].map(read);
        let id = thread.file_name();
        let (name, call) = (name.trim(), call.trim());
        eprintln!("thread {} ({name}): system call {call}, in {place}", id.to_string_lossy());
    }
    if let Some(gdb) = find(&["gdb"]) {
        let stacks = ["-batch", "-nx", "-ex", "thread apply all backtrace 40", "-p"];
        // The kernel's answer is printed already; without gdb's one the failure is the same.
        let _ = Command::new(gdb).args(stacks).arg(process.to_string()).status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<OsString> {
        ["sh", "-c", script].map(OsString::from).to_vec()
    }

    #[test]
    fn a_program_that_ends_passes_its_code_on() {
        let code = run(&shell("exit 3")).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(3)));
    }

    #[test]
    fn a_program_that_a_signal_ends_is_an_error() {
        let error = run(&shell("kill -SEGV $$")).unwrap_err();
        assert!(error.to_string().contains("signal: 11"), "{error}");
    }

    #[test]
    fn a_program_that_stands_still_is_ended() {
        let error = run_within(&shell("exec sleep 1000"), Duration::from_millis(200)).unwrap_err();
        assert!(error.to_string().contains("had not ended"), "{error}");
    }
}

//! The instrumentation that environment variables ask for: where the results are written, and when.
//!
//! A program that its environment instruments does not ask for the results. So everything is
//! written when the process ends: by `exit`, also from inside a task, or by SIGTERM or SIGINT where
//! the program leaves that signal to the system.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use evenkeel_runtime::Watch;
use evenkeel_runtime::internal::recording::{self, asks_for_recording, resolve_symbols_by};
use evenkeel_runtime::internal::{forks, register_membarrier, tell};

use crate::WatchExt;
use crate::symbols;

/// Bytes of a trace in memory: some 5 million tasks.
const TRACE_BYTES: usize = 128 << 20;

/// The results to write, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    summary: Option<Output>,
    trace: Option<Output>,
    page: Option<Output>,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    /// Standard error.
    Terminal,
    /// A file, whose name may have had `%p` for the process.
    File(PathBuf),
}

impl Wanted {
    fn read(lookup: impl Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let file = |value: OsString| {
            let text = value.to_str().map(|text| text.replace("%p", &process.to_string()));
            Output::File(text.map_or_else(|| value.into(), PathBuf::from))
        };
        let given = |name: &str| lookup(name).filter(|value| asks_for_recording(value));
        let summary = given("EVENKEEL_SUMMARY").map(|value| match value.to_str() {
            Some("1" | "true" | "-") => Output::Terminal,
            _ => file(value),
        });
        let (trace, page) = (given("EVENKEEL_TRACE").map(file), given("EVENKEEL_PAGE").map(file));
        Self { summary, trace, page }
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Warns now of files that cannot be written, not after the program has run for an hour.
    fn tell_what_cannot_be_written(&self) {
        let outputs = [&self.summary, &self.trace, &self.page];
        for output in outputs.into_iter().flatten() {
            if let Output::File(path) = output
                && let Err(error) = may_appear(path)
            {
                tell(&format!("{} cannot be written: {error}", path.display()));
            }
        }
    }
}

/// The variables as they were at the first call.
struct Requested {
    wanted: Wanted,
    watch: Watch,
    /// Number of forks then: a forked process has another number, and writes nothing.
    forks: u32,
}

static REQUESTED: OnceLock<Option<Requested>> = OnceLock::new();
/// Whether all is written.
static DONE: AtomicBool = AtomicBool::new(false);

/// The recording that the environment asks for (`EVENKEEL_SUMMARY`, `EVENKEEL_TRACE`,
/// `EVENKEEL_PAGE`), if any, which the end of the process writes.
///
/// A program calls this before its first task: the runtime that [`Runtime::global`] creates from
/// here on records here, and functions that `EVENKEEL_WIDE` names are found by their symbols. Other
/// runtimes record here if the program passes the recording to [`Builder::watch`].
///
/// ```
/// evenkeel_observe::of_environment();
/// evenkeel_runtime::scope(|s| s.spawn(|_| println!("a task")));
/// ```
///
/// [`Builder::watch`]: evenkeel_runtime::Builder::watch
/// [`Runtime::global`]: evenkeel_runtime::Runtime::global
pub fn of_environment() -> Option<Watch> {
    let requested = REQUESTED.get_or_init(|| {
        // Also without a recording: the runtime compares the names of wide functions.
        resolve_symbols_by(|address| symbols::at(address).text);
        let wanted = Wanted::read(|name| std::env::var_os(name), std::process::id());
        if wanted.is_nothing() {
            return None;
        }
        wanted.tell_what_cannot_be_written();
        let traces = wanted.trace.is_some();
        let watch = if traces { Watch::with_trace(TRACE_BYTES) } else { Watch::new() };
        // Registers before this module starts a thread: a process that has several threads by then
        // uses full fences instead of membarrier(2).
        register_membarrier();
        // SAFETY: the handler may be called at any time after this.
        unsafe { libc::atexit(at_exit) };
        watch_for_end();
        recording::record_global(&watch);
        Some(Requested { wanted, watch, forks: forks() })
    });
    requested.as_ref().map(|requested| requested.watch.clone())
}

extern "C" fn at_exit() {
    write_all();
}

/// Writes everything, once.
fn write_all() {
    let Some(Some(Requested { wanted, watch, forks: before })) = REQUESTED.get() else { return };
    // A program that only starts other programs, as `timeout` does, has the same environment but no
    // worker, and writes nothing.
    let has_worked = recording::has_lanes(watch);
    if *before != forks() || !has_worked || DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    recording::end(watch);
    write(wanted.summary.as_ref(), |out| watch.summary(out));
    write(wanted.trace.as_ref(), |out| watch.trace(out));
    write(wanted.page.as_ref(), |out| watch.page(out));
}

/// Writes one result. A failure prints a message, and changes nothing else.
fn write(output: Option<&Output>, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let failed = match output {
        None => return,
        Some(Output::Terminal) => {
            let mut text = Vec::new();
            // Standard error is closed, so the failure cannot be reported.
            let _ = content(&mut text).and_then(|()| io::stderr().write_all(&text));
            return;
        }
        Some(Output::File(path)) => whole_file(path, content).err().map(|error| (path, error)),
    };
    if let Some((path, error)) = failed {
        tell(&format!("writing {}: {error}", path.display()));
    }
}

/// Whether a name stands for a device, a pipe or an open file: that is written to, not replaced.
fn is_there_to_stay(path: &Path) -> bool {
    let is_special = std::fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir());
    is_special || ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder))
}

/// The target of a link: the target is replaced, not the link.
fn behind_links(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a file may be created at a path.
fn may_appear(path: &Path) -> io::Result<()> {
    if is_there_to_stay(path) {
        return Ok(());
    }
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let path = behind_links(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: the name ends with a zero.
    let may = unsafe { libc::access(folder.as_ptr(), libc::W_OK | libc::X_OK) };
    if may == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Writes a file that appears under its name when complete; a device or pipe is appended to.
fn whole_file(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if is_there_to_stay(path) {
        let mut out = BufWriter::new(File::options().append(true).open(path)?);
        return content(&mut out).and_then(|()| out.flush());
    }
    let path = behind_links(path);
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let mut out = BufWriter::new(File::create(&part)?);
    let written = content(&mut out).and_then(|()| out.flush());
    drop(out);
    let moved = written.and_then(|()| std::fs::rename(&part, &path));
    if moved.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    moved
}

/// Signals that end a process, and that a handler may catch.
const ENDS: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGINT];
/// The pipe into which the handler of a signal writes the number of the signal.
static TOLD: AtomicI32 = AtomicI32::new(-1);
/// The process that set the handler: a child process has the same handler and the same pipe.
static OWNER: AtomicI32 = AtomicI32::new(0);

extern "C" fn on_end(signal: libc::c_int) {
    // SAFETY: every call is async-signal-safe; the byte outlives its write.
    unsafe {
        let errno = *libc::__errno_location();
        if libc::getpid() != OWNER.load(Ordering::Relaxed) {
            libc::signal(signal, libc::SIG_DFL);
            // The kernel delivers the signal when the handler returns.
            libc::raise(signal);
            return;
        }
        let number = [signal as u8];
        libc::write(TOLD.load(Ordering::Relaxed), number.as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Whether the program leaves a signal to the system.
fn is_left(signal: libc::c_int) -> bool {
    // SAFETY: the structure is ours, and may be all zeros.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut before) == 0
            && before.sa_sigaction == libc::SIG_DFL
    }
}

/// Installs a handler for each of the signals that the program does not handle: everything is
/// written before the signal ends the process.
fn watch_for_end() {
    let left: Vec<libc::c_int> = ENDS.into_iter().filter(|&signal| is_left(signal)).collect();
    if left.is_empty() {
        return;
    }
    // SAFETY: all structures are ours; a handler is set only where the program has none.
    unsafe {
        let mut ends = [0; 2];
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return;
        }
        TOLD.store(ends[1], Ordering::Relaxed);
        OWNER.store(libc::getpid(), Ordering::Relaxed);
        let read = OwnedFd::from_raw_fd(ends[0]);
        let thread = std::thread::Builder::new().name("evenkeel watch".to_owned());
        if thread.spawn(move || ends_when_told(read)).is_err() {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_end as *const () as usize;
        // A user that sends the signal again does not want to wait until all is written.
        action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
        for signal in left {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Waits for the handler, writes, and then lets the signal end the process.
fn ends_when_told(pipe: OwnedFd) {
    let mut told = [0];
    if io::Read::read_exact(&mut File::from(pipe), &mut told).is_err() {
        return;
    }
    write_all();
    let signal = libc::c_int::from(told[0]);
    // SAFETY: the process ends here, as the signal says.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(variables: &[(&str, &str)]) -> Wanted {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Wanted::read(lookup, 42)
    }

    #[test]
    fn a_file_that_cannot_be_created_is_known_before_the_run() {
        let error = |path: &str| may_appear(Path::new(path)).map_err(|error| error.kind());
        assert_eq!(error("no-such-folder/x"), Err(io::ErrorKind::NotFound));
        assert_eq!(error("/"), Err(io::ErrorKind::IsADirectory));
        assert_eq!([error("x"), error("/dev/stderr")], [Ok(()); 2]);
    }

    #[test]
    fn an_environment_without_a_wish_gets_nothing() {
        assert!(wanted(&[]).is_nothing());
        assert!(wanted(&[("EVENKEEL_SUMMARY", "0"), ("EVENKEEL_TRACE", "")]).is_nothing());
    }

    #[test]
    fn a_summary_goes_to_the_terminal_or_to_a_file_with_the_process_in_its_name() {
        let summary = |value| wanted(&[("EVENKEEL_SUMMARY", value)]).summary;
        assert_eq!(summary("1"), Some(Output::Terminal));
        assert_eq!(summary("run-%p.txt"), Some(Output::File("run-42.txt".into())));
        let page = wanted(&[("EVENKEEL_PAGE", "a.html")]);
        assert_eq!((page.page, page.trace), (Some(Output::File("a.html".into())), None));
    }

    #[test]
    fn a_file_that_cannot_be_written_whole_does_not_appear() {
        let folder = std::env::temp_dir().join(format!("evenkeel-seen-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.txt");
        let failing = whole_file(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failing.is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        whole_file(&path, |out| out.write_all(b"whole")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let folder = std::env::temp_dir().join(format!("evenkeel-stays-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (device, file) = (folder.join("device"), folder.join("file"));
        std::os::unix::fs::symlink("/dev/full", &device).unwrap();
        std::os::unix::fs::symlink("a.txt", &file).unwrap();
        std::fs::write(folder.join("a.txt"), "before").unwrap();
        let content = |out: &mut dyn Write| out.write_all(b"text");
        let full = whole_file(&device, content).unwrap_err();
        assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
        whole_file(&file, content).unwrap();
        assert!([&device, &file].iter().all(|path| path.is_symlink()));
        assert_eq!(std::fs::read(folder.join("a.txt")).unwrap(), b"text");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

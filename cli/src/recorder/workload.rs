//! The command that runs while recording, and the warden that ends it.
//!
//! The warden is a fork that waits on a socket. The warden starts the command on request and
//! reports its exit. Once the recorder's end of the socket is closed, for any reason (even
//! SIGKILL), the warden ends the command and all descendants of the command. If the warden itself
//! is killed, its children die too.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid};

/// Time that the command has between SIGTERM and SIGKILL; our choice.
const GRACE: Duration = Duration::from_secs(1);
/// Between two looks at whether all have ended.
const LOOK: Duration = Duration::from_millis(5);

/// How a command ended: by itself with a code, or by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl End {
    /// The exit code that a shell would return.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

/// A command that can be started.
pub struct Workload {
    socket: BufReader<UnixStream>,
    warden: Pid,
}

impl Workload {
    /// Forks the warden; to be called while the process has one thread.
    pub fn prepare(command: &[OsString]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: the process has one thread, so the child may use locks and memory after the fork.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => {
                Ok(Self { socket: BufReader::new(ours), warden: child })
            }
            ForkResult::Child => {
                drop(ours);
                let done = guard(theirs, command);
                // SAFETY: ends this process at once; only the parent flushes the parent's buffers.
                unsafe { nix::libc::_exit(i32::from(done.is_err())) }
            }
        }
    }

    /// Starts the command; the error is that of its exec.
    pub fn start(&mut self) -> io::Result<()> {
        self.socket.get_mut().write_all(b"start\n")?;
        match self.said()?.as_deref() {
            Some("started") => Ok(()),
            Some(errno) => Err(io::Error::from_raw_os_error(errno.parse().unwrap_or(0))),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Readable once the command has ended.
    pub fn ended_fd(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().as_fd()
    }

    /// Ends the command, if still running, and returns its exit.
    pub fn end(mut self) -> io::Result<End> {
        self.socket.get_ref().shutdown(Shutdown::Write)?;
        let said = self.said()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let number = |text: &str| text.parse().unwrap_or(0);
        Ok(match said.split_once(' ') {
            Some(("signal", signal)) => End::Signal(number(signal)),
            Some((_, code)) => End::Code(number(code)),
            None => End::Code(0),
        })
    }

    /// A line of the warden; `None` after the warden's end.
    fn said(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        self.socket.read_line(&mut line)?;
        Ok((!line.is_empty()).then(|| line.trim_end().to_owned()))
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // The warden ends once the socket is closed; an error means that the warden has ended.
        let _ = self.socket.get_ref().shutdown(Shutdown::Both);
        let _ = waitpid(self.warden, None);
    }
}

/// The warden's life.
fn guard(mut socket: UnixStream, command: &[OsString]) -> io::Result<()> {
    // A terminal sends its signals to all; the warden acts when the recorder does.
    SigSet::all().thread_set_mask()?;
    prctl::set_child_subreaper(true)?;
    let mut order = [0; 6];
    if socket.read_exact(&mut order).is_err() {
        return Ok(());
    }
    let mut child = match spawn(command) {
        Ok(child) => child,
        Err(error) => return writeln!(socket, "{}", error.raw_os_error().unwrap_or(0)),
    };
    socket.write_all(b"started\n")?;
    let end = match wait(&mut child, &socket)? {
        Some(end) => end,
        None => end_all(Pid::from_raw(child.id().cast_signed()))?,
    };
    let (how, number) = match end {
        End::Code(code) => ("code", code),
        End::Signal(signal) => ("signal", signal),
    };
    // The recorder may be gone.
    let _ = writeln!(socket, "{how} {number}");
    Ok(())
}

fn spawn(command: &[OsString]) -> io::Result<Child> {
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]);
    let prepare = || -> io::Result<()> {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        Ok(SigSet::empty().thread_set_mask()?)
    };
    // SAFETY: prctl and pthread_sigmask may be called between fork and exec.
    unsafe { child.pre_exec(prepare) };
    child.spawn()
}

/// Waits for the command's exit; `None` if the recorder went away or wants the command to end.
fn wait(child: &mut Child, socket: &UnixStream) -> io::Result<Option<End>> {
    let mut ended = SigSet::empty();
    ended.add(Signal::SIGCHLD);
    let ended = SignalFd::with_flags(&ended, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(End::of(status)));
        }
        let mut files =
            [ended.as_fd(), socket.as_fd()].map(|file| PollFd::new(file, PollFlags::POLLIN));
        match poll(&mut files, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        if files[1].any() == Some(true) {
            return Ok(None);
        }
        while ended.read_signal()?.is_some() {}
    }
}

/// Ends the command with all descendants; returns the command's exit.
fn end_all(command: Pid) -> io::Result<End> {
    let begin = Instant::now();
    let mut end = End::Code(0);
    signal_all(Signal::SIGTERM);
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == command => end = End::Code(code),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == command => {
                end = End::Signal(signal as i32);
            }
            Ok(WaitStatus::StillAlive) => {
                if begin.elapsed() > GRACE {
                    signal_all(Signal::SIGKILL);
                }
                std::thread::sleep(LOOK);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(Errno::ECHILD) => return Ok(end),
            Err(error) => return Err(error.into()),
        }
    }
}

fn signal_all(signal: Signal) {
    for process in descendants(getpid(), &parents()) {
        // The process may have ended by now.
        let _ = kill(process, signal);
    }
}

/// Every process and its parent.
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of = |name: OsString| {
        let process: i32 = name.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // After the name, which may hold anything: the state, the parent.
        let parent: i32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((Pid::from_raw(process), Pid::from_raw(parent)))
    };
    folder.filter_map(|entry| of(entry.ok()?.file_name())).collect()
}

/// Children, and their children.
fn descendants(of: Pid, parents: &[(Pid, Pid)]) -> Vec<Pid> {
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(process, _)| process));
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_children_and_their_children() {
        let pairs = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 4)];
        let parents = pairs.map(|(process, its)| (Pid::from_raw(process), Pid::from_raw(its)));
        let mut found = descendants(Pid::from_raw(2), &parents);
        found.sort();
        assert_eq!(found, [3, 4, 6].map(Pid::from_raw));
    }

    #[test]
    fn a_code_is_given_on_as_a_shell_does() {
        assert_eq!((End::Code(3).code(), End::Signal(9).code()), (3, 137));
    }
}

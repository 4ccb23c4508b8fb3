//! Declarations: a process says which kind of task it is, and then becomes a command.
//!
//! The kernel says which process and user is at the other end of a connection, so that a process
//! can declare for itself alone (`SO_PEERCRED`, `SO_PEERPIDFD`). A line is `class NAME`; the answer
//! is `ok`, or `error: ` with a sentence.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use policy::TaskKind;

/// The socket in the folder of [`super::FOLDER`]; `cli/src/exec.rs` has the same.
pub const SOCKET: &str = "declare";
/// Programs that may be connected at one time, and the longest line; our choice.
const CLIENTS_MAX: usize = 64;
const LINE_MAX: usize = 64;

/// The kind of a class's name.
#[must_use]
pub fn kind(class: &str) -> Option<TaskKind> {
    match class {
        "avx512" => Some(TaskKind::Wide),
        "non-avx512" => Some(TaskKind::Narrow),
        "default" => Some(TaskKind::Default),
        _ => None,
    }
}

/// The kind that a line of a user asks for.
///
/// # Errors
/// Why the user cannot have it.
pub fn requested(line: &str, uid: u32) -> Result<TaskKind, String> {
    let class = line.trim_end().strip_prefix("class ").unwrap_or_default();
    let expected = || {
        let said: String = class.chars().filter(|it| !it.is_control()).collect();
        format!("`{said}` is no class; expected avx512, non-avx512 or default")
    };
    let kind = kind(class).ok_or_else(expected)?;
    if kind == TaskKind::Default && uid != 0 {
        return Err("only root may ask for the class default, which frees a task from the rules \
                    that protect the tasks of other users"
            .to_owned());
    }
    Ok(kind)
}

/// The server. No call of it blocks. The socket is removed when the server is dropped.
pub struct Server {
    path: PathBuf,
    listener: UnixListener,
    clients: Vec<(UnixStream, Vec<u8>)>,
}

impl Server {
    /// Listens, for all users; the socket that a killed scheduler left is replaced.
    ///
    /// # Errors
    /// If a socket of that name cannot be made.
    pub fn listen(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(SOCKET);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
        listener.set_nonblocking(true)?;
        Ok(Self { path, listener, clients: Vec::new() })
    }

    /// Files that become readable when [`Server::serve`] has work.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let clients = self.clients.iter().map(|(stream, _)| stream.as_fd());
        std::iter::once(self.listener.as_fd()).chain(clients)
    }

    /// Answers all lines that have arrived; `declare` is called with the process and its kind.
    pub fn serve(&mut self, declare: impl Fn(BorrowedFd<'_>, TaskKind) -> Result<(), String>) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < CLIENTS_MAX && stream.set_nonblocking(true).is_ok() {
                self.clients.push((stream, Vec::new()));
            }
        }
        self.clients.retain_mut(|(stream, read)| answer(stream, read, &declare).unwrap_or(false));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that another process has removed the file already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads a client's line and answers it. Returns whether the client has to send more.
fn answer(
    stream: &mut UnixStream,
    read: &mut Vec<u8>,
    declare: &impl Fn(BorrowedFd<'_>, TaskKind) -> Result<(), String>,
) -> io::Result<bool> {
    // One byte more than a line may have tells that it is too long.
    let mut buffer = [0; LINE_MAX + 1];
    match stream.read(&mut buffer) {
        Ok(0) => return Ok(false),
        Ok(bytes) => read.extend_from_slice(&buffer[..bytes]),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
        Err(error) => return Err(error),
    }
    let Some(end) = read.iter().position(|&byte| byte == b'\n') else {
        return Ok(read.len() <= LINE_MAX);
    };
    let uid = getsockopt(stream, PeerCredentials)?.uid();
    let line = String::from_utf8_lossy(&read[..end]);
    let declared = requested(&line, uid).and_then(|kind| {
        let process =
            process(stream).map_err(|error| format!("the process is unknown: {error}"))?;
        declare(process.as_fd(), kind)
    });
    match declared {
        Ok(()) => stream.write_all(b"ok\n")?,
        Err(why) => stream.write_all(format!("error: {why}\n").as_bytes())?,
    }
    Ok(false)
}

/// `SO_PEERPIDFD` (include/uapi/asm-generic/socket.h, from Linux 6.5 on).
const SO_PEERPIDFD: libc::c_int = 77;

/// The process at the other end, which a reused number cannot be taken for.
fn process(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut file: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `file` has room for the `length` bytes that the kernel writes.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut file).cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel opened the file for this process, and no other code has its number.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn only_root_is_freed_from_the_rules() {
        assert_eq!(requested("class avx512", 1000), Ok(TaskKind::Wide));
        assert_eq!(requested("class non-avx512\n", 1000), Ok(TaskKind::Narrow));
        assert_eq!(requested("class default", 0), Ok(TaskKind::Default));
        assert!(requested("class default", 1000).is_err_and(|why| why.starts_with("only root")));
        for wrong in ["", "class", "class avx", "avx512", "class \u{1b}[2J", "class avx512 x"] {
            assert!(requested(wrong, 0).is_err_and(|why| why.contains("is no class")), "{wrong}");
        }
    }

    /// The server answers each line, drops clients that send too much, and says which process.
    #[test]
    fn a_process_declares_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::listen(folder.path()).unwrap();
        let declared = RefCell::new(Vec::new());
        let mut ask = |text: &str| {
            let mut client = UnixStream::connect(folder.path().join(SOCKET)).unwrap();
            client.write_all(text.as_bytes()).unwrap();
            server.serve(|process, kind| {
                let path = format!("/proc/self/fdinfo/{}", process.as_raw_fd());
                let info = fs::read_to_string(path).unwrap();
                let pid = info.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap();
                declared.borrow_mut().push((pid.trim().parse().unwrap(), kind));
                Ok(())
            });
            let mut line = String::new();
            // A client that is dropped reads an end or an error.
            let _ = BufReader::new(client).read_line(&mut line);
            line
        };
        assert_eq!(ask("class avx512\n"), "ok\n");
        assert!(ask("class nonsense\n").starts_with("error: `nonsense` is no class"));
        assert_eq!(declared.borrow()[..], [(std::process::id(), TaskKind::Wide)]);
        assert_eq!(ask(&"x".repeat(LINE_MAX * 2)), "");
        drop(server);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

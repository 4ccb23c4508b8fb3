//! The socket of statistics: the server in the loader, and the client of `--monitor`.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::protocol::Request;
use super::{Snapshot, protocol};

/// Where sched_ext's tools look for the one scheduler.
pub const PATH: &str = concat!("/var/run/scx/", "root", "/stats");

/// Programs that may be connected at one time, and the longest request; our choice.
const CLIENTS_MAX: usize = 16;
const LINE_MAX: usize = 4096;
/// How long the client waits for its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that is connected.
struct Client {
    stream: UnixStream,
    read: Vec<u8>,
    /// The snapshot of its last report, from which the next rates are computed.
    before: Snapshot,
    /// Whether it asked for core specialization to be off, while it is connected.
    wants_off: bool,
}

/// The server. No call of it blocks, so a slow client cannot delay the loader. The file of the
/// socket is removed when the server is dropped.
pub struct Server {
    path: PathBuf,
    listener: UnixListener,
    clients: Vec<Client>,
    /// Whether there is core specialization to switch.
    is_specialized: bool,
}

impl Server {
    /// Listens; the socket that a killed scheduler left is replaced.
    ///
    /// # Errors
    /// If a socket of that name cannot be made.
    pub fn listen(path: &Path, is_specialized: bool) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { path: path.to_owned(), listener, clients: Vec::new(), is_specialized })
    }

    /// Files that become readable when [`Server::serve`] has work.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let clients = self.clients.iter().map(|client| client.stream.as_fd());
        std::iter::once(self.listener.as_fd()).chain(clients)
    }

    /// Answers all requests that have arrived. `report` makes a report from the snapshot of now and
    /// the one of the client's last report.
    pub fn serve(&mut self, now: &Snapshot, report: impl Fn(&Snapshot, &Snapshot) -> Value) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < CLIENTS_MAX && stream.set_nonblocking(true).is_ok() {
                let before = Snapshot::default();
                self.clients.push(Client { stream, read: Vec::new(), before, wants_off: false });
            }
        }
        let is_specialized = self.is_specialized;
        self.clients.retain_mut(|client| client.serve(now, &report, is_specialized).is_ok());
    }

    /// Whether any program that is connected asked for core specialization to be off.
    #[must_use]
    pub fn wants_specialization_off(&self) -> bool {
        self.clients.iter().any(|client| client.wants_off)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that another process has removed the file already.
        let _ = fs::remove_file(&self.path);
    }
}

impl Client {
    /// # Errors
    /// If the client closed the connection, sent a line above the limit, or does not read its
    /// answers.
    fn serve(
        &mut self,
        now: &Snapshot,
        report: &impl Fn(&Snapshot, &Snapshot) -> Value,
        is_specialized: bool,
    ) -> io::Result<()> {
        let mut buffer = [0; LINE_MAX];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.read.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            while let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let responded = protocol::read(&line).and_then(|request| match request {
                    Request::Stats => Ok(report(now, &self.before)),
                    Request::Meta => Ok(super::meta()),
                    Request::Specialization { .. } if !is_specialized => {
                        Err("this mode has no core specialization".to_owned())
                    }
                    Request::Specialization { is_on } => {
                        self.wants_off = !is_on;
                        Ok(is_on.into())
                    }
                });
                self.before = now.clone();
                self.stream.write_all(protocol::answer(responded).as_bytes())?;
            }
            if self.read.len() > LINE_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

/// The client.
pub struct Asker(BufReader<UnixStream>);

impl Asker {
    /// Connects to the scheduler that runs.
    ///
    /// # Errors
    /// If none runs.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Requests a report; `None` if the scheduler has ended.
    ///
    /// # Errors
    /// If no answer comes within the time limit, or the answer is no report.
    pub fn ask(&mut self) -> io::Result<Option<Value>> {
        let mut line = Vec::new();
        let asked = self.0.get_mut().write_all(protocol::request().as_bytes());
        match asked.and_then(|()| self.0.read_until(b'\n', &mut line)) {
            Ok(0) => Ok(None),
            Ok(_) => protocol::response(&line).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A report of seconds: those since the start, and those since the last request.
    fn seconds(now: &Snapshot, before: &Snapshot) -> Value {
        json!([now.since_start.as_secs(), (now.since_start - before.since_start).as_secs()])
    }

    fn at(seconds: u64) -> Snapshot {
        Snapshot { since_start: Duration::from_secs(seconds), ..Snapshot::default() }
    }

    #[test]
    fn each_program_is_told_what_is_new_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scx/one/stats");
        let mut server = Server::listen(&path, true).unwrap();
        let mut client = BufReader::new(UnixStream::connect(&path).unwrap());
        for (now, expected) in [(5, json!([5, 5])), (7, json!([7, 2]))] {
            client.get_mut().write_all(protocol::request().as_bytes()).unwrap();
            server.serve(&at(now), seconds);
            let mut line = String::new();
            client.read_line(&mut line).unwrap();
            assert_eq!(protocol::response(line.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn who_asks_is_answered_until_the_scheduler_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats");
        let mut server = Server::listen(&path, true).unwrap();
        let mut asker = Asker::connect(&path).unwrap();
        let asks = std::thread::spawn(move || (asker.ask().unwrap(), asker));
        while !asks.is_finished() {
            server.serve(&at(5), seconds);
        }
        let (answer, mut asker) = asks.join().unwrap();
        assert_eq!(answer, Some(json!([5, 5])));
        drop(server);
        assert_eq!(asker.ask().unwrap(), None);
        assert!(!path.exists());
        assert!(Asker::connect(&path).is_err());
    }

    #[test]
    fn specialization_is_off_while_the_program_that_asked_is_connected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats");
        let ask = |server: &mut Server, state: &str| {
            let mut client = UnixStream::connect(&path).unwrap();
            let line =
                format!("{{\"req\":\"specialization\",\"args\":{{\"state\":\"{state}\"}}}}\n");
            client.write_all(line.as_bytes()).unwrap();
            server.serve(&at(0), seconds);
            client
        };
        let mut server = Server::listen(&path, true).unwrap();
        let off = ask(&mut server, "off");
        let on = ask(&mut server, "on");
        assert!(server.wants_specialization_off());
        drop(on);
        server.serve(&at(0), seconds);
        assert!(server.wants_specialization_off());
        drop(off);
        server.serve(&at(0), seconds);
        assert!(!server.wants_specialization_off());
        let mut server = Server::listen(&path, false).unwrap();
        let _off = ask(&mut server, "off");
        assert!(!server.wants_specialization_off());
    }

    #[test]
    fn who_writes_without_end_or_goes_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats");
        // The socket that a killed scheduler left.
        drop(UnixListener::bind(&path).unwrap());
        let mut server = Server::listen(&path, true).unwrap();
        let mut long = UnixStream::connect(&path).unwrap();
        let gone = UnixStream::connect(&path).unwrap();
        server.serve(&at(0), seconds);
        assert_eq!(server.clients.len(), 2);
        drop(gone);
        long.write_all(&[b' '; LINE_MAX + 1]).unwrap();
        server.serve(&at(0), seconds);
        assert_eq!(server.clients.len(), 0);
    }
}

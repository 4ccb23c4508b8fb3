//! A connection to a socket of `scx_evenkeel`: a line is asked, and a line answers.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The socket of statistics of sched_ext's schedulers; `scheduler/src/stats/socket.rs` has the
/// same.
pub const STATS: &str = concat!("/var/run/scx/", "root", "/stats");

/// How long the scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The connection; the scheduler may keep what was asked for only as long as it lasts.
pub struct Socket(BufReader<UnixStream>);

impl Socket {
    /// Connects to the scheduler that runs.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// The line that answers a line, with its end; empty if the scheduler ended before.
    pub fn ask(&mut self, line: &str) -> io::Result<String> {
        let mut answer = String::new();
        self.0.get_mut().write_all(format!("{line}\n").as_bytes())?;
        self.0.read_line(&mut answer)?;
        Ok(answer)
    }
}

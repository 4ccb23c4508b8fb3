//! The switch of the scheduler that runs: a request on its socket of statistics. What it switched
//! off is on again when the connection ends, however this process ends.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// The socket of statistics of sched_ext's schedulers; `scheduler/src/stats/socket.rs` has the
/// same.
pub const STATS: &str = concat!("/var/run/scx/", "root", "/stats");
/// How long the scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the scheduler.
pub struct Switch {
    stream: BufReader<UnixStream>,
    mode: String,
}

impl Switch {
    /// Connects to the scheduler that runs.
    ///
    /// # Errors
    /// If none runs, or it has no core specialization.
    pub fn connect(path: &Path) -> Result<Self> {
        let shown = path.display();
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!("no right to switch the scheduler ({shown}): run it as root")
            }
            Err(error) => bail!(
                "no scx_evenkeel runs here ({shown}: {error}); start scx_evenkeel --mode \
                 fair-specialize first"
            ),
        };
        stream.set_read_timeout(Some(PATIENCE)).with_context(|| shown.to_string())?;
        stream.set_write_timeout(Some(PATIENCE)).with_context(|| shown.to_string())?;
        let mut switch = Self { stream: BufReader::new(stream), mode: String::new() };
        let report = switch.ask(&json!({ "req": "stats" }))?;
        match report.get("mode").and_then(Value::as_str) {
            Some(mode) => mode.clone_into(&mut switch.mode),
            None => bail!("{shown}: another scheduler answers there"),
        }
        switch.turn(true)?;
        Ok(switch)
    }

    /// The mode of the scheduler.
    pub fn mode(&self) -> &str {
        &self.mode
    }

    /// Switches core specialization on or off.
    pub fn turn(&mut self, is_on: bool) -> Result<()> {
        let state = if is_on { "on" } else { "off" };
        let request = json!({ "req": "specialization", "args": { "state": state } });
        let answer = self.ask(&request);
        answer.with_context(|| format!("scx_evenkeel --mode {}", self.mode)).map(drop)
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        let mut line = String::new();
        let asked = writeln!(self.stream.get_mut(), "{request}");
        let read = asked.and_then(|()| self.stream.read_line(&mut line));
        let bytes = read.context("the scheduler does not answer")?;
        if bytes == 0 {
            bail!("the scheduler ended");
        }
        let answer: Value = serde_json::from_str(&line).context("the scheduler's answer")?;
        let response = answer.pointer("/args/resp").cloned().unwrap_or_default();
        match answer.get("errno").and_then(Value::as_i64) {
            Some(0) => Ok(response),
            _ => bail!("the scheduler refuses: {}", response.as_str().unwrap_or("no reason")),
        }
    }
}

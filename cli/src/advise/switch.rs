//! The switch of the scheduler that runs: a request on its socket of statistics. What it switched
//! off is on again when the connection ends, however this process ends.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::scheduler_socket::Socket;

/// A connection to the scheduler.
pub struct Switch {
    socket: Socket,
    mode: String,
}

impl Switch {
    /// Connects to the scheduler that runs.
    ///
    /// # Errors
    /// If none runs, or it has no core specialization.
    pub fn connect(path: &Path) -> Result<Self> {
        let shown = path.display();
        let socket = match Socket::connect(path) {
            Ok(socket) => socket,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!("no right to switch the scheduler ({shown}): run it as root")
            }
            Err(error) => bail!(
                "no scx_evenkeel runs here ({shown}: {error}); start scx_evenkeel --mode \
                 fair-specialize first"
            ),
        };
        let mut switch = Self { socket, mode: String::new() };
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
        let asked = self.socket.ask(&request.to_string());
        let line = asked.context("the scheduler does not answer")?;
        if line.is_empty() {
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

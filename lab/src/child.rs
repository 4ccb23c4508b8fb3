//! A process that does not outlive its harness, however that ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{LabError, at, not_started};

/// How often the harness looks at a process.
const LOOK: Duration = Duration::from_millis(20);

/// A running process; killed with this value, and with the thread that started the process.
pub(crate) struct Child(process::Child);

/// Starts the process.
pub(crate) fn start(command: &mut Command) -> Result<Child, LabError> {
    let program = command.get_program().to_string_lossy().into_owned();
    // SAFETY: the closure makes one system call (prctl(2), PR_SET_PDEATHSIG) without pointers.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
    command.spawn().map(Child).map_err(|source| not_started(&program, source))
}

impl Child {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for the process and calls `look` at intervals; no status after the time limit.
    pub fn wait(
        mut self,
        limit: Duration,
        mut look: impl FnMut(u32),
    ) -> Result<Option<ExitStatus>, LabError> {
        let start = Instant::now();
        loop {
            let ended = self.0.try_wait().map_err(at(Path::new("a process")))?;
            if ended.is_some() || start.elapsed() > limit {
                return Ok(ended);
            }
            look(self.pid());
            sleep(LOOK);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_beyond_its_limit_is_ended() {
        let child = start(Command::new("sleep").arg("60")).unwrap();
        let pid = child.pid();
        assert_eq!(child.wait(Duration::from_millis(1), |_| ()).unwrap(), None);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}

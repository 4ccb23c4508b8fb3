//! The signals that end a command which records or watches this machine.

use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGPIPE never ends such a command.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The blocked signals: readable once one of them came.
pub struct EndingSignals(SignalFd);

impl EndingSignals {
    /// Blocks them for this thread, and for the threads that it starts from now on.
    pub fn block() -> Result<Self> {
        let set: SigSet = ENDING.into_iter().collect();
        set.thread_block().context("blocking signals")?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self(SignalFd::with_flags(&set, flags).context("waiting for signals")?))
    }
}

impl AsFd for EndingSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for EndingSignals {
    /// The work that follows can be interrupted again.
    fn drop(&mut self) {
        // The signal that ended the command is pending, and would end the process.
        while let Ok(Some(_)) = self.0.read_signal() {}
        // An error would leave the signals blocked, as they are now.
        let _ = ENDING.into_iter().collect::<SigSet>().thread_unblock();
    }
}

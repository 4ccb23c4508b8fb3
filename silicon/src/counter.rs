//! Hardware counters of perf.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct perf_event_attr` in its first version (Linux include/uapi/linux/perf_event.h).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    breakpoint: u64,
}

/// `PERF_TYPE_HARDWARE`, the kind of [`INSTRUCTIONS`].
pub(crate) const HARDWARE: u32 = 0;
/// `PERF_COUNT_HW_INSTRUCTIONS`.
pub(crate) const INSTRUCTIONS: u64 = 1;
/// The flags `exclude_kernel` and `exclude_hv`.
pub(crate) const USER_ONLY: u64 = 0b11 << 5;
/// The flag `pinned`: a counter that finds no room is in error, and never counts in turns.
pub(crate) const PINNED: u64 = 1 << 2;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSES_ON_EXEC: libc::c_ulong = 8;

/// The threads whose events are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    /// The calling thread, on any CPU.
    ThisThread,
    /// Every thread, on this CPU.
    Cpu(u32),
}

/// An open counter, closed when dropped.
pub(crate) struct Counter(OwnedFd);

impl Counter {
    /// Opens a counter.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn open(
        kind: u32,
        config: u64,
        flags: u64,
        counted: Counted,
    ) -> Result<Self, String> {
        let size = size_of::<Attributes>() as u32;
        let attributes = Attributes { kind, size, config, flags, ..Attributes::default() };
        const ANY: libc::c_int = -1;
        const NO_GROUP: libc::c_int = -1;
        let (thread, cpu) = match counted {
            Counted::ThisThread => (0, ANY),
            Counted::Cpu(cpu) => (ANY, cpu as libc::c_int),
        };
        // SAFETY: the kernel reads the struct up to the size in its field, and keeps no pointer.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread as libc::pid_t,
                cpu,
                NO_GROUP,
                CLOSES_ON_EXEC,
            )
        };
        match libc::c_int::try_from(descriptor) {
            // SAFETY: the kernel has just returned this descriptor; nothing else closes it.
            Ok(file) if file >= 0 => Ok(Self(unsafe { OwnedFd::from_raw_fd(file) })),
            _ => Err(refusal(&io::Error::last_os_error())),
        }
    }

    /// The count; `None` where a pinned counter found no room.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut count = 0u64;
        let bytes = size_of::<u64>();
        // SAFETY: the kernel writes at most the size given to the address given.
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), bytes) };
        (usize::try_from(read) == Ok(bytes)).then_some(count)
    }
}

/// What the kernel means by an error of `perf_event_open` (its manual page, section errors; that of
/// an event which the `msr` source does not have is EINVAL, Linux arch/x86/events/msr.c).
fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::EOPNOTSUPP | libc::EINVAL) => {
            "this machine has none, as most virtual ones".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the kernel keeps it for privileged ones, see kernel.perf_event_paranoid".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel has no perf events".to_owned(),
        _ => error.to_string(),
    }
}

/// Counts the instructions that all programs execute in user mode.
pub struct Instructions(Vec<Counter>);

impl Instructions {
    /// Opens a counter on each of these CPUs.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn open(cpus: &[u32]) -> Result<Self, String> {
        let open =
            |&cpu| Counter::open(HARDWARE, INSTRUCTIONS, USER_ONLY | PINNED, Counted::Cpu(cpu));
        cpus.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// Instructions so far.
    ///
    /// # Errors
    /// Other programs took the counter of a CPU.
    pub fn read(&self) -> Result<u64, String> {
        let taken = || "another program took the instruction counter of a CPU".to_owned();
        self.0.iter().map(|counter| counter.read().ok_or_else(taken)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_refused_says_why_in_words() {
        for known in [libc::ENOENT, libc::EINVAL, libc::EACCES, libc::ENOSYS] {
            let said = refusal(&std::io::Error::from_raw_os_error(known));
            assert!(!said.contains("os error"), "{said}");
        }
        let said = refusal(&std::io::Error::from_raw_os_error(libc::EMFILE));
        assert!(said.contains("os error"), "{said}");
    }
}

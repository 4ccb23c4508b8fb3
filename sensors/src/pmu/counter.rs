//! How is an event opened on a CPU, and what does its counter say?
//!
//! Counters are pinned: the kernel never lets them count in turns with those of other programs. A
//! pinned counter that finds no room is in error until it is enabled again, and reads as the end of
//! the file (perf_event_open(2)).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_event_open_sys::bindings::{self, perf_event_attr};
use perf_event_open_sys::{ioctls, perf_event_open};

use super::code::Code;
use super::refusal::{Circumstances, Refusal};

/// Most events that are read at once; no PMU of ours has as many counters.
pub const EVENTS_MAX: usize = 16;

/// Why a reading is no measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The counters found no room: other programs, or the kernel's watchdog, have them.
    Taken,
    /// The counters counted for a part of the time only, so that counts would have to be
    /// extrapolated.
    Shared {
        /// Time for which they were to count, in ns.
        enabled_ns: u64,
        /// Time for which they did, in ns.
        running_ns: u64,
    },
    /// A count is smaller than before: the earlier reading is of other counters.
    Backwards,
    /// The kernel's error.
    Errno(i32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => out.write_str("the counters are in use"),
            Self::Shared { enabled_ns, running_ns } => {
                write!(out, "the counters counted for {running_ns} of {enabled_ns} ns")
            }
            Self::Backwards => out.write_str("a count is smaller than before"),
            Self::Errno(errno) => write!(out, "reading a counter fails (errno {errno})"),
        }
    }
}

impl ReadError {
    /// What is wrong on this machine and what to do about it, in one sentence.
    #[must_use]
    pub fn sentence(self, machine: &Circumstances) -> String {
        match self {
            Self::Taken => Refusal::Taken.sentence(machine),
            Self::Shared { .. } => format!("{self}; {}", Refusal::Taken.sentence(machine)),
            Self::Backwards => format!("{self}: compare readings of the same open counters"),
            Self::Errno(_) => format!("{self}: see perf_event_open(2)"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Counts since a group was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Time for which the group was to count, in ns.
    pub enabled_ns: u64,
    /// Time for which it did, in ns.
    pub running_ns: u64,
    /// The counts, in the order of the events.
    pub values: Vec<u64>,
}

/// Events of a device that one CPU counts at the same times; dropping this value closes them.
#[derive(Debug)]
pub struct Group {
    /// The leader first.
    files: Vec<OwnedFd>,
}

impl Group {
    /// Opens events of all tasks on a CPU, and has them count.
    ///
    /// # Errors
    /// The position of the first event that does not open, and why.
    ///
    /// # Panics
    /// Without an event, or with more than [`EVENTS_MAX`].
    pub fn open(codes: &[Code], cpu: u32) -> Result<Self, (usize, Refusal)> {
        Self::open_of(codes, Counted::Cpu(cpu))
    }

    /// Opens events of the calling thread in user mode, which most users may count, and has them
    /// count.
    ///
    /// # Errors
    /// As for [`Group::open`].
    ///
    /// # Panics
    /// As for [`Group::open`].
    pub fn open_of_this_thread(codes: &[Code]) -> Result<Self, (usize, Refusal)> {
        Self::open_of(codes, Counted::ThisThread)
    }

    fn open_of(codes: &[Code], counted: Counted) -> Result<Self, (usize, Refusal)> {
        assert!((1..=EVENTS_MAX).contains(&codes.len()), "{} events", codes.len());
        let mut files: Vec<OwnedFd> = Vec::with_capacity(codes.len());
        for (position, &code) in codes.iter().enumerate() {
            let file = open(code, counted, files.first()).map_err(|error| {
                let errno = error.raw_os_error().unwrap_or(0);
                (position, Refusal::of(errno, code, position > 0))
            })?;
            files.push(file);
        }
        let group = Self { files };
        group.enable();
        Ok(group)
    }

    /// The leader's file, which BPF programs read.
    #[must_use]
    pub fn leader(&self) -> &OwnedFd {
        &self.files[0]
    }

    /// Lets the group count again, which also ends an error state.
    pub fn enable(&self) {
        // The result is ignored: the next reading finds a counter that was not enabled.
        // SAFETY: the file is open, and the request takes a flag.
        unsafe { ioctls::ENABLE(self.leader().as_raw_fd(), bindings::PERF_IOC_FLAG_GROUP) };
    }

    /// Leaves the counters to other programs.
    pub fn disable(&self) {
        // SAFETY: the file is open, and the request takes a flag.
        unsafe { ioctls::DISABLE(self.leader().as_raw_fd(), bindings::PERF_IOC_FLAG_GROUP) };
    }

    /// Reads all counters at the same time.
    ///
    /// # Errors
    /// [`ReadError::Taken`], [`ReadError::Shared`], [`ReadError::Errno`].
    pub fn read(&self) -> Result<Counts, ReadError> {
        let mut words = [0u64; HEAD + EVENTS_MAX];
        let room = size_of_val(&words);
        let leader = self.leader().as_raw_fd();
        // SAFETY: `words` has room for the `room` bytes that the kernel writes at most.
        let bytes = unsafe { libc::read(leader, words.as_mut_ptr().cast(), room) };
        match usize::try_from(bytes) {
            Ok(bytes) => decode(&words[..bytes / size_of::<u64>()], self.files.len()),
            Err(_) => {
                let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
                Err(ReadError::Errno(errno))
            }
        }
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.leader().as_fd()
    }
}

/// The tasks whose events are counted.
#[derive(Clone, Copy)]
enum Counted {
    /// Every task, on this CPU.
    Cpu(u32),
    /// The calling thread in user mode, on any CPU.
    ThisThread,
}

fn open(code: Code, counted: Counted, leader: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    let mut attributes = perf_event_attr {
        type_: code.device,
        size: bindings::PERF_ATTR_SIZE_VER0,
        config: code.config,
        read_format: u64::from(
            bindings::PERF_FORMAT_GROUP
                | bindings::PERF_FORMAT_TOTAL_TIME_ENABLED
                | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING,
        ),
        ..perf_event_attr::default()
    };
    // Only a leader may be pinned; the group begins when it is enabled.
    attributes.set_pinned(u64::from(leader.is_none()));
    attributes.set_disabled(u64::from(leader.is_none()));
    const ANY: libc::c_int = -1;
    const NO_GROUP: libc::c_int = -1;
    let leader = leader.map_or(NO_GROUP, AsRawFd::as_raw_fd);
    let no_cpu = |_| io::Error::from_raw_os_error(libc::ENODEV);
    let (task, cpu) = match counted {
        Counted::Cpu(cpu) => (ANY, libc::c_int::try_from(cpu).map_err(no_cpu)?),
        Counted::ThisThread => (0, ANY),
    };
    let is_user_only = u64::from(matches!(counted, Counted::ThisThread));
    attributes.set_exclude_kernel(is_user_only);
    attributes.set_exclude_hv(is_user_only);
    let flags = bindings::PERF_FLAG_FD_CLOEXEC.into();
    // SAFETY: the structure has at least the bytes that its member `size` declares, and lives
    // during the call.
    match unsafe { perf_event_open(&raw mut attributes, task, cpu, leader, flags) } {
        // SAFETY: `perf_event_open` has just returned this file; nothing else closes it.
        file if file >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Words before the counts: their number, the time enabled and the time running.
const HEAD: usize = 3;

/// Interprets the words that the kernel wrote for a group of so many events.
fn decode(words: &[u64], events: usize) -> Result<Counts, ReadError> {
    let [_, enabled_ns, running_ns, values @ ..] = words else { return Err(ReadError::Taken) };
    let (enabled_ns, running_ns) = (*enabled_ns, *running_ns);
    let values = values.get(..events).ok_or(ReadError::Taken)?.to_vec();
    if running_ns < enabled_ns {
        return Err(ReadError::Shared { enabled_ns, running_ns });
    }
    Ok(Counts { enabled_ns, running_ns, values })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Perf's software clocks of a CPU and of a task, `PERF_TYPE_SOFTWARE`.
    const CLOCKS: [Code; 2] = [Code { device: 1, config: 0 }, Code { device: 1, config: 1 }];

    #[test]
    fn a_counter_in_error_or_shared_is_no_measurement() {
        let counts = Counts { enabled_ns: 1000, running_ns: 1000, values: vec![5, 6] };
        assert_eq!(decode(&[2, 1000, 1000, 5, 6], 2), Ok(counts));
        assert_eq!(decode(&[], 1), Err(ReadError::Taken));
        assert_eq!(decode(&[2, 1000, 1000, 5], 2), Err(ReadError::Taken));
        let shared = ReadError::Shared { enabled_ns: 1000, running_ns: 999 };
        assert_eq!(decode(&[1, 1000, 999, 5], 1), Err(shared));
        assert!(shared.to_string().contains("999 of 1000 ns"));
        let watched = Circumstances { nmi_watchdog: true, ..Circumstances::default() };
        for error in [shared, ReadError::Taken] {
            assert!(error.sentence(&watched).contains("kernel.nmi_watchdog=0"), "{error:?}");
            assert!(!error.sentence(&Circumstances::default()).contains("watchdog"));
        }
        for error in [ReadError::Backwards, ReadError::Errno(5)] {
            assert!(error.sentence(&watched).contains(": "), "{error:?}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_decoded(words in prop::collection::vec(any::<u64>(), 0..20)) {
            for events in 1..=EVENTS_MAX {
                let _ = decode(&words, events);
            }
        }
    }

    #[test]
    fn a_group_counts_stops_and_counts_again() {
        let group = match Group::open(&CLOCKS, 0) {
            Ok(group) => group,
            // In a container, which may not count events of all tasks.
            Err(refusal) => return assert_eq!(refusal, (0, Refusal::NotPermitted)),
        };
        let first = group.read().unwrap();
        assert_eq!(first.values.len(), 2);
        assert!(group.read().unwrap().values[0] > first.values[0]);
        group.disable();
        let stopped = group.read().unwrap();
        assert_eq!(group.read().unwrap(), stopped);
        group.enable();
        assert!(group.read().unwrap().values[0] > stopped.values[0]);
    }

    #[test]
    fn a_number_beyond_those_of_cpus_is_no_cpu() {
        let refused = Group::open(&CLOCKS, u32::MAX).unwrap_err();
        assert_eq!(refused, (0, Refusal::CpuOffline));
    }
}

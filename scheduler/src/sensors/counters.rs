//! Hardware counters of every CPU: opening, checking, giving up and taking back.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use libc::{c_int, c_ulong};

use super::given_up::Group;
use super::{Choice, Code, Found, Refusal};
use crate::interface::HardwareEvent;

/// The head of `struct perf_event_attr`, include/uapi/linux/perf_event.h; the kernel takes the
/// missing members as zeros.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// `PERF_ATTR_SIZE_VER0`.
const SIZE: u32 = 64;
const _: () = assert!(size_of::<Attributes>() == SIZE as usize);
/// `PERF_FORMAT_TOTAL_TIME_ENABLED` and `_RUNNING`.
const WITH_TIMES: u64 = 1 | 2;
/// The bit `pinned` of the flags.
const PINNED: u64 = 1 << 2;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSES_ON_EXEC: c_ulong = 8;
/// `PERF_EVENT_IOC_ENABLE` and `_DISABLE`.
const ENABLE: c_ulong = 0x2400;
const DISABLE: c_ulong = 0x2401;
/// `ENODEV`: the CPU is offline.
const NO_CPU: i32 = 19;

fn open(code: Code, cpu: u32) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        kind: code.device,
        size: SIZE,
        config: code.config,
        read_format: WITH_TIMES,
        flags: PINNED,
        ..Attributes::default()
    };
    const EVERY_TASK: libc::pid_t = -1;
    const NO_GROUP: c_int = -1;
    // SAFETY: the structure has the `SIZE` bytes that its member `size` declares, and lives during
    // the call.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            EVERY_TASK,
            cpu as c_int,
            NO_GROUP,
            CLOSES_ON_EXEC,
        )
    };
    match c_int::try_from(opened) {
        // SAFETY: `perf_event_open` has just returned this file descriptor; nothing else closes it.
        Ok(file) if file >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Tries to open each event that has a code on a CPU, and the two events of aperf and mperf.
#[must_use]
pub fn probe(codes: Vec<(HardwareEvent, Result<Code, Refusal>)>, cpu: u32) -> Found {
    let try_one = |code: Code| match open(code, cpu) {
        Ok(_) => Ok(code),
        Err(error) => Err(Refusal::Errno(error.raw_os_error().unwrap_or(0))),
    };
    let events = codes.into_iter().map(|(event, code)| (event, code.and_then(try_one)));
    let msr = msr_codes(Path::new(DEVICES));
    let msr = msr.filter(|codes| codes.iter().all(|&code| try_one(code).is_ok()));
    Found { events: events.collect(), msr, ..Found::default() }
}

/// Where the kernel describes the devices of perf.
const DEVICES: &str = "/sys/bus/event_source/devices";

/// The codes of aperf and mperf, where perf's device has them.
fn msr_codes(devices: &Path) -> Option<[Code; 2]> {
    let read = |name: &str| fs::read_to_string(devices.join("msr").join(name)).ok();
    let device = read("type")?.trim().parse().ok()?;
    let code = |name: &str| {
        let text = read(&format!("events/{name}"))?;
        let config = text.trim().strip_prefix("event=0x")?.to_owned();
        Some(Code { device, config: u64::from_str_radix(&config, 16).ok()? })
    };
    Some([code("aperf")?, code("mperf")?])
}

/// An open counter.
struct Counter {
    event: HardwareEvent,
    cpu: u32,
    file: OwnedFd,
}

impl Counter {
    /// Whether other programs took the counter, for a part of the time at least.
    fn is_taken(&self) -> bool {
        let mut value = [0u64; 3];
        let bytes = size_of_val(&value);
        // SAFETY: `value` has room for the `bytes` bytes that the kernel writes at most.
        let read = unsafe { libc::read(self.file.as_raw_fd(), value.as_mut_ptr().cast(), bytes) };
        is_taken(usize::try_from(read).unwrap_or(0), value)
    }

    fn ioctl(&self, request: c_ulong) {
        // The result is ignored: the next check finds a counter that was not enabled.
        // SAFETY: the file descriptor is open, and these requests take no pointer.
        unsafe { libc::ioctl(self.file.as_raw_fd(), request as _, 0) };
    }
}

/// Interprets the result of reading a pinned counter: a counter in error state reads as end of
/// file (perf_event_open(2)), and a shared one ran for less time than it was enabled.
fn is_taken(bytes: usize, [_, enabled_ns, running_ns]: [u64; 3]) -> bool {
    bytes < size_of::<[u64; 3]>() || running_ns < enabled_ns
}

/// The open counters of all CPUs; dropping this value closes them.
#[derive(Default)]
pub struct Counters(Vec<Counter>);

impl Counters {
    /// Opens the chosen counters on each CPU; CPUs that are offline are left out.
    ///
    /// # Errors
    /// Event, CPU and error of the first counter that does not open.
    pub fn open(choice: &Choice, cpus: &[u32]) -> Result<Self, (HardwareEvent, u32, io::Error)> {
        let mut counters = Vec::new();
        for &cpu in cpus {
            for &(event, code) in &choice.counters {
                match open(code, cpu) {
                    Ok(file) => counters.push(Counter { event, cpu, file }),
                    Err(error) if error.raw_os_error() == Some(NO_CPU) => {}
                    Err(error) => return Err((event, cpu, error)),
                }
            }
        }
        Ok(Self(counters))
    }

    /// Each counter's CPU, event and file.
    pub fn files(&self) -> impl Iterator<Item = (u32, HardwareEvent, &OwnedFd)> {
        self.0.iter().map(|counter| (counter.cpu, counter.event, &counter.file))
    }

    /// Groups that have a counter.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let has = |group: &Group| self.of(*group).next().is_some();
        Group::ALL.into_iter().filter(has).collect()
    }

    /// The groups of these with a counter that does not count.
    #[must_use]
    pub fn taken(&self, groups: &[Group]) -> Vec<Group> {
        let is_taken = |&&group: &&Group| self.of(group).any(Counter::is_taken);
        groups.iter().filter(is_taken).copied().collect()
    }

    /// Disables the counters of a group, so that other programs can use them.
    pub fn give_up(&self, group: Group) {
        self.of(group).for_each(|counter| counter.ioctl(DISABLE));
    }

    /// Enables the counters of a group, which also ends an error state.
    pub fn take_back(&self, group: Group) {
        self.of(group).for_each(|counter| counter.ioctl(ENABLE));
    }

    fn of(&self, group: Group) -> impl Iterator<Item = &Counter> {
        self.0.iter().filter(move |counter| group.events().contains(&counter.event))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::sensors::{Frequency, Source};

    #[test]
    fn a_counter_in_error_or_shared_is_taken() {
        assert!(!is_taken(24, [5, 1000, 1000]));
        assert!(is_taken(0, [0, 0, 0]));
        assert!(is_taken(24, [5, 1000, 999]));
    }

    /// Perf's software clock, `PERF_TYPE_SOFTWARE` and `PERF_COUNT_SW_CPU_CLOCK`, stands for a
    /// counter of stalls.
    #[test]
    fn counters_open_count_and_stop_by_groups() {
        let clock = Code { device: 1, config: 0 };
        let choice = Choice {
            source: Source::D7,
            frequency: Frequency::Table,
            sensors: Vec::new(),
            counters: vec![(HardwareEvent::StallL2Miss, clock)],
            passed_over: Vec::new(),
        };
        let counters = match Counters::open(&choice, &[0]) {
            Ok(counters) => counters,
            // In a container, which may not count events of all tasks.
            Err((_, cpu, error)) => {
                assert_eq!(cpu, 0);
                assert!([libc::EPERM, libc::EACCES].contains(&error.raw_os_error().unwrap()));
                return;
            }
        };
        let files: Vec<_> = counters.files().map(|(cpu, event, _)| (cpu, event)).collect();
        assert_eq!(files, [(0, HardwareEvent::StallL2Miss)]);
        assert_eq!(counters.groups(), [Group::Stalls]);
        assert_eq!(counters.taken(&Group::ALL), []);
        let count = || {
            let mut value = [0u8; 24];
            let file = counters.0[0].file.try_clone().unwrap();
            fs::File::from(file).read_exact(&mut value).unwrap();
            u64::from_ne_bytes(*value.first_chunk().unwrap())
        };
        counters.give_up(Group::Stalls);
        let stopped = count();
        assert_eq!(count(), stopped);
        counters.take_back(Group::Stalls);
        assert!(count() > stopped);
    }

    #[test]
    fn aperf_and_mperf_have_the_codes_that_the_kernel_gives() {
        let folder = tempfile::tempdir().unwrap();
        let events = folder.path().join("msr/events");
        fs::create_dir_all(&events).unwrap();
        fs::write(folder.path().join("msr/type"), "11\n").unwrap();
        fs::write(events.join("aperf"), "event=0x01\n").unwrap();
        assert_eq!(msr_codes(folder.path()), None);
        fs::write(events.join("mperf"), "event=0x02\n").unwrap();
        let code = |config| Code { device: 11, config };
        assert_eq!(msr_codes(folder.path()), Some([code(1), code(2)]));
    }
}

//! Facts that only a system call gives.

use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::time::{ClockId, clock_getres};
use sensors::facts::Access;

/// The coarse clocks advance with the ticks of the kernel.
pub fn ticks_a_second() -> Option<u32> {
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    let ns = u32::try_from(tick.tv_nsec()).ok().filter(|&ns| ns > 0 && tick.tv_sec() == 0)?;
    Some((1_000_000_000 + ns / 2) / ns)
}

/// The head of `struct perf_event_attr`, include/uapi/linux/perf_event.h; the kernel takes fields
/// beyond the size for zeros.
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
const SIZE: usize = 64;
const _: () = assert!(size_of::<Attributes>() == SIZE);
/// Counts user code only, as an unprivileged user may.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;

/// Whether this user can count the cycles of an own thread.
pub fn open_cycles() -> Access {
    let hardware_cycles = Attributes { flags: USER_ONLY, ..Attributes::default() };
    open(hardware_cycles, 0, -1)
}

/// Whether this user can count an event of a device on a CPU.
pub fn open_everywhere(kind: u32, config: u64) -> Access {
    open(Attributes { kind, config, ..Attributes::default() }, -1, 0)
}

fn open(attributes: Attributes, pid: libc::pid_t, cpu: libc::c_int) -> Access {
    let attributes = Attributes { size: SIZE as u32, ..attributes };
    // SAFETY: the structure has the size in its field, and lives during the call.
    let opened =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, pid, cpu, -1, 0) };
    let Ok(file) = libc::c_int::try_from(opened) else { return Access::Absent };
    if file < 0 {
        let denied = [Errno::EACCES, Errno::EPERM];
        let error = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let is_denied = denied.contains(&Errno::from_raw(error));
        return if is_denied { Access::Forbidden } else { Access::Absent };
    }
    // SAFETY: `file` is a descriptor that this function has just opened and shared with no one.
    unsafe { libc::close(file) };
    Access::Open
}

//! Facts that only a system call gives.

use nix::time::{ClockId, clock_getres};
use sensors::facts::Access;
use sensors::pmu::{Code, Group, Refusal};

/// The coarse clocks advance with the ticks of the kernel.
pub fn ticks_a_second() -> Option<u32> {
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    let ns = u32::try_from(tick.tv_nsec()).ok().filter(|&ns| ns > 0 && tick.tv_sec() == 0)?;
    Some((1_000_000_000 + ns / 2) / ns)
}

/// Whether this user can count the cycles of an own thread.
pub fn open_cycles() -> Access {
    access(&Group::open_of_this_thread(&[Code::CYCLES]))
}

/// Whether this user can count an event of a device on a CPU.
pub fn open_everywhere(code: Code) -> Access {
    access(&Group::open(&[code], 0))
}

fn access(opened: &Result<Group, (usize, Refusal)>) -> Access {
    match opened {
        Ok(_) => Access::Open,
        Err((_, Refusal::NotPermitted)) => Access::Forbidden,
        Err(_) => Access::Absent,
    }
}

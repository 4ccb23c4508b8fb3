//! Operations on one stopped thread: its registers, its code, and its continuation.

use std::io;

use libc::{c_int, c_long, pid_t, user_regs_struct};
use nix::sys::ptrace;
use nix::unistd::Pid;

use super::faulting::ARCH_SET_CPUID;
use super::mask::Answer;

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The thread has become another program, and no instruction of that program has run yet.
    Exec,
    /// A system call begins or ends.
    Call,
    /// All of the process is stopped until SIGCONT.
    Group,
    /// The thread is about to receive a signal.
    Signal(c_int),
    /// Something to take note of at most: a new thread, the end of a stop.
    Other,
}

/// `PTRACE_EVENT_STOP`, include/uapi/linux/ptrace.h.
const EVENT_STOP: c_int = 128;
/// The bit that `PTRACE_O_TRACESYSGOOD` adds to stops at system calls.
const CALL: c_int = libc::SIGTRAP | 0x80;

impl Stop {
    /// Decodes the status that `waitpid` gives for a stopped thread, ptrace(2).
    pub fn of(status: c_int) -> Self {
        match (status >> 16, libc::WSTOPSIG(status)) {
            (libc::PTRACE_EVENT_EXEC, _) => Self::Exec,
            (EVENT_STOP, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                Self::Group
            }
            (0, CALL) => Self::Call,
            (0, signal) => Self::Signal(signal),
            _ => Self::Other,
        }
    }
}

/// The continuation of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resume {
    /// Runs until the next event.
    Run,
    /// Runs until the next event, or until a system call begins or ends.
    ToCall,
    /// Stays stopped until SIGCONT.
    Listen,
}

/// Continues a thread, with a signal unless `signal` is 0.
pub(super) fn resume(thread: pid_t, how: Resume, signal: c_int) -> io::Result<()> {
    let request = match how {
        Resume::Run => libc::PTRACE_CONT,
        Resume::ToCall => libc::PTRACE_SYSCALL,
        Resume::Listen => libc::PTRACE_LISTEN,
    };
    // SAFETY: these requests take a number and no pointer.
    let done = unsafe { libc::ptrace(request, thread, 0_usize, i64::from(signal)) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The next of all threads that this one follows, or of one of them, to stop or end, and its
/// status; `None` when no thread is left.
pub(super) fn wait(thread: pid_t) -> io::Result<Option<(pid_t, c_int)>> {
    loop {
        let mut status = 0;
        let how = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: the kernel writes a status to the address given.
        let found = unsafe { libc::waitpid(thread, &mut status, how) };
        if found > 0 {
            return Ok(Some((found, status)));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(error),
        }
    }
}

/// The registers of a thread that stopped because of a general protection fault of one of these
/// instructions.
pub(super) fn faulted(
    thread: pid_t,
    instructions: impl Fn([u8; 2]) -> bool,
) -> io::Result<Option<user_regs_struct>> {
    let thread = Pid::from_raw(thread);
    // `exc_general_protection` of arch/x86/kernel/traps.c (6.18) sends SIGSEGV from the kernel.
    if ptrace::getsiginfo(thread)?.si_code != libc::SI_KERNEL {
        return Ok(None);
    }
    let registers = ptrace::getregs(thread)?;
    let found = instruction(thread, registers.rip).is_some_and(instructions);
    Ok(found.then_some(registers))
}

/// Two bytes of code; memory is read in words, of which one ends with them, where the other may
/// reach into nothing.
fn instruction(thread: Pid, at: u64) -> Option<[u8; 2]> {
    let word = |at: u64| Some(ptrace::read(thread, at as ptrace::AddressType).ok()?.to_le_bytes());
    if let Some([first, second, ..]) = word(at) {
        return Some([first, second]);
    }
    let [.., first, second] = word(at.checked_sub(6)?)?;
    Some([first, second])
}

/// Puts an answer where CPUID would have, and goes past the instruction.
pub(super) fn answer(
    thread: pid_t,
    mut registers: user_regs_struct,
    answer: Answer,
) -> io::Result<()> {
    registers.rax = answer.eax.into();
    registers.rbx = answer.ebx.into();
    registers.rcx = answer.ecx.into();
    registers.rdx = answer.edx.into();
    registers.rip += 2;
    Ok(ptrace::setregs(Pid::from_raw(thread), registers)?)
}

/// The state of a thread before its system call was injected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupted {
    registers: user_regs_struct,
    code: c_long,
}

/// Code segment of 32-bit programs, `__USER32_CS` of arch/x86/include/asm/segment.h (6.18).
const CODE_32: u64 = 0x23;
/// `syscall`.
const SYSCALL_64: [u8; 2] = [0x0f, 0x05];
/// `int 0x80`.
const SYSCALL_32: [u8; 2] = [0xcd, 0x80];
/// `arch_prctl` of 32-bit programs, arch/x86/entry/syscalls/syscall_32.tbl (6.18).
const ARCH_PRCTL_32: u64 = 384;

/// Makes a thread that stands before the first instruction of its program, at the end of `execve`,
/// ask the kernel to let CPUID fault: the system call takes the place of the first instruction.
/// At that point the process has neither another thread nor a signal handler that could notice.
pub(super) fn forbid_cpuid(thread: pid_t) -> io::Result<Interrupted> {
    let thread = Pid::from_raw(thread);
    let registers = ptrace::getregs(thread)?;
    let at = registers.rip as ptrace::AddressType;
    let code = ptrace::read(thread, at)?;
    // No number of a call that a signal would start again.
    let mut calling = user_regs_struct { orig_rax: u64::MAX, ..registers };
    let instruction = if registers.cs == CODE_32 {
        (calling.rax, calling.rbx, calling.rcx) = (ARCH_PRCTL_32, ARCH_SET_CPUID, 0);
        SYSCALL_32
    } else {
        (calling.rax, calling.rdi, calling.rsi) = (libc::SYS_arch_prctl as u64, ARCH_SET_CPUID, 0);
        SYSCALL_64
    };
    let call = (code & !0xffff) | c_long::from(u16::from_le_bytes(instruction));
    ptrace::write(thread, at, call)?;
    ptrace::setregs(thread, calling)?;
    Ok(Interrupted { registers, code })
}

/// Restores the thread's state, and returns the kernel's answer.
pub(super) fn restore(thread: pid_t, before: Interrupted) -> io::Result<i64> {
    let thread = Pid::from_raw(thread);
    let answer = ptrace::getregs(thread)?.rax as i32;
    ptrace::write(thread, before.registers.rip as ptrace::AddressType, before.code)?;
    ptrace::setregs(thread, before.registers)?;
    Ok(answer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_stops_apart() {
        let stopped = |event: c_int, signal: c_int| event << 16 | signal << 8 | 0x7f;
        for (status, stop) in [
            (stopped(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP), Stop::Exec),
            (stopped(0, libc::SIGTRAP | 0x80), Stop::Call),
            (stopped(0, libc::SIGTRAP), Stop::Signal(libc::SIGTRAP)),
            (stopped(0, libc::SIGSTOP), Stop::Signal(libc::SIGSTOP)),
            (stopped(EVENT_STOP, libc::SIGSTOP), Stop::Group),
            (stopped(EVENT_STOP, libc::SIGTTOU), Stop::Group),
            (stopped(EVENT_STOP, libc::SIGTRAP), Stop::Other),
            (stopped(libc::PTRACE_EVENT_CLONE, libc::SIGTRAP), Stop::Other),
            // The first real-time signal, which the C library keeps for itself.
            (stopped(0, 32), Stop::Signal(32)),
        ] {
            assert_eq!(Stop::of(status), stop, "{status:#x}");
        }
    }
}

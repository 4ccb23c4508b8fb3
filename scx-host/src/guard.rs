//! Runs a program of a scheduler, and comes back from one that does not return by itself.
//!
//! A kernel's verifier refuses a program that may not end or that reads where nothing is. Here
//! nothing refuses it: a foreign scheduler is compiled with a count of its branches, and a handler
//! of signals catches its bad addresses and divisions by zero. Both leave the program by a jump to
//! `scx_host_enter` in `native/functions.c`, past frames of the scheduler's own C code alone.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Once, OnceLock};

use crate::ops::Program;

/// Why a program was left; the numbers are those of `enum left` in `native/functions.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Endless,
    BadAddress,
    DividedByZero,
}

impl Left {
    /// What the program did, for a sentence that begins with the program's name.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Endless => {
                "took 10,000,000 branches and did not return; a kernel's verifier refuses a \
                 program that may not end"
            }
            Self::BadAddress => {
                "used an address where nothing is; a kernel's verifier refuses a pointer that was \
                 not compared with null, and lets a program read 0 through others"
            }
            Self::DividedByZero => {
                "divided by zero, whose result is 0 in BPF; the host has none: ask before dividing"
            }
        }
    }
}

type Enter = unsafe extern "C" fn(Program, u64, u64, u64, *mut u64) -> u32;
type Signalled = unsafe extern "C" fn(u32);

/// The functions of a loaded copy that programs are run by.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    enter: Enter,
    signalled: Signalled,
}

thread_local! {
    /// `scx_host_signalled` of the copy whose program runs on this thread.
    static RUNNING: Cell<Option<Signalled>> = const { Cell::new(None) };
}

impl Guard {
    /// # Safety
    /// The addresses are those of `scx_host_enter` and `scx_host_signalled` of a loaded image,
    /// which stays loaded as long as the guard is used.
    pub(crate) unsafe fn new(enter: *mut u8, signalled: *mut u8) -> Self {
        // SAFETY: by this function's contract these are functions of the declared types.
        unsafe {
            Self {
                enter: std::mem::transmute::<*mut u8, Enter>(enter),
                signalled: std::mem::transmute::<*mut u8, Signalled>(signalled),
            }
        }
    }

    /// Runs a program with up to three arguments.
    ///
    /// # Safety
    /// The program belongs to the guard's image and takes these arguments, or fewer of them.
    pub(crate) unsafe fn run(self, program: Program, arguments: [u64; 3]) -> Result<u64, Left> {
        let [a, b, c] = arguments;
        let mut returned = 0;
        let outer = RUNNING.replace(Some(self.signalled));
        // SAFETY: by this function's contract; arguments that a program does not take are in
        // registers that it ignores (System V ABI of x86-64).
        let left = unsafe { (self.enter)(program, a, b, c, &raw mut returned) };
        RUNNING.set(outer);
        match left {
            0 => Ok(returned),
            1 => Err(Left::Endless),
            2 => Err(Left::BadAddress),
            _ => Err(Left::DividedByZero),
        }
    }
}

const SIGNALS: [i32; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE];
/// The handlers that were there before.
static BEFORE: OnceLock<[libc::sigaction; 3]> = OnceLock::new();

/// Catches bad addresses and divisions by zero of scheduler programs from now on, in this process.
pub(crate) fn catch_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = SIGNALS.map(|signal| {
            let mut was = MaybeUninit::zeroed();
            // SAFETY: a null action changes nothing, and `was` has room for the old one.
            unsafe { libc::sigaction(signal, ptr::null(), was.as_mut_ptr()) };
            // SAFETY: zeroed memory is a valid `sigaction`, whether or not the call has filled it.
            unsafe { was.assume_init() }
        });
        let _ = BEFORE.set(before);
        // SAFETY: zeroed memory is a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_signal as *const () as usize;
        // A jump leaves the handler: the signal must not stay blocked. Threads of Rust's standard
        // library have the alternate stack, which a scheduler that overran its own stack needs.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
        for signal in SIGNALS {
            // SAFETY: the handler has the signature that SA_SIGINFO asks for, and calls only what
            // its own comments allow.
            unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
        }
    });
}

/// Leaves the program that runs on this thread; else the handler before this one goes on.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some(signalled) = RUNNING.get() {
        // SAFETY: `Guard::run` has set this while a program of that image runs on this thread. It
        // jumps only if the fault was in the scheduler's code, which is between
        // `scx_host_enter` and the host: no frame of Rust is skipped.
        unsafe { signalled(u32::from(signal == libc::SIGFPE)) };
    }
    let place = SIGNALS.iter().position(|&other| other == signal).unwrap_or(0);
    let Some(before) = BEFORE.get().map(|before| before[place]) else { return };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: restores the action that was there; the instruction faults again and ends
            // the process as it would have without the host.
            unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
        }
        handler => {
            type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: a handler that is neither default nor ignored is a function; one without
            // SA_SIGINFO ignores the last two arguments.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
    }
}

//! The code of a region.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::Member;
use super::work::LoopOptions;
use crate::affinity_format::Style;
use crate::iterations::Span;
use crate::microtask::{Microtask, evenkeel_omp_invoke};
use crate::ompt::{self, At};
use crate::task::header::Group;
use crate::thread::Thread;

/// The code of a region, as gcc compiles one.
pub(crate) type Function = unsafe extern "C" fn(*mut c_void);

/// The code that the threads of a region run, as a compiler passes its address.
#[derive(Clone, Copy)]
pub(crate) enum Job {
    Gcc {
        function: Function,
        data: *mut c_void,
        /// The group of the implicit tasks; null without one.
        group: *const Group,
        combined: Option<CombinedLoop>,
    },
    Clang {
        microtask: Microtask,
        argc: usize,
        argv: *const *mut c_void,
    },
}

/// A combined construct: a loop that is all of a region.
#[derive(Clone, Copy)]
pub(crate) struct CombinedLoop {
    pub span: Span,
    pub asked: LoopOptions,
    /// The construct, for a tool.
    pub work: ompt::Work,
}

impl CombinedLoop {
    /// A thread comes to the loop.
    pub(crate) fn enter(self, member: &Member) {
        member.enter_loop(self.span, self.asked);
        ompt::works(At::Begin, || (self.work, self.span.trips));
    }
}

impl Job {
    pub(crate) fn of_gomp(
        function: Function,
        data: *mut c_void,
        group: *const Group,
        combined: Option<CombinedLoop>,
    ) -> Self {
        Self::Gcc { function, data, group, combined }
    }

    pub(crate) fn of_kmp(microtask: Microtask, argc: c_int, argv: *const *mut c_void) -> Self {
        Self::Clang { microtask, argc: usize::try_from(argc).unwrap_or_default(), argv }
    }

    /// The compiler of the program.
    pub(crate) fn style(&self) -> Style {
        match self {
            Self::Gcc { .. } => Style::Gcc,
            Self::Clang { .. } => Style::Clang,
        }
    }

    /// A thread runs the code.
    ///
    /// # Safety
    /// The function or microtask may be called with its arguments in any thread, and both live
    /// until the call returns.
    pub(crate) unsafe fn run(&self, member: &Member) {
        // SAFETY: the function or microtask may be called with its arguments in any thread, and
        // both live until the call returns.
        unsafe {
            match *self {
                Self::Gcc { function, data, group, combined } => {
                    if let Some(combined) = combined {
                        combined.enter(member);
                    }
                    member.implicit().group.set(group);
                    run_gomp(function, data, member);
                }
                Self::Clang { microtask, argc, argv } => run_kmp(microtask, argc, argv, member),
            }
        }
    }
}

/// # Safety
/// The function or microtask may be called with its arguments in any thread, and both live until
/// the call returns.
unsafe fn run_gomp(function: Function, data: *mut c_void, member: &Member) {
    let code = function as *const ();
    member.worker().runs_code(code as usize, || {
        // SAFETY: the function or microtask may be called with its arguments in any thread, and
        // both live until the call returns.
        unsafe {
            if ompt::is_on() {
                ompt::call(code, data, ptr::null_mut());
            } else {
                function(data);
            }
        }
    });
}

/// # Safety
/// The function or microtask may be called with its arguments in any thread, and both live until
/// the call returns.
unsafe fn run_kmp(microtask: Microtask, argc: usize, argv: *const *mut c_void, member: &Member) {
    let mut global = Thread::in_region().number;
    let mut bound = member.number as i32;
    let mut nowhere = ptr::null_mut();
    let exit = ompt::exit_frame(&mut nowhere);
    member.worker().runs_code(microtask as *const () as usize, || {
        // SAFETY: the function or microtask may be called with its arguments in any thread, and
        // both live until the call returns.
        unsafe { evenkeel_omp_invoke(microtask, &mut global, &mut bound, argc, argv, exit) };
    });
}

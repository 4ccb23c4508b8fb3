//! What the threads of a region run.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::Member;
use super::work::Asked;
use crate::affinity_format::Style;
use crate::iterations::Span;
use crate::microtask::{Microtask, evenkeel_omp_invoke};
use crate::ompt::{self, At};
use crate::task::header::Group;
use crate::thread::Thread;

/// What gcc makes of a region.
pub(crate) type Function = unsafe extern "C" fn(*mut c_void);

/// What the threads of a region run, as a compiler says it.
#[derive(Clone, Copy)]
pub(crate) enum Job {
    Gcc {
        function: Function,
        data: *mut c_void,
        /// What the implicit tasks are in; null if it is nothing.
        group: *const Group,
        filled: Option<Filled>,
    },
    Clang {
        microtask: Microtask,
        argc: usize,
        argv: *const *mut c_void,
    },
}

/// A loop that is all of a region, and begins with it.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    pub span: Span,
    pub asked: Asked,
    /// Which construct it is.
    pub work: ompt::Work,
}

impl Filled {
    /// A thread comes to it.
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
        filled: Option<Filled>,
    ) -> Self {
        Self::Gcc { function, data, group, filled }
    }

    pub(crate) fn of_kmp(microtask: Microtask, argc: c_int, argv: *const *mut c_void) -> Self {
        Self::Clang { microtask, argc: usize::try_from(argc).unwrap_or_default(), argv }
    }

    /// Whose program it is of.
    pub(crate) fn style(&self) -> Style {
        match self {
            Self::Gcc { .. } => Style::Gcc,
            Self::Clang { .. } => Style::Clang,
        }
    }

    /// A thread runs it.
    ///
    /// # Safety
    /// The function or microtask takes the arguments, in any thread; both live until it returns.
    pub(crate) unsafe fn run(&self, member: &Member) {
        // SAFETY: the caller's promise.
        unsafe {
            match *self {
                Self::Gcc { function, data, group, filled } => {
                    if let Some(filled) = filled {
                        filled.enter(member);
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
/// As of [`Job::run`].
unsafe fn run_gomp(function: Function, data: *mut c_void, member: &Member) {
    let code = function as *const ();
    member.worker().runs_code(code as usize, || {
        // SAFETY: the caller's promise.
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
/// As of [`Job::run`].
unsafe fn run_kmp(microtask: Microtask, argc: usize, argv: *const *mut c_void, member: &Member) {
    let mut global = Thread::in_region().number;
    let mut bound = member.number as i32;
    let mut nowhere = ptr::null_mut();
    let exit = ompt::exit_frame(&mut nowhere);
    member.worker().runs_code(microtask as *const () as usize, || {
        // SAFETY: the caller's promise.
        unsafe { evenkeel_omp_invoke(microtask, &mut global, &mut bound, argc, argv, exit) };
    });
}

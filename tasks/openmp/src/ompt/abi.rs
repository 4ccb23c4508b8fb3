//! The interface of tools and runtimes: structures and numbers of OpenMP 5.1, chapter 4.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// `ompt_data_t`: a word of the tool with each thread, region and task.
#[repr(transparent)]
#[derive(Default)]
pub(crate) struct Data(Cell<u64>);

impl Data {
    /// The address for callbacks, which may write there.
    pub(crate) fn get(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }
}

/// `ompt_frame_t`: where a task's stack leaves the program and comes back into it.
#[repr(C)]
pub(crate) struct Frame {
    /// The last frame of the runtime below the task's code; null if that has not begun.
    pub exit: Cell<*mut c_void>,
    /// The first frame of the runtime above it; null while the program runs.
    pub enter: Cell<*mut c_void>,
    exit_flags: c_int,
    enter_flags: c_int,
}

/// `ompt_frame_runtime | ompt_frame_framepointer`.
const FRAME_POINTER: c_int = 0x20;
/// `ompt_frame_runtime | ompt_frame_cfa`.
const FRAME_CFA: c_int = 0x10;

impl Frame {
    pub(crate) fn none() -> Self {
        Self {
            exit: Cell::new(ptr::null_mut()),
            enter: Cell::new(ptr::null_mut()),
            exit_flags: FRAME_POINTER,
            enter_flags: FRAME_CFA,
        }
    }
}

/// `ompt_dependence_t`.
#[repr(C)]
pub(crate) struct Depends {
    pub variable: u64,
    pub kind: c_int,
}

/// `ompt_function_lookup_t`.
pub(crate) type Lookup = unsafe extern "C" fn(*const c_char) -> Option<unsafe extern "C" fn()>;

/// `ompt_start_tool_result_t`.
#[repr(C)]
pub(crate) struct Tool {
    pub initialize: Option<unsafe extern "C" fn(Lookup, c_int, *mut Data) -> c_int>,
    pub finalize: Option<unsafe extern "C" fn(*mut Data)>,
    pub data: Data,
}

/// `ompt_start_tool`.
pub(crate) type StartTool = unsafe extern "C" fn(u32, *const c_char) -> *mut Tool;

/// `ompt_scope_endpoint_t`.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Begin = 1,
    End = 2,
}

/// `ompt_sync_region_t`.
pub(crate) mod sync {
    /// A barrier without a directive.
    pub const IMPLICIT: i32 = 2;
    /// `barrier`.
    pub const EXPLICIT: i32 = 3;
    /// One that a construct needs here.
    pub const IMPLEMENTATION: i32 = 4;
    /// `taskwait`.
    pub const TASKWAIT: i32 = 5;
    /// The end of a `taskgroup`.
    pub const TASKGROUP: i32 = 6;
    /// Only with the event of its own.
    pub const REDUCTION: i32 = 7;
}

/// `ompt_work_t`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Loop = 1,
    Sections = 2,
    SingleExecutor = 3,
    SingleOther = 4,
    Distribute = 6,
    Taskloop = 7,
    Scope = 8,
}

/// `ompt_task_flag_t`.
pub(crate) mod task {
    pub const INITIAL: u32 = 0x1;
    pub const IMPLICIT: u32 = 0x2;
    pub const EXPLICIT: u32 = 0x4;
    pub const TASKWAIT: u32 = 0x10;
    pub const UNDEFERRED: u32 = 0x0800_0000;
    pub const UNTIED: u32 = 0x1000_0000;
    pub const FINAL: u32 = 0x2000_0000;
    pub const MERGEABLE: u32 = 0x4000_0000;
}

/// `ompt_task_status_t`.
pub(crate) mod status {
    pub const COMPLETE: i32 = 1;
    pub const CANCEL: i32 = 3;
    pub const DETACH: i32 = 4;
    pub const EARLY_FULFILL: i32 = 5;
    pub const LATE_FULFILL: i32 = 6;
    pub const SWITCH: i32 = 7;
    pub const TASKWAIT_COMPLETE: i32 = 8;
}

/// `ompt_parallel_flag_t`.
pub(crate) mod parallel {
    /// The runtime calls the code of a region, not the program.
    pub const BY_RUNTIME: i32 = 0x2;
    pub const LEAGUE: i32 = 0x4000_0000;
    pub const TEAM: i32 = i32::MIN;
}

/// `ompt_state_t`: the states that this library reports.
pub(crate) const STATES: [(c_int, &std::ffi::CStr); 15] = [
    (state::UNDEFINED, c"ompt_state_undefined"),
    (state::SERIAL, c"ompt_state_work_serial"),
    (state::PARALLEL, c"ompt_state_work_parallel"),
    (state::REDUCTION, c"ompt_state_work_reduction"),
    (state::BARRIER_IMPLICIT, c"ompt_state_wait_barrier_implicit"),
    (state::BARRIER_EXPLICIT, c"ompt_state_wait_barrier_explicit"),
    (state::BARRIER_IMPLEMENTATION, c"ompt_state_wait_barrier_implementation"),
    (state::TASKWAIT, c"ompt_state_wait_taskwait"),
    (state::TASKGROUP, c"ompt_state_wait_taskgroup"),
    (state::LOCK, c"ompt_state_wait_lock"),
    (state::CRITICAL, c"ompt_state_wait_critical"),
    (state::ATOMIC, c"ompt_state_wait_atomic"),
    (state::ORDERED, c"ompt_state_wait_ordered"),
    (state::IDLE, c"ompt_state_idle"),
    (state::OVERHEAD, c"ompt_state_overhead"),
];

/// `ompt_state_t`.
pub(crate) mod state {
    pub const SERIAL: i32 = 0;
    pub const PARALLEL: i32 = 1;
    pub const REDUCTION: i32 = 2;
    pub const BARRIER_IMPLICIT: i32 = 0x13;
    pub const BARRIER_EXPLICIT: i32 = 0x14;
    pub const BARRIER_IMPLEMENTATION: i32 = 0x15;
    pub const TASKWAIT: i32 = 0x20;
    pub const TASKGROUP: i32 = 0x21;
    pub const LOCK: i32 = 0x41;
    pub const CRITICAL: i32 = 0x42;
    pub const ATOMIC: i32 = 0x43;
    pub const ORDERED: i32 = 0x44;
    pub const IDLE: i32 = 0x100;
    pub const OVERHEAD: i32 = 0x101;
    pub const UNDEFINED: i32 = 0x102;
}

/// How mutexes are implemented: none, or as here by futexes.
pub(crate) const MUTEX_IMPLS: [(c_int, &std::ffi::CStr); 2] =
    [(0, c"evenkeel_mutex_none"), (FUTEX, c"evenkeel_mutex_futex")];
/// The number of this library's implementation.
pub(crate) const FUTEX: c_int = 1;

const _: () = assert!(size_of::<Data>() == 8 && size_of::<Frame>() == 24);

//! Parallel regions begin and end.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use crate::affinity;
use crate::affinity_format::Style;
use crate::environment::Bind;
use crate::ident::{Ident, called, flags};
use crate::microtask::Microtask;
use crate::ompt::{self, Wait};
use crate::place;
use crate::processors;
use crate::region::Member;
use crate::region::alone::{enter_serial, leave_serial};
use crate::region::job::{CombinedLoop, Function, Job};
use crate::region::thread_pool::ThreadPool;
use crate::registered::Registered;
use crate::registration::{current_thread, member, registered};
use crate::task::header::Group;
use crate::thread::Thread;

/// The clauses of a region.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// The number of threads; 0 without a clause.
    threads: u32,
    bind: Option<Bind>,
}

impl Wanted {
    /// From gcc's arguments: the lowest bits of the flags are the number of the binding.
    pub(crate) fn of_gomp(threads: u32, flags: u32) -> Self {
        Self { threads, bind: place::clause(flags & 7) }
    }

    /// From clang's calls before the region.
    fn of_kmp(thread: &Thread) -> Self {
        let threads = thread.num_threads.replace(0);
        Self { threads, bind: thread.proc_bind.replace(None) }
    }
}

/// The number of threads of the next region, whose clause asks for `wanted` (0 without a clause).
/// Under a thread limit these are counted until the region ends.
fn threads_for(thread: &Thread, wanted: u32) -> u32 {
    let member = Member::of(thread);
    let icvs = member.task().icvs.get();
    if ompt::is_on() {
        ompt::asks_for(if wanted > 0 { wanted } else { icvs.num_threads });
    }
    if wanted == 1 || member.region().active_level >= icvs.max_active_levels {
        return 1;
    }
    let most = if icvs.dynamic { processors::at_once() } else { u32::MAX };
    let asked = if wanted > 0 { wanted } else { icvs.num_threads };
    let asked = asked.min(most).max(1);
    member.thread_limit().map_or(asked, |limit| member.region().grant(asked, limit))
}

/// Begins a region of at least two threads, of which the caller is the primary one. The other
/// threads run `job`.
///
/// # Safety
/// Each thread of the region may run `job` until [`end_region`].
unsafe fn begin_team(registered: &Registered, size: u32, bind: Option<Bind>, job: Job) -> &Member {
    registered.keep_pools();
    let thread = &registered.thread;
    let around = thread.begun.replace(thread.begun.get() + 1);
    let mut pools = registered.pools.borrow_mut();
    // A child process has forgotten the pools of the regions around fork(2), too.
    while pools.len() <= around {
        pools.push(ThreadPool::new(current_thread));
    }
    let binding = affinity::binding(thread, bind, size);
    // SAFETY: a pool serves one level of nesting: its last region has ended. Each thread may run
    // `job`.
    unsafe { pools[around].begin(size, binding, job, thread) }
}

/// Ends the innermost region that the thread has begun.
fn end_region(thread: &Thread) {
    let member = Member::of(thread);
    let tool = member.region().tool.get();
    match member.team() {
        Some(team) => {
            let counted = member.region().counted.get();
            member.leave_team(team);
            thread.begun.set(thread.begun.get() - 1);
            if counted > 0 {
                Member::of(thread).region().group().busy.fetch_sub(counted, Ordering::Relaxed);
            }
        }
        None => leave_serial(member),
    }
    if !tool.is_null() {
        // SAFETY: the record was made when this thread began the region.
        unsafe { ompt::region_ends(tool) };
    }
}

/// Runs a region.
///
/// # Safety
/// Each thread of the region may run `job`.
pub(crate) unsafe fn run_region(wanted: Wanted, job: Job) {
    let size = threads_for(current_thread(), wanted.threads);
    // SAFETY: each thread of the region may run `job`.
    unsafe { run_region_of(size, wanted.bind, job) };
}

/// Runs a region of `size` threads, which [`threads_for`] has granted.
///
/// # Safety
/// Each thread of the region may run `job`.
unsafe fn run_region_of(size: u32, bind: Option<Bind>, job: Job) {
    let registered = registered();
    // SAFETY: each thread may run `job` until the region ends below.
    unsafe {
        let member = match size {
            1 => enter_serial(&registered.thread, bind, job.style()),
            _ => begin_team(registered, size, bind, job),
        };
        job.run(member);
    }
    end_region(&registered.thread);
}

/// gcc: runs a region.
///
/// # Safety
/// `function` may be called with `data` in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) {
    let job = Job::of_gomp(function, data, ptr::null(), None);
    // SAFETY: `function` may be called with `data` in any thread.
    unsafe { run_region(Wanted::of_gomp(threads, flags), job) };
}

/// gcc: runs a region whose implicit tasks are in a group, which `begin` makes for the number of
/// threads that it is passed. Returns that number.
///
/// # Safety
/// `function` may be called with `data` in any thread.
pub(crate) unsafe fn run_reducing_region(
    function: Function,
    data: *mut c_void,
    wanted: Wanted,
    begin: impl FnOnce(u32) -> Group,
) -> u32 {
    let size = threads_for(current_thread(), wanted.threads);
    let group = begin(size);
    // SAFETY: `function` may be called with `data` in any thread; the group lives until the region
    // has ended.
    unsafe {
        run_region_of(size, wanted.bind, Job::of_gomp(function, data, &raw const group, None))
    };
    size
}

/// gcc: runs a region that is a loop.
///
/// # Safety
/// `function` may be called with `data` in any thread.
pub(crate) unsafe fn run_loop_region(
    function: Function,
    data: *mut c_void,
    wanted: Wanted,
    combined: CombinedLoop,
) {
    // SAFETY: `function` may be called with `data` in any thread.
    unsafe { run_region(wanted, Job::of_gomp(function, data, ptr::null(), Some(combined))) };
}

/// gcc, before 4.9: begins a region, whose first part the program runs itself.
///
/// # Safety
/// `function` may be called with `data` in any thread, until [`GOMP_parallel_end`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_start(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
) {
    // SAFETY: `function` may be called with `data` in any thread, until `GOMP_parallel_end`.
    unsafe { start_combined(function, data, threads, None) };
}

/// gcc, before 4.9: begins a region that may be a loop.
///
/// # Safety
/// `function` may be called with `data` in any thread, until [`GOMP_parallel_end`].
pub(crate) unsafe fn start_combined(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    combined: Option<CombinedLoop>,
) {
    let registered = registered();
    let member = match threads_for(&registered.thread, threads) {
        1 => enter_serial(&registered.thread, None, Style::Gcc),
        size => {
            let job = Job::of_gomp(function, data, ptr::null(), combined);
            // SAFETY: `function` may be called with `data` in any thread, until
            // `GOMP_parallel_end`.
            unsafe { begin_team(registered, size, None, job) }
        }
    };
    if ompt::is_on() {
        ompt::serial_exit();
    }
    if let Some(combined) = combined {
        combined.enter(member);
    }
}

/// gcc, before 4.9: the region ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_parallel_end() {
    end_region(current_thread());
}

/// clang: runs a region, for the assembly of `__kmpc_fork_call`.
///
/// # Safety
/// `argv` has `argc` arguments, which the microtask takes.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_fork_call(
    place: *mut Ident,
    argc: c_int,
    microtask: Microtask,
    argv: *const *mut c_void,
) {
    let wanted = Wanted::of_kmp(current_thread());
    let function = microtask as *const () as usize;
    // SAFETY: `argv` has `argc` arguments, which the microtask takes.
    member().worker().calls_function(function, false, || unsafe { called(place) });
    // SAFETY: `argv` has `argc` arguments, which the microtask takes.
    unsafe { run_region(wanted, Job::of_kmp(microtask, argc, argv)) };
}

/// clang: the `num_threads` clause of the next region.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_num_threads(_where: *mut Ident, _thread: i32, threads: c_int) {
    current_thread().num_threads.set(u32::try_from(threads).unwrap_or_default());
}

/// clang: the `num_threads` clause with `strict`, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_num_threads_strict(
    place: *mut Ident,
    thread: i32,
    threads: c_int,
    _severity: c_int,
    _message: *const c_char,
) {
    __kmpc_push_num_threads(place, thread, threads);
}

/// clang: the same of regions in each other, of which the first counts.
///
/// # Safety
/// `threads` has `number` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_push_num_threads_list(
    place: *mut Ident,
    thread: i32,
    number: u32,
    threads: *const c_int,
) {
    if number > 0 {
        // SAFETY: `threads` has `number` numbers.
        __kmpc_push_num_threads(place, thread, unsafe { *threads });
    }
}

/// clang: the same.
///
/// # Safety
/// `threads` has `number` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_push_num_threads_list_strict(
    place: *mut Ident,
    thread: i32,
    number: u32,
    threads: *const c_int,
    _severity: c_int,
    _message: *const c_char,
) {
    // SAFETY: `threads` has `number` numbers.
    unsafe { __kmpc_push_num_threads_list(place, thread, number, threads) };
}

/// clang: forgets the `num_threads` clause.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_pop_num_threads(_where: *mut Ident, _thread: i32) {
    current_thread().num_threads.set(0);
}

/// clang: the `proc_bind` clause of the next region.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_proc_bind(_where: *mut Ident, _thread: i32, bind: c_int) {
    current_thread().proc_bind.set(place::clause(u32::try_from(bind).unwrap_or_default()));
}

/// clang: begins a region of one thread, which the program runs itself.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_serialized_parallel(_where: *mut Ident, _thread: i32) {
    let thread = current_thread();
    let bind = Wanted::of_kmp(thread).bind;
    enter_serial(thread, bind, Style::Clang);
    if ompt::is_on() {
        ompt::serial_exit();
    }
}

/// clang: the region of one thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_serialized_parallel(_where: *mut Ident, _thread: i32) {
    end_region(current_thread());
}

/// clang: runs a region, of one thread unless `is_parallel`; its argument may be none.
///
/// # Safety
/// The microtask takes `argument`, or no argument if that is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_fork_call_if(
    _where: *mut Ident,
    _argc: c_int,
    microtask: Microtask,
    is_parallel: c_int,
    argument: *mut c_void,
) {
    let mut wanted = Wanted::of_kmp(current_thread());
    if is_parallel == 0 {
        wanted.threads = 1;
    }
    let job = Job::of_kmp(microtask, (!argument.is_null()).into(), &raw const argument);
    // SAFETY: the microtask takes `argument`, or no argument if that is null.
    unsafe { run_region(wanted, job) };
}

/// Waits for all threads of the region.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_barrier() {
    let member = member();
    ompt::waits(|| Wait::Explicit, || member.barrier());
}

/// clang: waits for all threads of the region.
///
/// # Safety
/// `place` is null, or points to clang's constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_barrier(place: *mut Ident, _thread: i32) {
    let member = member();
    // SAFETY: the place is null, or clang's.
    ompt::waits(|| Wait::of_kmp(unsafe { flags(place) }), || member.barrier());
}

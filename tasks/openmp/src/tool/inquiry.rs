//! Inquiries of a tool about the calling thread, its regions and tasks.

use std::ffi::{c_int, c_void};
use std::iter::successors;

use crate::ompt::abi::{Data, Frame, state, task};
use crate::ompt::records::{RegionRecord, TaskRecord, ThreadRecord};

/// The answer for a level that exists.
const THERE: c_int = 2;
/// The answer for a level that does not exist.
const NOT_THERE: c_int = 0;

/// The state of the thread, and the lock or region that it waits for.
pub(super) unsafe extern "C" fn get_state(wait_id: *mut u64) -> c_int {
    let Some(thread) = ThreadRecord::known() else { return state::SERIAL };
    // SAFETY: a tool passes a variable, or null.
    if let Some(wait_id) = unsafe { wait_id.as_mut() } {
        *wait_id = thread.wait_id.get();
    }
    let works = match thread.task() {
        None => state::IDLE,
        Some(task) if task.flags.get() & task::INITIAL != 0 => state::SERIAL,
        Some(_) => state::PARALLEL,
    };
    thread.state.get().unwrap_or(works)
}

/// The task `level` levels below the one that runs.
fn task_at(level: c_int) -> Option<&'static TaskRecord> {
    let first = ThreadRecord::known()?.task();
    // SAFETY: a task below another lives longer.
    let all = successors(first, |task| unsafe { task.below.get().as_ref() });
    all.into_iter().nth(usize::try_from(level).ok()?)
}

/// Writes to a variable of a tool, unless the pointer is null.
///
/// # Safety
/// `variable` is null, or may be written.
unsafe fn tell<T>(variable: *mut T, value: T) {
    // SAFETY: `variable` is null, or may be written.
    if let Some(variable) = unsafe { variable.as_mut() } {
        *variable = value;
    }
}

pub(super) unsafe extern "C" fn get_task_info(
    level: c_int,
    flags: *mut c_int,
    data: *mut *mut Data,
    frame: *mut *const Frame,
    region: *mut *mut Data,
    number: *mut c_int,
) -> c_int {
    let Some(task) = task_at(level) else { return NOT_THERE };
    // SAFETY: a tool passes variables, or null.
    unsafe {
        tell(flags, task.flags.get() as c_int);
        tell(data, task.data.get());
        tell(frame, &raw const task.frame);
        tell(region, task.region_data());
        tell(number, task.number.get() as c_int);
    }
    THERE
}

pub(super) unsafe extern "C" fn get_parallel_info(
    level: c_int,
    data: *mut *mut Data,
    size: *mut c_int,
) -> c_int {
    let task = ThreadRecord::known().and_then(ThreadRecord::task);
    // SAFETY: a region outlives its tasks, and those in it.
    let first = task.and_then(|task| unsafe { task.region.get().as_ref() });
    // SAFETY: a region outlives those in it.
    let outer = |region: &&RegionRecord| unsafe { region.outer().as_ref() };
    let level = usize::try_from(level).ok();
    let Some(region) = level.and_then(|level| successors(first, outer).nth(level)) else {
        return NOT_THERE;
    };
    // SAFETY: a tool passes variables, or null.
    unsafe {
        tell(data, region.data.get());
        tell(size, region.size as c_int);
    }
    THERE
}

/// The one block of a task's memory, which has its arguments.
pub(super) unsafe extern "C" fn get_task_memory(
    place: *mut *mut c_void,
    bytes: *mut usize,
    block: c_int,
) -> c_int {
    let (at, size) = match task_at(0) {
        Some(task) if block == 0 => task.block.get(),
        _ => (std::ptr::null_mut(), 0),
    };
    // SAFETY: a tool passes variables, or null.
    unsafe {
        tell(place, at);
        tell(bytes, size);
    }
    (size > 0).into()
}

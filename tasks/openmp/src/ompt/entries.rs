//! The functions that a tool asks for by name.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use super::abi::{Data, MUTEX_IMPLS, STATES};
use super::caller::Caller;
use super::records::ThreadRecord;
use super::{callbacks, find, inquiry, is_on, threads};
use crate::{place, processors};

/// `omp_control_tool_notool` and `omp_control_tool_nocallback`.
const NO_TOOL: c_int = -2;
/// As above.
const NO_CALLBACK: c_int = -1;

/// Functions by name.
macro_rules! entries {
    ($name:expr; $($entry:ident = $function:path;)*) => {
        match $name {
            $(name if name == stringify!($entry).as_bytes() => $function as *const (),)*
            _ => std::ptr::null(),
        }
    };
}

/// `ompt_function_lookup_t`: a function of the interface; null if it is not known.
pub(super) unsafe extern "C" fn lookup(name: *const c_char) -> Option<unsafe extern "C" fn()> {
    // SAFETY: a tool passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let function = entries! { name;
        ompt_enumerate_states = enumerate_states;
        ompt_enumerate_mutex_impls = enumerate_mutex_impls;
        ompt_set_callback = set_callback;
        ompt_get_callback = get_callback;
        ompt_get_state = inquiry::get_state;
        ompt_get_parallel_info = inquiry::get_parallel_info;
        ompt_get_task_info = inquiry::get_task_info;
        ompt_get_task_memory = inquiry::get_task_memory;
        ompt_get_thread_data = get_thread_data;
        ompt_get_unique_id = get_unique_id;
        ompt_finalize_tool = finalize_tool;
        ompt_get_num_procs = get_num_procs;
        ompt_get_num_places = place::omp_get_num_places;
        ompt_get_place_proc_ids = get_place_proc_ids;
        ompt_get_place_num = get_place_num;
        ompt_get_partition_place_nums = get_partition_place_nums;
        ompt_get_proc_id = get_proc_id;
        ompt_get_target_info = get_target_info;
        ompt_get_num_devices = get_num_devices;
    };
    // SAFETY: a function's address, or null; tools know its type by its name.
    unsafe { std::mem::transmute(function) }
}

unsafe extern "C" fn set_callback(event: c_int, function: *mut ()) -> c_int {
    callbacks::set(event, function)
}

unsafe extern "C" fn get_callback(event: c_int, function: *mut *mut ()) -> c_int {
    let set = callbacks::get(event);
    if set.is_null() || !is_on() {
        return 0;
    }
    // SAFETY: a tool passes a variable.
    unsafe { *function = set };
    1
}

/// The next of a list after `current`, if there is one.
///
/// # Safety
/// One may write to both.
unsafe fn next(
    list: &'static [(c_int, &CStr)],
    current: c_int,
    number: *mut c_int,
    name: *mut *const c_char,
) -> c_int {
    let at = list.iter().position(|&(number, _)| number == current);
    let Some((next, text)) = at.and_then(|at| list.get(at + 1)) else { return 0 };
    // SAFETY: the caller's promise.
    unsafe { (*number, *name) = (*next, text.as_ptr()) };
    1
}

unsafe extern "C" fn enumerate_states(
    current: c_int,
    state: *mut c_int,
    name: *mut *const c_char,
) -> c_int {
    // SAFETY: a tool passes variables.
    unsafe { next(&STATES, current, state, name) }
}

unsafe extern "C" fn enumerate_mutex_impls(
    current: c_int,
    number: *mut c_int,
    name: *mut *const c_char,
) -> c_int {
    // SAFETY: a tool passes variables.
    unsafe { next(&MUTEX_IMPLS, current, number, name) }
}

unsafe extern "C" fn get_thread_data() -> *mut Data {
    ThreadRecord::known().map_or(std::ptr::null_mut(), |thread| thread.data.get())
}

unsafe extern "C" fn get_unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

unsafe extern "C" fn finalize_tool() {
    threads::end_all();
    find::end();
}

unsafe extern "C" fn get_num_procs() -> c_int {
    processors::omp_get_num_procs()
}

unsafe extern "C" fn get_place_proc_ids(place: c_int, size: c_int, ids: *mut c_int) -> c_int {
    // SAFETY: a tool passes room for so many.
    unsafe { put(place::place(place).iter().map(|&cpu| cpu as c_int), size, ids) }
}

unsafe extern "C" fn get_place_num() -> c_int {
    ThreadRecord::known().map_or(-1, |_| place::omp_get_place_num())
}

unsafe extern "C" fn get_partition_place_nums(size: c_int, places: *mut c_int) -> c_int {
    if ThreadRecord::known().is_none() {
        return 0;
    }
    let own = crate::thread::member().partition.places();
    // SAFETY: a tool passes room for so many.
    unsafe { put(own.map(|place| place as c_int), size, places) }
}

/// Writes what there is room for, if there is for all. Returns how many there are.
///
/// # Safety
/// There is room for `size` at `room`.
unsafe fn put(
    numbers: impl ExactSizeIterator<Item = c_int>,
    size: c_int,
    room: *mut c_int,
) -> c_int {
    let number = numbers.len();
    if usize::try_from(size).is_ok_and(|size| size >= number) {
        for (at, value) in numbers.enumerate() {
            // SAFETY: the caller's promise.
            unsafe { *room.add(at) = value };
        }
    }
    number as c_int
}

unsafe extern "C" fn get_proc_id() -> c_int {
    // SAFETY: it takes nothing.
    ThreadRecord::known().map_or(-1, |_| unsafe { libc::sched_getcpu() })
}

unsafe extern "C" fn get_target_info(_: *mut u64, _: *mut u64, _: *mut u64) -> c_int {
    0
}

unsafe extern "C" fn get_num_devices() -> c_int {
    0
}

/// Asks the tool for something, as the program does with `omp_control_tool`.
pub(crate) fn control(command: c_int, modifier: c_int, argument: *mut c_void) -> c_int {
    // It may be the first call.
    find::start();
    if !is_on() {
        return NO_TOOL;
    }
    let Some(function) = callbacks::CONTROL_TOOL.function() else { return NO_CALLBACK };
    let caller = Caller::find();
    let task = ThreadRecord::current().and_then(ThreadRecord::task);
    if let Some(task) = task {
        task.enters(caller);
    }
    // SAFETY: the tool's function takes this.
    let answer = unsafe { function(command as u64, modifier as u64, argument, caller.code) };
    if let Some(task) = task {
        task.returns();
    }
    answer
}

/// The program says that something is wrong.
pub(crate) fn error(severity: c_int, message: &[u8]) {
    callbacks::ERROR_DIRECTIVE.tell(|function| {
        ThreadRecord::current();
        let text = std::ffi::CString::new(message).unwrap_or_default();
        // SAFETY: the tool's function takes this.
        unsafe { function(severity, text.as_ptr(), message.len(), Caller::find().code) };
    });
}

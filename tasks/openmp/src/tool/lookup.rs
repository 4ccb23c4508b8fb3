//! The functions of OMPT that a tool finds by name.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::inquiry;
use crate::affinity;
use crate::ompt::abi::{Data, MUTEX_IMPLS, STATES, task};
use crate::ompt::records::ThreadRecord;
use crate::ompt::{self, callbacks, find, is_on};
use crate::place;
use crate::processors;
use crate::region::{Member, known_member};
use crate::registered::Registered;

/// Functions by name.
macro_rules! entries {
    ($name:expr; $($entry:ident = $function:path;)*) => {
        match $name {
            $(name if name == stringify!($entry).as_bytes() => $function as *const (),)*
            _ => ptr::null(),
        }
    };
}

/// `ompt_function_lookup_t`: a function of the interface; null for an unknown name.
pub(crate) unsafe extern "C" fn lookup(name: *const c_char) -> Option<unsafe extern "C" fn()> {
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
        ompt_get_num_places = get_num_places;
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

/// The entry of a list after `current`; returns 0 behind the last one.
///
/// # Safety
/// Both pointers lead to variables that may be written.
unsafe fn next(
    list: &'static [(c_int, &CStr)],
    current: c_int,
    number: *mut c_int,
    name: *mut *const c_char,
) -> c_int {
    let at = list.iter().position(|&(number, _)| number == current);
    let Some((next, text)) = at.and_then(|at| list.get(at + 1)) else { return 0 };
    // SAFETY: both pointers lead to variables that may be written.
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
    ThreadRecord::known().map_or(ptr::null_mut(), |thread| thread.data.get())
}

unsafe extern "C" fn get_unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

unsafe extern "C" fn finalize_tool() {
    end_all();
    find::end();
}

/// Ends the calling thread and the threads of its pools, as far as the tool hears, if the thread is
/// outside of all regions.
pub(crate) fn end_all() {
    let Some(thread) = ThreadRecord::known() else { return };
    let is_initial = thread.task().is_some_and(|task| task.flags.get() & task::INITIAL != 0);
    if !is_initial {
        return;
    }
    let Some(registered) = Registered::known() else { return };
    registered.dismiss();
    ompt::implicit_ends(ptr::from_ref(Member::of(&registered.thread)).cast());
    ompt::thread_ends();
}

unsafe extern "C" fn get_num_procs() -> c_int {
    processors::omp_get_num_procs()
}

unsafe extern "C" fn get_place_proc_ids(place: c_int, size: c_int, ids: *mut c_int) -> c_int {
    // SAFETY: a tool passes room for `size` numbers.
    unsafe { put(place::place(place).iter().map(|&cpu| cpu as c_int), size, ids) }
}

unsafe extern "C" fn get_num_places() -> c_int {
    place::number() as c_int
}

unsafe extern "C" fn get_place_num() -> c_int {
    let registered = ThreadRecord::known().and_then(|_| Registered::known());
    registered.map_or(-1, |registered| affinity::place_number(&registered.thread))
}

unsafe extern "C" fn get_partition_place_nums(size: c_int, places: *mut c_int) -> c_int {
    if ThreadRecord::known().is_none() {
        return 0;
    }
    let Some(member) = known_member() else { return 0 };
    let own = member.partition.places();
    // SAFETY: a tool passes room for `size` numbers.
    unsafe { put(own.map(|place| place as c_int), size, places) }
}

/// Writes the numbers, if `room` has room for all. Returns how many they are.
///
/// # Safety
/// `room` has room for `size` numbers.
unsafe fn put(
    numbers: impl ExactSizeIterator<Item = c_int>,
    size: c_int,
    room: *mut c_int,
) -> c_int {
    let number = numbers.len();
    if usize::try_from(size).is_ok_and(|size| size >= number) {
        for (at, value) in numbers.enumerate() {
            // SAFETY: `room` has room for `size` numbers.
            unsafe { *room.add(at) = value };
        }
    }
    number as c_int
}

unsafe extern "C" fn get_proc_id() -> c_int {
    // SAFETY: the function has no conditions.
    ThreadRecord::known().map_or(-1, |_| unsafe { libc::sched_getcpu() })
}

unsafe extern "C" fn get_target_info(_: *mut u64, _: *mut u64, _: *mut u64) -> c_int {
    0
}

unsafe extern "C" fn get_num_devices() -> c_int {
    0
}

//! The program's own libgomp, which is in the process too where ours is preloaded.
//!
//! It is idle but for one thing: if the environment says where threads are bound, it binds the
//! first one as it is loaded, before us, and who looks then finds one CPU. But it knows which it
//! found.

use std::ffi::{CStr, c_int, c_void};
use std::mem;

use super::{allow, allowed};
use crate::place;

/// Lets this thread run where it might before libgomp has bound it, if it has.
pub(crate) fn unbind() {
    let (found, now) = (in_its_places(), allowed());
    if found.len() > now.len() && now.iter().all(|cpu| found.contains(cpu)) {
        allow(&found);
    }
}

/// The CPUs to which libgomp binds threads; none where it binds none, or is not here.
fn in_its_places() -> Vec<u32> {
    type Count = extern "C" fn() -> c_int;
    type CountIn = extern "C" fn(c_int) -> c_int;
    type List = extern "C" fn(c_int, *mut c_int);
    // SAFETY: what is in the process already is not loaded by that.
    let own =
        unsafe { libc::dlopen(c"libgomp.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if own.is_null() {
        // SAFETY: the call only forgets an error, which the program would take for its own.
        unsafe { libc::dlerror() };
        return Vec::new();
    }
    // SAFETY: a library with such a name has these functions of OpenMP 4.5.
    let found = unsafe {
        let count = function(own, c"omp_get_num_places");
        let count_in = function(own, c"omp_get_place_num_procs");
        let list = function(own, c"omp_get_place_proc_ids");
        match (count, count_in, list) {
            // Under that name it may be ours.
            (Some(count), ..) if count == place::omp_get_num_places as *mut c_void => Vec::new(),
            (Some(count), Some(count_in), Some(list)) => {
                let count: Count = mem::transmute::<*mut c_void, Count>(count);
                let count_in: CountIn = mem::transmute::<*mut c_void, CountIn>(count_in);
                let list: List = mem::transmute::<*mut c_void, List>(list);
                let one = |place| {
                    let mut cpus = vec![0; usize::try_from(count_in(place)).unwrap_or(0)];
                    list(place, cpus.as_mut_ptr());
                    cpus
                };
                (0..count()).flat_map(one).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
            }
            _ => Vec::new(),
        }
    };
    // SAFETY: it was opened above, and whoever loaded it has it still.
    unsafe { libc::dlclose(own) };
    let mut found: Vec<u32> = found;
    found.sort_unstable();
    found.dedup();
    found
}

/// # Safety
/// The library is open.
unsafe fn function(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the caller's promise.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

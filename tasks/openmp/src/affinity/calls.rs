//! OpenMP's functions that return the places, and the place of a thread.

use std::ffi::c_int;

use super::place_number;
use crate::place::{self, place};
use crate::registration::{current_thread, member};

/// The number of places.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_places() -> c_int {
    place::number() as c_int
}

/// The number of CPUs of a place; 0 for a number that no place has.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num_procs(number: c_int) -> c_int {
    place(number).len() as c_int
}

/// Which CPUs these are.
///
/// # Safety
/// `cpus` has room for [`omp_get_place_num_procs`] numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_place_proc_ids(number: c_int, cpus: *mut c_int) {
    for (index, &cpu) in place(number).iter().enumerate() {
        // SAFETY: `cpus` has room for `omp_get_place_num_procs` numbers.
        unsafe { cpus.add(index).write(cpu as c_int) };
    }
}

/// How many places the running task's teams are spread over.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_partition_num_places() -> c_int {
    member().partition.number as c_int
}

/// Their numbers.
///
/// # Safety
/// `numbers` has room for [`omp_get_partition_num_places`] numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums(numbers: *mut c_int) {
    for (index, number) in member().partition.places().enumerate() {
        // SAFETY: `numbers` has room for `omp_get_partition_num_places` numbers.
        unsafe { numbers.add(index).write(number as c_int) };
    }
}

/// The place that the calling thread is bound to; -1 for a thread that is not bound.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num() -> c_int {
    place_number(current_thread())
}

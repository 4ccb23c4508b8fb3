//! OpenMP's functions that say which places there are and where a thread is.

use std::ffi::c_int;

use super::place_number;
use crate::place::{self, place};
use crate::registration::{current_thread, member};

/// How many places there are.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_places() -> c_int {
    place::number() as c_int
}

/// How many CPUs a place has; 0 if there is no such place.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num_procs(number: c_int) -> c_int {
    place(number).len() as c_int
}

/// Which CPUs these are.
///
/// # Safety
/// At `cpus` is room for as many as [`omp_get_place_num_procs`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_place_proc_ids(number: c_int, cpus: *mut c_int) {
    for (index, &cpu) in place(number).iter().enumerate() {
        // SAFETY: As the caller promises.
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
/// At `numbers` is room for as many as [`omp_get_partition_num_places`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums(numbers: *mut c_int) {
    for (index, number) in member().partition.places().enumerate() {
        // SAFETY: As the caller promises.
        unsafe { numbers.add(index).write(number as c_int) };
    }
}

/// The place that the calling thread is bound to; -1 where it is bound to none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num() -> c_int {
    place_number(current_thread())
}

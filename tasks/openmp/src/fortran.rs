//! The names that Fortran calls: with an underscore, and every argument by address; those with
//! `_8_` are for programs whose integers have eight bytes.

use std::ffi::{c_int, c_void};

use crate::affinity::calls as affinity;
use crate::allocate::calls as allocate;
use crate::registration::member;
use crate::task::detach::omp_fulfill_event;
use crate::task::event::Event;
use crate::{clock, control, device, kmp, levels, lock, place, processors, teams};

/// Functions without arguments.
macro_rules! without_arguments {
    ($($name:ident = $module:ident :: $function:ident -> $result:ty;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> $result {
            $module::$function()
        }
    )*};
}

without_arguments! {
    omp_get_wtime_ = clock::omp_get_wtime -> f64;
    omp_get_wtick_ = clock::omp_get_wtick -> f64;
    omp_get_max_threads_ = control::omp_get_max_threads -> c_int;
    omp_get_dynamic_ = control::omp_get_dynamic -> c_int;
    omp_get_nested_ = control::omp_get_nested -> c_int;
    omp_get_max_active_levels_ = control::omp_get_max_active_levels -> c_int;
    omp_get_supported_active_levels_ = control::omp_get_supported_active_levels -> c_int;
    omp_get_thread_limit_ = control::omp_get_thread_limit -> c_int;
    omp_get_cancellation_ = control::omp_get_cancellation -> c_int;
    omp_get_max_task_priority_ = control::omp_get_max_task_priority -> c_int;
    omp_get_proc_bind_ = control::omp_get_proc_bind -> c_int;
    omp_get_default_device_ = control::omp_get_default_device -> c_int;
    omp_get_num_procs_ = processors::omp_get_num_procs -> c_int;
    omp_get_num_devices_ = device::omp_get_num_devices -> c_int;
    omp_get_initial_device_ = device::omp_get_initial_device -> c_int;
    omp_get_device_num_ = device::omp_get_device_num -> c_int;
    omp_is_initial_device_ = device::omp_is_initial_device -> c_int;
    omp_get_num_places_ = affinity::omp_get_num_places -> c_int;
    omp_get_place_num_ = affinity::omp_get_place_num -> c_int;
    omp_get_partition_num_places_ = affinity::omp_get_partition_num_places -> c_int;
    omp_get_default_allocator_ = allocate::omp_get_default_allocator -> usize;
    omp_get_max_teams_ = teams::omp_get_max_teams -> c_int;
    omp_get_teams_thread_limit_ = teams::omp_get_teams_thread_limit -> c_int;
    kmp_get_stacksize_ = kmp::kmp_get_stacksize -> c_int;
    kmp_get_stacksize_s_ = kmp::kmp_get_stacksize_s -> usize;
    kmp_get_blocktime_ = kmp::kmp_get_blocktime -> c_int;
    kmp_get_library_ = kmp::kmp_get_library -> c_int;
    kmp_set_warnings_on_ = kmp::kmp_set_warnings_on -> ();
    kmp_set_warnings_off_ = kmp::kmp_set_warnings_off -> ();
    omp_get_thread_num_ = levels::omp_get_thread_num -> c_int;
    omp_get_num_threads_ = levels::omp_get_num_threads -> c_int;
    omp_in_parallel_ = levels::omp_in_parallel -> c_int;
    omp_get_level_ = levels::omp_get_level -> c_int;
    omp_get_active_level_ = levels::omp_get_active_level -> c_int;
    omp_in_final_ = levels::omp_in_final -> c_int;
    omp_in_explicit_task_ = levels::omp_in_explicit_task -> c_int;
    omp_get_num_teams_ = teams::omp_get_num_teams -> c_int;
    omp_get_team_num_ = teams::omp_get_team_num -> c_int;
}

/// Functions of one number.
macro_rules! of_a_number {
    ($($name:ident($of_type:ty) = $module:ident :: $function:ident;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// `number` points to a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(number: *const $of_type) {
            // SAFETY: `number` points to a number.
            let number = i64::from(unsafe { *number });
            $module::$function(number.clamp(c_int::MIN.into(), c_int::MAX.into()) as c_int);
        }
    )*};
}

of_a_number! {
    omp_set_num_threads_(i32) = control::omp_set_num_threads;
    omp_set_num_threads_8_(i64) = control::omp_set_num_threads;
    omp_set_dynamic_(i32) = control::omp_set_dynamic;
    omp_set_dynamic_8_(i64) = control::omp_set_dynamic;
    omp_set_nested_(i32) = control::omp_set_nested;
    omp_set_nested_8_(i64) = control::omp_set_nested;
    omp_set_max_active_levels_(i32) = control::omp_set_max_active_levels;
    omp_set_max_active_levels_8_(i64) = control::omp_set_max_active_levels;
    omp_set_default_device_(i32) = control::omp_set_default_device;
    omp_set_default_device_8_(i64) = control::omp_set_default_device;
    omp_display_env_(i32) = control::omp_display_env;
    omp_display_env_8_(i64) = control::omp_display_env;
    omp_set_num_teams_(i32) = teams::omp_set_num_teams;
    omp_set_num_teams_8_(i64) = teams::omp_set_num_teams;
    omp_set_teams_thread_limit_(i32) = teams::omp_set_teams_thread_limit;
    omp_set_teams_thread_limit_8_(i64) = teams::omp_set_teams_thread_limit;
}

/// Functions of a number that return one.
macro_rules! of_a_level {
    ($($name:ident($of_type:ty) = $function:ident;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// `level` points to a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(level: *const $of_type) -> c_int {
            // SAFETY: `level` points to a number.
            c_int::try_from(unsafe { *level }).map_or(-1, |level| levels::$function(level))
        }
    )*};
}

of_a_level! {
    omp_get_ancestor_thread_num_(i32) = omp_get_ancestor_thread_num;
    omp_get_ancestor_thread_num_8_(i64) = omp_get_ancestor_thread_num;
    omp_get_team_size_(i32) = omp_get_team_size;
    omp_get_team_size_8_(i64) = omp_get_team_size;
}

/// Fortran's `omp_fulfill_event`, whose argument is no address.
///
/// # Safety
/// A `detach` clause gave `event`, which was not fulfilled yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_fulfill_event_(event: *mut Event) {
    // SAFETY: a `detach` clause gave `event`, which was not fulfilled yet.
    unsafe { omp_fulfill_event(event) };
}

/// Functions that flang's programs call with plain arguments.
macro_rules! plain {
    ($($name:ident($($argument:ident: $of_type:ty),*) = $module:ident :: $function:ident
        -> $result:ty;)*) => {$(
        #[doc = concat!("flang's `", stringify!($function), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $of_type),*) -> $result {
            $module::$function($($argument),*)
        }
    )*};
}

plain! {
    ompc_set_num_threads(threads: c_int) = control::omp_set_num_threads -> ();
    ompc_set_dynamic(dynamic: c_int) = control::omp_set_dynamic -> ();
    ompc_set_nested(nested: c_int) = control::omp_set_nested -> ();
    ompc_set_max_active_levels(levels: c_int) = control::omp_set_max_active_levels -> ();
    ompc_set_schedule(kind: u32, chunk: c_int) = control::omp_set_schedule -> ();
    ompc_get_ancestor_thread_num(level: c_int) = levels::omp_get_ancestor_thread_num -> c_int;
    ompc_get_team_size(level: c_int) = levels::omp_get_team_size -> c_int;
}

/// Functions of a lock, which is an argument by address in C, too.
macro_rules! of_a_lock {
    ($($name:ident = $function:ident;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// `lock` points to a lock in the state that the C function needs.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "to end a lock is safe")]
        pub unsafe extern "C" fn $name(lock: *mut c_void) {
            // SAFETY: `lock` points to a lock in the state that the C function needs.
            unsafe { lock::$function(lock.cast()) };
        }
    )*};
}

of_a_lock! {
    omp_init_lock_ = omp_init_lock;
    omp_destroy_lock_ = omp_destroy_lock;
    omp_set_lock_ = omp_set_lock;
    omp_unset_lock_ = omp_unset_lock;
    omp_init_nest_lock_ = omp_init_nest_lock;
    omp_destroy_nest_lock_ = omp_destroy_nest_lock;
    omp_set_nest_lock_ = omp_set_nest_lock;
    omp_unset_nest_lock_ = omp_unset_nest_lock;
}

/// Fortran's `omp_test_lock`.
///
/// # Safety
/// `lock` points to a lock in the state that the C function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_lock_(lock: *const lock::Lock) -> c_int {
    // SAFETY: `lock` points to a lock in the state that the C function needs.
    unsafe { lock::omp_test_lock(lock) }
}

/// Fortran's `omp_test_nest_lock`.
///
/// # Safety
/// `lock` points to a lock in the state that the C function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_nest_lock_(lock: *const lock::NestLock) -> c_int {
    // SAFETY: `lock` points to a lock in the state that the C function needs.
    unsafe { lock::omp_test_nest_lock(lock) }
}

/// Fortran's `omp_set_schedule`.
///
/// # Safety
/// Both pointers lead to numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_schedule_(kind: *const u32, chunk: *const i32) {
    // SAFETY: both pointers lead to numbers.
    let (kind, chunk) = unsafe { (*kind, *chunk) };
    control::omp_set_schedule(kind, chunk);
}

/// Fortran's `omp_set_schedule` for long integers.
///
/// # Safety
/// Both pointers lead to numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_schedule_8_(kind: *const u32, chunk: *const i64) {
    // SAFETY: both pointers lead to numbers.
    let (kind, chunk) = unsafe { (*kind, *chunk) };
    control::omp_set_schedule(kind, chunk.clamp(0, i32::MAX.into()) as i32);
}

/// Fortran's `omp_get_schedule`.
///
/// # Safety
/// The arguments are those of the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_schedule_(kind: *mut u32, chunk: *mut i32) {
    // SAFETY: the arguments are those of the C function.
    unsafe { control::omp_get_schedule(kind, chunk) };
}

/// Fortran's `omp_get_schedule` for long integers.
///
/// # Safety
/// The arguments are those of the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_schedule_8_(kind: *mut u32, chunk: *mut i64) {
    let mut short = 0;
    // SAFETY: the arguments are those of the C function.
    unsafe {
        control::omp_get_schedule(kind, &mut short);
        *chunk = short.into();
    }
}

/// Functions of one number that give another.
macro_rules! number_of_a_number {
    ($($name:ident($of_type:ty) = $module:ident :: $function:ident;)*) => {$(
        #[doc = concat!("Fortran's `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// `number` points to a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(number: *const $of_type) -> c_int {
            // SAFETY: `number` points to a number.
            let number = i64::from(unsafe { *number });
            $module::$function(number.clamp(c_int::MIN.into(), c_int::MAX.into()) as c_int)
        }
    )*};
}

number_of_a_number! {
    omp_get_place_num_procs_(i32) = affinity::omp_get_place_num_procs;
    omp_get_place_num_procs_8_(i64) = affinity::omp_get_place_num_procs;
    omp_pause_resource_all_(i32) = teams::omp_pause_resource_all;
}

/// Fortran's `omp_pause_resource`.
///
/// # Safety
/// Both pointers lead to numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_pause_resource_(kind: *const i32, device: *const i32) -> c_int {
    // SAFETY: both pointers lead to numbers.
    unsafe { teams::omp_pause_resource(*kind, *device) }
}

/// Fortran's `omp_get_place_proc_ids`.
///
/// # Safety
/// Each pointer leads to an argument of the C function; `number` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_place_proc_ids_(number: *const i32, cpus: *mut c_int) {
    // SAFETY: each pointer leads to an argument of the C function; `number` points to a number.
    unsafe { affinity::omp_get_place_proc_ids(*number, cpus) };
}

/// Fortran's `omp_get_partition_place_nums`.
///
/// # Safety
/// The arguments are those of the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums_(numbers: *mut c_int) {
    // SAFETY: the arguments are those of the C function.
    unsafe { affinity::omp_get_partition_place_nums(numbers) };
}

/// Fortran's `omp_set_default_allocator`.
///
/// # Safety
/// `handle` points to a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_default_allocator_(handle: *const usize) {
    // SAFETY: `handle` points to a handle.
    allocate::omp_set_default_allocator(unsafe { *handle });
}

/// Fortran's `omp_destroy_allocator`.
///
/// # Safety
/// `handle` points to a handle, which is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_allocator_(handle: *const usize) {
    // SAFETY: `handle` points to a handle, which is used no more.
    unsafe { allocate::omp_destroy_allocator(*handle) };
}

/// Fortran's `omp_get_place_proc_ids` for long integers.
///
/// # Safety
/// `number` points to a number; `cpus` has room for the CPUs of that place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_place_proc_ids_8_(number: *const i64, cpus: *mut i64) {
    // SAFETY: `number` points to a number; `cpus` has room for the CPUs of that place.
    unsafe {
        let place = c_int::try_from(*number).map_or(&[][..], place::place);
        for (index, &cpu) in place.iter().enumerate() {
            cpus.add(index).write(cpu.into());
        }
    }
}

/// Fortran's `omp_get_partition_place_nums` for long integers.
///
/// # Safety
/// `numbers` has room for all places of the partition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums_8_(numbers: *mut i64) {
    for (index, number) in member().partition.places().enumerate() {
        // SAFETY: `numbers` has room for all places of the partition.
        unsafe { numbers.add(index).write(number.into()) };
    }
}

/// Fortran's `omp_init_lock_with_hint`.
///
/// # Safety
/// `lock` points to a lock in the state that the C function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock_with_hint_(lock: *mut lock::Lock, _hint: *const u32) {
    // SAFETY: `lock` points to a lock in the state that the C function needs.
    unsafe { lock::omp_init_lock(lock) };
}

/// Fortran's `omp_init_nest_lock_with_hint`.
///
/// # Safety
/// `lock` points to a lock in the state that the C function needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock_with_hint_(
    lock: *mut lock::NestLock,
    _hint: *const u32,
) {
    // SAFETY: `lock` points to a lock in the state that the C function needs.
    unsafe { lock::omp_init_nest_lock(lock) };
}

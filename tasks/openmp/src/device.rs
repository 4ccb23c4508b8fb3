//! Devices: the host is the only one.

mod copies;
mod interop;

use std::ffi::{c_int, c_void};

use libc::EINVAL;

/// The host's number is the number of the other devices, 0.
const HOST: c_int = 0;
/// `omp_initial_device`, the host under another number, since OpenMP 5.2.
const HOST_TOO: c_int = -1;

pub(crate) fn is_host(device: c_int) -> bool {
    matches!(device, HOST | HOST_TOO)
}

/// The number of devices beside the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_devices() -> c_int {
    0
}

/// The host's number.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_initial_device() -> c_int {
    HOST
}

/// The number of the device that this runs on.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_num() -> c_int {
    HOST
}

/// Whether this runs on the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_is_initial_device() -> c_int {
    1
}

/// Memory of a device.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_alloc(size: usize, device: c_int) -> *mut c_void {
    if !is_host(device) || size == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: Any size may be asked for.
    unsafe { libc::malloc(size) }
}

/// Frees memory of a device.
///
/// # Safety
/// The memory is null or came from [`omp_target_alloc`], and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_free(memory: *mut c_void, device: c_int) {
    if is_host(device) {
        // SAFETY: the memory is null or came from `omp_target_alloc`, and is used no more.
        unsafe { libc::free(memory) };
    }
}

/// Whether a device has the data at an address of the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_is_present(_address: *const c_void, device: c_int) -> c_int {
    is_host(device).into()
}

/// Whether a device can reach memory of the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_is_accessible(
    _address: *const c_void,
    _size: usize,
    device: c_int,
) -> c_int {
    is_host(device).into()
}

/// The address on a device of the data at an address of the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_mapped_ptr(address: *mut c_void, device: c_int) -> *mut c_void {
    if is_host(device) { address } else { std::ptr::null_mut() }
}

/// Associates memory of a device with memory of the host: fails without devices.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_associate_ptr(
    _host: *const c_void,
    _there: *const c_void,
    _size: usize,
    _offset: usize,
    _device: c_int,
) -> c_int {
    EINVAL
}

/// Its counterpart.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_disassociate_ptr(_host: *const c_void, _device: c_int) -> c_int {
    EINVAL
}

/// gcc's programs announce their code for devices when they begin. The code is never used.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_offload_register_ver(
    _version: u32,
    _host: *const c_void,
    _kind: c_int,
    _code: *const c_void,
) {
}

/// Its counterpart.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_offload_unregister_ver(
    _version: u32,
    _host: *const c_void,
    _kind: c_int,
    _code: *const c_void,
) {
}

/// gcc 5 announces its code for devices.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_offload_register(_host: *const c_void, _kind: c_int, _code: *const c_void) {}

/// Its counterpart.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_offload_unregister(
    _host: *const c_void,
    _kind: c_int,
    _code: *const c_void,
) {
}

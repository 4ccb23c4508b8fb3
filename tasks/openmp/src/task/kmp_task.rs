//! clang's part of a task, `kmp_task_t`: the program's code, and the variables behind.

use std::ffi::c_void;
use std::ptr;

use crate::ompt;

/// `kmp_routine_entry_t`.
pub(crate) type Routine = unsafe extern "C" fn(i32, *mut KmpTask) -> i32;

/// `kmp_task_t`, with the task's own variables behind it.
#[repr(C)]
pub struct KmpTask {
    shareds: *mut c_void,
    routine: Option<Routine>,
    part: i32,
    /// Destroys the task's variables, where the task was created with the flag that says so.
    destroy: Option<Routine>,
    priority: *mut c_void,
}

impl KmpTask {
    /// Writes a task of `bytes` bytes, and behind them those that it shares.
    ///
    /// # Safety
    /// At `place` is room for both.
    pub(super) unsafe fn write(
        place: *mut Self,
        bytes: usize,
        shared_bytes: usize,
        routine: Option<Routine>,
    ) {
        // SAFETY: at `place` is room for both.
        unsafe {
            let shareds = place.byte_add(bytes).cast::<c_void>();
            place.write(Self {
                shareds: if shared_bytes > 0 { shareds } else { ptr::null_mut() },
                routine,
                part: 0,
                destroy: None,
                priority: ptr::null_mut(),
            });
        }
    }

    /// Makes a copy of `bytes` bytes point into itself where the original does.
    ///
    /// # Safety
    /// Both tasks have `bytes` bytes, the header's fields first.
    pub(super) unsafe fn follow(copy: *mut Self, original: *const Self, bytes: usize) {
        // SAFETY: both have the header's fields.
        unsafe {
            let shareds = (*original).shareds.addr().wrapping_sub(original.addr());
            if shareds < bytes {
                (*copy).shareds = copy.byte_add(shareds).cast();
            }
        }
    }

    /// Runs the code of a task, on the thread of this global number.
    ///
    /// # Safety
    /// The program has filled the task.
    pub(super) unsafe fn call<const WITH_OMPT: bool>(this: *mut Self, thread: i32) {
        // SAFETY: the program has filled the task, whose code takes these arguments.
        unsafe {
            if WITH_OMPT {
                let code = (*this).routine.map_or(ptr::null(), |routine| routine as *const ());
                ompt::call(code, ptr::without_provenance_mut(thread as usize), this.cast());
            } else if let Some(routine) = (*this).routine {
                routine(thread, this);
            }
        }
    }

    /// The address of the function that the task runs.
    ///
    /// # Safety
    /// The program has made the task.
    pub(super) unsafe fn function(this: *mut Self) -> usize {
        // SAFETY: the program has made the task, so its fields are written.
        address(unsafe { (*this).routine })
    }

    /// The priority that the program has written, or 0.
    ///
    /// # Safety
    /// The program has made the task.
    pub(super) unsafe fn priority(this: *const Self) -> i64 {
        // SAFETY: the program has made the task; the field is a `kmp_int32` where it is a priority.
        unsafe { (&raw const (*this).priority).cast::<i32>().read().into() }
    }

    /// Destroys the task's variables.
    ///
    /// # Safety
    /// The program has filled the task, and created it with the flag that says so.
    pub(super) unsafe fn destroy(this: *mut Self, thread: i32) {
        // SAFETY: the program has filled the task.
        unsafe {
            if let Some(destroy) = (*this).destroy {
                destroy(thread, this);
            }
        }
    }
}

/// The address of a task's code; 0 where it has none.
pub(super) fn address(routine: Option<Routine>) -> usize {
    routine.map_or(0, |routine| routine as *const () as usize)
}

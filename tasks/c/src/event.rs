//! The event counter of a task: it is not finished before its events have happened.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_runtime::Event;

use crate::error::{Error, Result, code, keep};
use crate::task::{CTask, Here};

/// One event.
const ONE: u64 = 2;
/// The task's code has not ended: the counter is alive.
const RUNS: u64 = 1;
/// `EKRT_EVENTS_MAX`: more of them at once are a mistake.
const EVENTS_MAX: u64 = u32::MAX as u64;

/// The events of one task that have not happened: `struct ekrt_events`.
pub struct Events {
    /// Their number times [`ONE`], and [`RUNS`].
    left: AtomicU64,
    /// What the runtime waits for. It happens when this is dropped.
    _event: Event,
}

impl Events {
    /// That of a task that was submitted; null where it has none.
    pub(crate) fn of_task(task: &CTask) -> &Cell<*mut Self> {
        // SAFETY: from when the task is submitted, the address that is attached is null or that of
        // its events.
        unsafe { &*ptr::from_ref(task.attached()).cast() }
    }

    /// The counter of the running task.
    fn of(here: &Here) -> *mut Self {
        let place = Self::of_task(here.task());
        if place.get().is_null() {
            // SAFETY: its code calls this; `run` asks whether it is held.
            let event = unsafe { here.worker().event(here.task().raw()) };
            let events = Self { left: AtomicU64::new(RUNS), _event: event };
            place.set(Box::into_raw(Box::new(events)));
        }
        place.get()
    }

    /// The task's code has ended.
    ///
    /// # Safety
    /// It is the task's, or null, and not used by it after this call.
    pub(crate) unsafe fn code_ended(this: *mut Self) {
        if !this.is_null() {
            // SAFETY: alive until then.
            let before = unsafe { (*this).left.fetch_sub(RUNS, Ordering::AcqRel) };
            // SAFETY: as above.
            unsafe { Self::free_if(this, before - RUNS) };
        }
    }

    /// # Safety
    /// The caller has brought it to this.
    unsafe fn free_if(this: *mut Self, left: u64) {
        if left == 0 {
            // SAFETY: it came from a box, and nobody else has reached 0.
            drop(unsafe { Box::from_raw(this) });
        }
    }

    fn increase(&self, number: u32) -> Result<()> {
        let more = |left: u64| {
            let events = left / ONE + u64::from(number);
            (events <= EVENTS_MAX).then_some(left + u64::from(number) * ONE)
        };
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::Range("`number`", u64::from(number), "fewer events at once")),
        }
    }
}

/// So many more events of the running task; returns their counter.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_event_increase(number: u32) -> *mut Events {
    let increased = || {
        let here = Here::get()?;
        let events = Events::of(&here);
        // SAFETY: it is alive while the task's code runs.
        unsafe { (*events).increase(number) }.map(|()| events)
    };
    increased().unwrap_or_else(|error| {
        keep(&error);
        ptr::null_mut()
    })
}

/// So many events have happened. From any thread.
///
/// # Safety
/// It was returned by `ekrt_event_increase`, and as many have not happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_event_decrease(events: *mut Events, number: u32) -> c_int {
    if events.is_null() {
        return code(Err(Error::Null("`events`")));
    }
    let fewer = |left: u64| left.checked_sub(u64::from(number) * ONE);
    // Pairs with itself: what was done before any event is seen by who finishes the task.
    // SAFETY: the caller's promise: it is alive until all have happened.
    match unsafe { (*events).left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fewer) } {
        Ok(before) => {
            // SAFETY: as above.
            unsafe { Events::free_if(events, before - u64::from(number) * ONE) };
            code(Ok(()))
        }
        Err(_) => {
            code(Err(Error::Range("`number`", u64::from(number), "no more than have not happened")))
        }
    }
}

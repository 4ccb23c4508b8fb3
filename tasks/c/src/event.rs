//! The event counter of a task, which is not finished before its events have happened.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_runtime::Event;

use crate::error::{Error, Result, code, keep};
use crate::task::{CTask, Here};

/// One event.
const ONE: u64 = 2;
/// Set while the task's code has not ended, which keeps the counter alive.
const RUNS: u64 = 1;
/// The most events that a task may have at one time.
const EVENTS_MAX: u64 = u32::MAX as u64;

/// The events of one task that have not happened: `struct ekrt_events`.
pub struct Events {
    /// Their number times [`ONE`], and [`RUNS`].
    left: AtomicU64,
    /// The runtime's event, which dropping the counter fulfils.
    _event: Event,
}

impl Events {
    /// The counter of a submitted task; null if the task has no events.
    pub(crate) fn of_task(task: &CTask) -> &Cell<*mut Self> {
        // SAFETY: once the task is submitted, `attached` is null or points to its counter.
        unsafe { &*ptr::from_ref(task.attached()).cast() }
    }

    /// The counter of the running task.
    fn of(here: &Here) -> *mut Self {
        let place = Self::of_task(here.task());
        if place.get().is_null() {
            // SAFETY: the task's own code runs here, and `run` ends the task only if `is_held` says
            // that no event is left.
            let event = unsafe { here.worker().event(here.task().raw()) };
            let events = Self { left: AtomicU64::new(RUNS), _event: event };
            place.set(Box::into_raw(Box::new(events)));
        }
        place.get()
    }

    /// Notes that the task's code has ended, and frees the counter if all events have happened.
    ///
    /// # Safety
    /// `this` is null or the task's counter, which the task does not use after this call.
    pub(crate) unsafe fn code_ended(this: *mut Self) {
        if !this.is_null() {
            // SAFETY: the counter is alive as long as `RUNS` is set.
            let before = unsafe { (*this).left.fetch_sub(RUNS, Ordering::AcqRel) };
            // SAFETY: this call subtracted `RUNS` and got the value that remains.
            unsafe { Self::free_if(this, before - RUNS) };
        }
    }

    /// Frees the counter if `left` is 0.
    ///
    /// # Safety
    /// The caller's own subtraction changed the counter to `left`, and the caller uses it no more.
    unsafe fn free_if(this: *mut Self, left: u64) {
        if left == 0 {
            // SAFETY: `of` made the counter from a box, and only one subtraction reaches 0.
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

/// Adds events to the running task; returns their counter.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_event_increase(number: u32) -> *mut Events {
    let increased = || {
        let here = Here::get()?;
        let events = Events::of(&here);
        // SAFETY: the counter is alive while the task's code runs.
        unsafe { (*events).increase(number) }.map(|()| events)
    };
    increased().unwrap_or_else(|error| {
        keep(&error);
        ptr::null_mut()
    })
}

/// Notes that `number` events have happened. Any thread may call this.
///
/// # Safety
/// `events` is null, or came from `ekrt_event_increase` and is not yet freed: the task's code runs,
/// or an event of the task has not happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_event_decrease(events: *mut Events, number: u32) -> c_int {
    if events.is_null() {
        return code(Err(Error::Null("`events`")));
    }
    let fewer = |left: u64| left.checked_sub(u64::from(number) * ONE);
    // Pairs with itself: the thread that finishes the task sees all writes made before any event.
    // SAFETY: the counter is alive until all events have happened and the task's code has ended.
    match unsafe { (*events).left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fewer) } {
        Ok(before) => {
            // SAFETY: this call subtracted `number` events and got the value that remains.
            unsafe { Events::free_if(events, before - u64::from(number) * ONE) };
            code(Ok(()))
        }
        Err(_) => {
            code(Err(Error::Range("`number`", u64::from(number), "no more than have not happened")))
        }
    }
}

//! Events: a task with one ends when its code has ended and somebody has fulfilled the event.
//!
//! One that is cancelled before its code begins ends at once: mostly its code would have seen to it
//! that somebody fulfils the event. Who does so all the same finds the event, and no task.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use evenkeel_runtime::internal::Team;

use super::OmpTask;
use crate::ompt;
use crate::region::Member;
use crate::thread::member;

/// The task's code has ended.
const ENDED: u32 = 1;
/// The event was fulfilled.
const FULFILLED: u32 = 2;
/// Somebody begins to fulfil it, and so may look at the task until it is fulfilled.
const MET: u32 = 4;
/// The task has ended without it.
const DISCARDED: u32 = 8;

/// The event of a task.
pub struct Event {
    state: AtomicU32,
    /// Who waits for the task's code; null if nobody does.
    told: Cell<*const AtomicBool>,
    task: *const OmpTask,
    /// Where the task was created.
    tree: *const Team,
}

impl Event {
    /// Gives a task an event, before it is added.
    pub(crate) fn of(task: &OmpTask, member: &Member) -> *mut Self {
        if task.event.get().is_null() {
            let (state, told) = (AtomicU32::new(0), Cell::new(ptr::null()));
            let event = Self { state, told, task, tree: member.tree };
            task.event.set(Box::into_raw(Box::new(event)));
        }
        task.event.get()
    }

    /// Whether it was fulfilled.
    pub(crate) fn is_fulfilled(&self) -> bool {
        self.state.load(Ordering::Relaxed) & FULFILLED != 0
    }

    /// Says who waits for the task's code; called before it is added.
    pub(crate) fn tells(&self, told: &AtomicBool) {
        self.told.set(told);
    }

    /// The task's code has ended. Returns whether the task has; if not, whoever fulfils the event
    /// ends it.
    ///
    /// # Safety
    /// The event is the task's, and is not used after this call.
    pub(crate) unsafe fn code_ended(this: *mut Self) -> bool {
        // SAFETY: the event goes when both have happened; who waits is there until it was told.
        unsafe {
            let told = (*this).told.get();
            let has_ended = (*this).state.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED > 0;
            if has_ended {
                drop(Box::from_raw(this));
            }
            if let Some(told) = told.as_ref() {
                told.store(true, Ordering::Release);
            }
            has_ended
        }
    }

    /// The task was cancelled, and its code will not run. As of [`Event::code_ended`], but that
    /// nobody has to fulfil the event.
    ///
    /// # Safety
    /// As of that.
    #[cold]
    pub(crate) unsafe fn discarded(this: *mut Self) -> bool {
        // SAFETY: the caller's promise; the event goes with who fulfils it, if anybody does.
        unsafe {
            let told = (*this).told.get();
            let before = (*this).state.fetch_or(ENDED | DISCARDED, Ordering::AcqRel);
            if before & FULFILLED != 0 {
                drop(Box::from_raw(this));
            }
            if let Some(told) = told.as_ref() {
                told.store(true, Ordering::Release);
            }
            before & (MET | FULFILLED) != MET
        }
    }
}

/// Fulfils an event, from any thread.
///
/// # Safety
/// `event` was given by a `detach` clause, and was not fulfilled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_fulfill_event(event: *mut Event) {
    // SAFETY: the caller's promise: task and event are alive until both have happened, and of a
    // task that was cancelled the event alone.
    unsafe {
        let before = (*event).state.fetch_or(MET, Ordering::AcqRel);
        if before & DISCARDED != 0 {
            return drop(Box::from_raw(event));
        }
        if ompt::is_on() {
            ompt::fulfils((*event).task, before & ENDED != 0);
        }
        if (*event).state.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED == 0 {
            return;
        }
        let event = Box::from_raw(event);
        (*event.task).event.set(ptr::null_mut());
        let member = member();
        if ptr::eq(member.tree, event.tree) {
            member.worker().end_task_amid(event.task.cast());
        } else {
            // Only a thread of its team can end it.
            (*event.tree).end_from_outside(event.task.cast_mut().cast());
        }
    }
}

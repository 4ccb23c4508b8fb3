//! A program fulfils the event of a task.

use std::ptr;
use std::sync::atomic::Ordering;

use super::event::{DISCARDED, ENDED, Event, FULFILLED, MET};
use super::header::OmpTask;
use crate::ompt;
use crate::registration::{current_thread, member};

/// Fulfils an event, from any thread.
///
/// # Safety
/// `event` was given by a `detach` clause, and was not fulfilled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_fulfill_event(event: *mut Event) {
    // SAFETY: `event` was given by a `detach` clause, and was not fulfilled: task and event are
    // alive until both have happened, and of a task that was cancelled the event alone.
    unsafe {
        let before = (*event).state.fetch_or(MET, Ordering::AcqRel);
        if before & DISCARDED != 0 {
            return drop(Box::from_raw(event));
        }
        if ompt::is_on() {
            current_thread();
            ompt::fulfils((*event).task, before & ENDED != 0);
        }
        if (*event).state.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED == 0 {
            return;
        }
        let event = Box::from_raw(event);
        (*event.task.cast::<OmpTask>()).event.set(ptr::null_mut());
        let member = member();
        if ptr::eq(member.tree, event.tree) {
            member.worker().end_task_amid(event.task.cast());
        } else {
            // Only a thread of its team can end it.
            (*event.tree).end_from_outside(event.task.cast_mut().cast());
        }
    }
}

//! A slice that has begun and not ended, on its own stack.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr;

use super::strip::{SLOT_LOOKS, SLOT_OTHERS, SLOT_SLEEPS};
use super::tally::Tally;
use super::tape::{ACTIVITY_LOOKS, ACTIVITY_SLEEPS, ACTIVITY_WAITS};
use crate::class::Why;

/// The kind of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A task's code.
    Task,
    /// Code around tasks.
    Code,
    /// A task waits for its children on its own stack.
    Waits,
    /// A worker searches for a task.
    Looks,
    /// A worker sleeps.
    Sleeps,
}

/// A slice that has begun, on the stack of its code.
pub(crate) struct Open {
    pub(super) outer: Cell<*const Open>,
    pub(super) what: What,
    /// The kind: the address of the code.
    pub(super) key: usize,
    /// The task's address; 0 where the slice is no task's.
    pub(super) task: usize,
    pub(super) is_inlined: Cell<bool>,
    /// Of a wide task, why the task is wide, and whether its CPU is in the set.
    pub(super) wide: Cell<Option<(Why, bool)>>,
    pub(super) begun: Cell<u64>,
    pub(super) is_written: Cell<bool>,
    /// Ticks of its own.
    pub(super) own: Cell<u64>,
    /// The function's counters; null where the slice is no function's.
    pub(super) tally: Cell<*const Tally>,
}

impl Open {
    pub(super) fn new(what: What, key: usize, task: usize, is_inlined: bool) -> Self {
        Self {
            outer: Cell::new(ptr::null()),
            what,
            key,
            task,
            is_inlined: Cell::new(is_inlined),
            wide: Cell::new(None),
            begun: Cell::new(0),
            is_written: Cell::new(false),
            own: Cell::new(0),
            tally: Cell::new(ptr::null()),
        }
    }

    fn tally(&self) -> Option<&Tally> {
        // SAFETY: a tally stays as long as its lane.
        unsafe { self.tally.get().as_ref() }
    }

    pub(super) fn slot(&self) -> usize {
        match self.what {
            What::Waits | What::Looks => SLOT_LOOKS,
            What::Sleeps => SLOT_SLEEPS,
            What::Task | What::Code => self.tally().map_or(SLOT_OTHERS, |tally| tally.slot),
        }
    }

    pub(super) fn activity(&self) -> u32 {
        match self.what {
            What::Waits => ACTIVITY_WAITS,
            What::Looks => ACTIVITY_LOOKS,
            What::Sleeps => ACTIVITY_SLEEPS,
            What::Task | What::Code => self.tally().map_or(0, |tally| tally.function),
        }
    }
}

/// Room for a slice. A runtime without instrumentation writes nothing to this place.
pub(crate) struct OpenSlice(UnsafeCell<MaybeUninit<Open>>);

impl OpenSlice {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Writes the slice that begins here.
    ///
    /// # Safety
    /// The frame is begun once, by the thread that owns the stack.
    pub(super) unsafe fn begin(&self, open: Open) -> &Open {
        // SAFETY: no earlier call wrote the slice, and from here on the slice is only read.
        unsafe { (*self.0.get()).write(open) }
    }
}

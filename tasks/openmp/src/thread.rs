//! The state of a thread, below regions and pools: its number, its place, and the clauses of its
//! next region.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};

use evenkeel_runtime::internal::lock_std;

use crate::environment::Bind;
use crate::here::here;
use crate::place::{self, NOWHERE};
use crate::processors;

/// A thread that has called the library. It is the first field of what `registered` allocates.
pub(crate) struct Thread {
    /// libomp's global thread number: small, and unique among the threads that live.
    pub number: i32,
    /// The `num_threads` clause of the next region; 0 without one.
    pub num_threads: Cell<u32>,
    /// The `proc_bind` clause of the next region.
    pub proc_bind: Cell<Option<Bind>>,
    /// The place that the thread is bound to; [`NOWHERE`] before it is bound.
    pub place: Cell<u32>,
    /// Levels at which `OMP_DISPLAY_AFFINITY` has shown this thread in a region of one thread: bit
    /// `level % 64`.
    shown_alone: Cell<u64>,
    /// Regions of several threads that the thread has begun and that have not ended.
    pub begun: Cell<usize>,
}

/// The numbers of threads: those that ended threads have given back, all below `next`.
pub(crate) struct Numbers {
    free: Vec<i32>,
    next: i32,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { free: Vec::new(), next: 0 });

/// Locks the numbers of threads.
pub(crate) fn numbers() -> MutexGuard<'static, Numbers> {
    lock_std(&NUMBERS)
}

impl Numbers {
    fn pop(&mut self) -> i32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Gives back the number of a thread that has ended.
    pub(crate) fn push(&mut self, number: i32) {
        self.free.push(number);
    }

    /// The number of threads that have called the library at one time.
    pub(crate) fn most(&self) -> i32 {
        self.next
    }
}

impl Thread {
    /// A thread that calls for the first time, with the next free number.
    pub(crate) fn new() -> Self {
        Self {
            number: numbers().pop(),
            num_threads: Cell::new(0),
            proc_bind: Cell::new(None),
            place: Cell::new(NOWHERE),
            shown_alone: Cell::new(0),
            begun: Cell::new(0),
        }
    }

    /// The calling thread; `None` before its first call.
    #[inline(always)]
    pub(crate) fn known() -> Option<&'static Self> {
        // SAFETY: the pointer is null or leads to this thread's record, whose first field is a
        // `Thread`; the record lives until the thread ends, and no caller keeps the reference.
        unsafe { here().thread.get().cast::<Self>().as_ref() }
    }

    /// The calling thread, which is in a region or runs a task and so has called before.
    ///
    /// # Panics
    /// In a thread that has not called the library.
    #[inline]
    pub(crate) fn in_region() -> &'static Self {
        Self::known().expect("a thread in a region has called before")
    }

    /// Whether `OMP_DISPLAY_AFFINITY` has yet to show this thread in a region of this level and one
    /// thread; counts as shown from now on.
    pub(crate) fn shows_alone(&self, level: i32) -> bool {
        let before = self.shown_alone.get();
        self.shown_alone.set(before | 1 << (level % 64));
        self.shown_alone.get() != before
    }

    /// Binds the calling thread to a place, unless it is bound to that already.
    pub(crate) fn go(&self, place: u32) {
        if self.place.replace(place) != place {
            processors::allow(place::cpus(place));
        }
    }
}

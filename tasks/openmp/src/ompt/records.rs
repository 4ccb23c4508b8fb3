//! The records that are kept for a tool: of threads, of regions and of tasks.
//!
//! The record of an explicit task lies at the end of its block; that of an implicit one is made
//! with its part in the region. Records of one thread point to those below.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::abi::{Data, Frame, Work};
use super::caller::Caller;

/// A thread that a tool knows.
pub(crate) struct ThreadRecord {
    pub data: Data,
    /// The task that runs; null outside of all.
    pub current: Cell<*const TaskRecord>,
    /// The state of a waiting thread; `None` while the thread works.
    pub state: Cell<Option<i32>>,
    /// The identifier of the lock or region that the thread waits for.
    pub wait_id: Cell<u64>,
    /// Whether the thread belongs to a pool.
    pub is_worker: bool,
    /// Threads that the program asks for in the next region; 0 without a clause.
    pub asked: Cell<u32>,
}

/// A region that a tool knows.
pub(crate) struct RegionRecord {
    pub(crate) data: Data,
    pub(crate) size: u32,
    pub(crate) flags: i32,
    /// The program's code that began the region.
    pub(crate) code: *const c_void,
    /// The task that did; null for an initial region.
    pub(crate) beginner: *const TaskRecord,
}

// SAFETY: a tool orders its own accesses to `data`; the other fields never change.
unsafe impl Send for RegionRecord {}
// SAFETY: the tool orders its accesses to its data; the other fields never change.
unsafe impl Sync for RegionRecord {}

impl RegionRecord {
    /// The region around this one.
    pub(crate) fn outer(&self) -> *const Self {
        // SAFETY: the task that began a region lives until the region ends.
        unsafe { self.beginner.as_ref() }.map_or(ptr::null(), |task| task.region.get())
    }
}

/// A task that a tool knows.
pub(crate) struct TaskRecord {
    pub data: Data,
    pub frame: Frame,
    /// `ompt_task_flag_t`.
    pub flags: Cell<u32>,
    /// The number of the thread that runs the task.
    pub number: Cell<u32>,
    pub region: Cell<*const RegionRecord>,
    /// The task below on the stack, or the one that began the region.
    pub below: Cell<*const Self>,
    /// Its block, and how long that is; null and 0 for those without.
    pub block: Cell<(*mut c_void, usize)>,
    /// The state of the thread when it began to run the task.
    pub waited: Cell<Option<i32>>,
    /// The loop that the task is in.
    pub work: Cell<Option<Work>>,
}

impl TaskRecord {
    pub(crate) fn new(flags: u32, region: *const RegionRecord, below: *const Self) -> Self {
        Self {
            data: Data::default(),
            frame: Frame::none(),
            flags: Cell::new(flags),
            number: Cell::new(0),
            region: Cell::new(region),
            below: Cell::new(below),
            block: Cell::new((ptr::null_mut(), 0)),
            waited: Cell::new(None),
            work: Cell::new(None),
        }
    }

    /// The tool's data of the region; null outside of regions.
    pub(crate) fn region_data(&self) -> *mut Data {
        // SAFETY: a region outlives its tasks.
        unsafe { self.region.get().as_ref() }.map_or(ptr::null_mut(), |region| region.data.get())
    }

    /// The program has called the runtime here.
    pub(crate) fn enters(&self, caller: Caller) {
        self.frame.enter.set(caller.frame);
    }

    /// The program's code goes on.
    pub(crate) fn returns(&self) {
        self.frame.enter.set(ptr::null_mut());
    }
}

/// The record of an implicit task, which keeps that of the region.
#[repr(C)]
pub(crate) struct ImplicitRecord {
    pub task: TaskRecord,
    /// The address of the thread's member, which is only compared.
    pub member: *const (),
    /// The task that the thread ran before.
    pub before: *const TaskRecord,
    pub region: Arc<RegionRecord>,
    /// The number of threads or tasks that a tool is told.
    pub size: u32,
    /// Which of them this is, as a tool is told.
    pub index: u32,
}

thread_local! {
    static CURRENT: Cell<*const ThreadRecord> = const { Cell::new(ptr::null()) };
}

impl ThreadRecord {
    /// The record of the calling thread; `None` before the thread's first call.
    pub(crate) fn known() -> Option<&'static Self> {
        // SAFETY: the record lives until its thread ends.
        unsafe { CURRENT.get().as_ref() }
    }

    /// That of a thread that begins.
    pub(crate) fn begin(is_worker: bool) -> &'static Self {
        let record = Box::leak(Box::new(Self {
            data: Data::default(),
            current: Cell::new(ptr::null()),
            state: Cell::new(None),
            wait_id: Cell::new(0),
            is_worker,
            asked: Cell::new(0),
        }));
        CURRENT.set(record);
        record
    }

    /// The thread ends.
    pub(crate) fn end() {
        let record = CURRENT.replace(ptr::null());
        if !record.is_null() {
            // SAFETY: `begin` made the box, and only this thread has the pointer.
            drop(unsafe { Box::from_raw(record.cast_mut()) });
        }
    }

    /// The task that runs.
    pub(crate) fn task(&self) -> Option<&TaskRecord> {
        // SAFETY: `current` leaves a record before the record is freed.
        unsafe { self.current.get().as_ref() }
    }

    /// The task that runs on the calling thread, and the thread.
    pub(crate) fn running() -> Option<(&'static Self, &'static TaskRecord)> {
        let thread = Self::known()?;
        thread.task().map(|task| (thread, task))
    }

    /// Sets the state in which the thread waits. Returns the state before.
    pub(crate) fn waits(&self, state: Option<i32>, wait_id: u64) -> Option<i32> {
        self.wait_id.set(wait_id);
        self.state.replace(state)
    }
}

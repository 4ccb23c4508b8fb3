//! A task: its header, and its arguments right behind it, in one block (N fig. 1.2).

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::access::{Access, Accesses, Table};
use crate::children::Children;
use crate::ready::{Queued, Run};
use crate::wait::Waiting;
use crate::worker::Worker;

/// The header of a task.
///
/// A block begins with it, is aligned to a cache line, and goes on with what the task runs and with
/// its accesses.
#[repr(C)]
pub struct Task {
    /// What queues know of it. While it waits, its link says where: see [`Task::waits`].
    pub(crate) queued: Queued,
    /// Its own children.
    pub(crate) children: Children,
    /// What it reads and writes, in its block; null if it was not said.
    pub(crate) accesses: Cell<*mut Accesses>,
    /// What its children read and write. Used by its worker alone; null at first.
    pub(crate) table: Cell<*mut Table>,
    /// Bytes of the block; 0 for the root of a scope, which nobody frees.
    pub(crate) bytes: u32,
    /// Tasks between it and the first, as far as can be counted; and [`WIDE`].
    pub(crate) depth: u16,
    /// Whether it is finished when its code has ended, though its children are not.
    pub(crate) is_shallow: bool,
    /// The higher, the sooner, where the scheduler knows priorities.
    pub(crate) priority: i8,
}

const _: () = assert!(size_of::<Task>() == 64, "a header is a cache line");

/// Set in a task's depth if it is wide: see [`crate::class`].
const WIDE: u16 = 1 << 15;

impl Task {
    /// The header of a child of `parent`.
    ///
    /// # Safety
    /// The parent is alive.
    #[inline(always)]
    pub unsafe fn child(parent: *const Self, bytes: usize, run: Run) -> Self {
        // SAFETY: the caller's promise.
        let depth = unsafe { (*parent).depth_of_child() };
        let bytes = u32::try_from(bytes).expect("a task's arguments are below 4 GiB");
        Self::new(Queued::new(run, parent), bytes, depth)
    }

    /// The child of a task that ends with its own code, though its children have not.
    ///
    /// # Safety
    /// As of [`Task::child`].
    #[inline(always)]
    pub unsafe fn shallow_child(parent: *const Self, bytes: usize, run: Run) -> Self {
        // SAFETY: the caller's promise.
        Self { is_shallow: true, ..unsafe { Self::child(parent, bytes, run) } }
    }

    /// The task around others that nobody queues or frees: it lies where whoever waits for them
    /// has it.
    ///
    /// # Safety
    /// The task around it, if there is one, lives longer.
    #[must_use]
    pub unsafe fn around(around: *const Self) -> Self {
        Self::root(around)
    }

    /// One more child of it is created, by the worker that runs its code.
    #[inline]
    pub fn creates(&self) {
        self.children.create();
    }

    /// Bytes of its block, header and all; 0 if it has none.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// The higher, the sooner it runs, where the scheduler knows priorities; 0 if it is not said.
    pub fn set_priority(&mut self, priority: i8) {
        self.priority = priority;
    }

    /// Whether it is known to use 512-bit registers; where it runs is then chosen.
    pub fn set_wide(&mut self, is_wide: bool) {
        self.depth = self.depth() | if is_wide { WIDE } else { 0 };
    }

    /// See [`Task::set_wide`].
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.depth & WIDE != 0
    }

    fn depth(&self) -> u16 {
        self.depth & !WIDE
    }

    fn depth_of_child(&self) -> u16 {
        (self.depth() + 1).min(WIDE - 1)
    }

    /// Whether a child may access data in this way: the task does so itself, or has not said that
    /// it accesses it.
    #[must_use]
    pub fn covers(&self, access: &Access) -> bool {
        self.domain().is_none_or(|domain| domain.covers(access))
    }

    /// The task that created it.
    #[must_use]
    pub fn parent(&self) -> *const Self {
        self.queued.parent
    }

    /// The task around a scope, which runs on its caller's stack.
    pub(crate) fn root(around: *const Self) -> Self {
        // SAFETY: the task that runs on this thread, if any, is alive.
        let depth = unsafe { around.as_ref() }.map_or(0, Self::depth_of_child);
        Self::new(Queued::new(never, around), 0, depth)
    }

    /// What stands between the tasks of a thread's worker and those of another runtime, whose
    /// worker the same thread becomes inside of them.
    pub(crate) fn border(around: *const Self, inside: *const Worker) -> Self {
        let border = Self { is_shallow: true, ..Self::root(around) };
        border.queued.next.set(inside.cast_mut().cast());
        border
    }

    /// Of a border: that worker.
    pub(crate) fn inside(&self) -> *const Worker {
        self.queued.next.get().cast()
    }

    /// Whether it is one.
    pub(crate) fn is_border(&self) -> bool {
        self.is_root() && self.is_shallow
    }

    #[inline(always)]
    fn new(queued: Queued, bytes: u32, depth: u16) -> Self {
        Self {
            queued,
            children: Children::none(),
            accesses: Cell::new(ptr::null_mut()),
            table: Cell::new(ptr::null_mut()),
            bytes,
            depth,
            is_shallow: false,
            priority: 0,
        }
    }

    /// Whether it is the task around a scope.
    pub(crate) fn is_root(&self) -> bool {
        self.bytes == 0
    }

    /// Whether a child of `parent` is among the descendants of another task.
    ///
    /// # Safety
    /// All of them are alive, and those above them.
    pub(crate) unsafe fn is_below(parent: *const Self, above: &Self) -> bool {
        let mut at = parent;
        // SAFETY: the caller's promise.
        while let Some(here) = unsafe { at.as_ref() } {
            if ptr::eq(here, above) {
                return true;
            }
            if here.depth() < above.depth() {
                return false;
            }
            at = here.queued.parent;
        }
        false
    }

    /// The root of the scope that it was created in.
    ///
    /// # Safety
    /// It and those above it are alive.
    pub(crate) unsafe fn root_of(task: *const Self) -> *const Self {
        let mut at = task;
        // SAFETY: the caller's promise; a task with a block has a parent.
        unsafe {
            while !(*at).is_root() {
                at = (*at).queued.parent;
            }
        }
        at
    }

    /// Among whose children it takes turns: where tasks end before their children, among those of
    /// the task whose code created it; null where among all.
    ///
    /// # Safety
    /// It and those above it are alive.
    pub(crate) unsafe fn takes_turns_among(&self) -> *const Self {
        if !self.is_shallow {
            return ptr::null();
        }
        let mut at = self.queued.parent;
        // SAFETY: the caller's promise. What has no block counts children for the task around it.
        unsafe {
            while (*at).is_root() && !(*at).queued.parent.is_null() {
                at = (*at).queued.parent;
            }
        }
        at
    }

    /// Its accesses, if the chains of its children lie inside them: those of a shallow task end
    /// with its code.
    pub(crate) fn domain(&self) -> Option<&Accesses> {
        // SAFETY: they are in its block, or hold it.
        unsafe { self.accesses.get().as_ref() }.filter(|_| !self.is_shallow)
    }

    /// Says who is to be resumed when enough children are finished.
    pub(crate) fn waits(&self, waiting: &Waiting) {
        self.queued.next.set(ptr::from_ref(waiting).cast_mut().cast());
    }

    /// Who was said.
    pub(crate) fn waiting(&self) -> *const Waiting {
        self.queued.next.get().cast()
    }

    pub(crate) fn block(&self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}

unsafe fn never(_: *mut Queued, _: &Worker) {
    unreachable!("the task around a scope is not queued");
}

//! A task: its header, and its arguments right behind it, in one block (N fig. 1.2).

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::access::{Access, Accesses, Among, Table};
use crate::children::Children;
use crate::queued::{Queued, Run, Runner};

/// The header of a task.
///
/// A block begins with it, is aligned to a cache line, and goes on with what the task runs and with
/// its accesses.
#[repr(C)]
pub struct Task {
    /// The head, which queues see. In it lie
    ///
    /// - the bytes of the block; 0 for the root of a scope, which no worker frees;
    /// - the depth: tasks between this one and the first, as far as the bits reach, and [`WIDE`];
    /// - whether the task is shallow: finished when its code has ended, though its children are
    ///   not.
    ///
    /// While the task waits, its link is the address of what waits: see [`Task::set_link`].
    pub(crate) queued: Queued,
    /// Its own children.
    pub(crate) children: Children,
    /// What it reads and writes, in its block; null if it was not said.
    pub(crate) accesses: Cell<*mut Accesses>,
    /// What its children read and write. Used by its worker alone; null at first.
    pub(crate) table: Cell<*mut Table>,
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
        Self::new(Queued::of_task(run, parent.cast(), bytes, depth))
    }

    /// The child of a task that ends with its own code, though its children have not.
    ///
    /// # Safety
    /// As of [`Task::child`].
    #[inline(always)]
    pub unsafe fn shallow_child(parent: *const Self, bytes: usize, run: Run) -> Self {
        // SAFETY: the caller's promise.
        let mut child = unsafe { Self::child(parent, bytes, run) };
        child.queued.is_shallow = true;
        child
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
        self.queued.bytes as usize
    }

    /// The higher, the sooner it runs, where the scheduler knows priorities; 0 if it is not said.
    pub fn set_priority(&mut self, priority: i8) {
        self.queued.priority = priority;
    }

    /// Whether it is known to use 512-bit registers; where it runs is then chosen.
    pub fn set_wide(&mut self, is_wide: bool) {
        self.queued.depth = self.depth() | if is_wide { WIDE } else { 0 };
    }

    /// See [`Task::set_wide`].
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.queued.depth & WIDE != 0
    }

    /// Whether queued work is a task that the program declared wide.
    pub(crate) fn is_declared_wide(queued: &Queued) -> bool {
        !queued.parent.is_null() && queued.depth & WIDE != 0
    }

    fn depth(&self) -> u16 {
        self.queued.depth & !WIDE
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

    /// The task that created this one.
    #[inline(always)]
    #[must_use]
    pub fn parent(&self) -> *const Self {
        Self::parent_of(&self.queued)
    }

    /// The task that created queued work; null where the work is no task.
    #[inline(always)]
    pub(crate) fn parent_of(queued: &Queued) -> *const Self {
        queued.parent.cast()
    }

    /// Whether the task is finished when its code has ended, though its children are not.
    #[inline(always)]
    pub(crate) fn is_shallow(&self) -> bool {
        self.queued.is_shallow
    }

    /// The task around a scope, which runs on its caller's stack.
    pub(crate) fn root(around: *const Self) -> Self {
        // SAFETY: the task that runs on this thread, if any, is alive.
        let depth = unsafe { around.as_ref() }.map_or(0, Self::depth_of_child);
        Self::new(Queued::of_task(never, around.cast(), 0, depth))
    }

    /// What stands between the tasks of a thread's worker and those of another runtime, whose
    /// worker the same thread becomes inside of them: `inside` is the address of that worker.
    pub(crate) fn border(around: *const Self, inside: *const ()) -> Self {
        let mut border = Self::root(around);
        border.queued.is_shallow = true;
        border.set_link(inside);
        border
    }

    /// The address of the inner worker, of a border.
    pub(crate) fn inside(&self) -> *const () {
        self.link()
    }

    /// Whether it is one.
    pub(crate) fn is_border(&self) -> bool {
        self.is_root() && self.is_shallow()
    }

    #[inline(always)]
    fn new(queued: Queued) -> Self {
        Self {
            queued,
            children: Children::none(),
            accesses: Cell::new(ptr::null_mut()),
            table: Cell::new(ptr::null_mut()),
        }
    }

    /// Whether it is the task around a scope.
    pub(crate) fn is_root(&self) -> bool {
        self.queued.bytes == 0
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
            at = here.parent();
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
                at = (*at).parent();
            }
        }
        at
    }

    /// Among whose children it takes turns: where tasks end before their children, among those of
    /// the task whose code created it; null where among all.
    ///
    /// # Safety
    /// It and those above it are alive.
    pub(crate) unsafe fn takes_turns_among(&self) -> Among {
        if !self.is_shallow() {
            return ptr::null();
        }
        let mut at = self.parent();
        // SAFETY: the caller's promise. What has no block counts children for the task around it.
        unsafe {
            while (*at).is_root() && !(*at).parent().is_null() {
                at = (*at).parent();
            }
        }
        at.cast()
    }

    /// Its accesses, if the chains of its children lie inside them: those of a shallow task end
    /// with its code.
    pub(crate) fn domain(&self) -> Option<&Accesses> {
        // SAFETY: they are in its block, or hold it.
        unsafe { self.accesses.get().as_ref() }.filter(|_| !self.is_shallow())
    }

    /// Keeps the address of what is to be resumed when enough children are finished.
    pub(crate) fn set_link(&self, waiting: *const ()) {
        self.queued.next.set(waiting.cast_mut().cast());
    }

    /// The address that was kept.
    pub(crate) fn link(&self) -> *const () {
        self.queued.next.get().cast_const().cast()
    }

    pub(crate) fn block(&self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}

unsafe fn never(_: *mut Queued, _: Runner<'_>) {
    unreachable!("the task around a scope is not queued");
}

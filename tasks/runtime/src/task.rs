//! A task: header, and behind the header the arguments, in one block (N fig. 1.2).

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::access::{Access, Accesses, Among, Table};
use crate::children::Children;
use crate::queued::{Queued, Run, Runner};

/// The header of a task.
///
/// A block begins with the header, is aligned to a cache line, and goes on with the task's code,
/// arguments and accesses.
#[repr(C)]
pub struct Task {
    /// The head, which queues see. Its fields include
    ///
    /// - the bytes of the block; 0 for the root of a scope, which no worker frees;
    /// - the depth: tasks between this one and the first, as far as the bits reach, and [`WIDE`];
    /// - whether the task is shallow: finished when its code has ended, though its children are
    ///   not.
    ///
    /// While the task waits, its link is the address of its `Waiting`: see [`Task::set_link`].
    pub(crate) queued: Queued,
    /// The count of the task's own children.
    pub(crate) children: Children,
    /// The task's accesses, in its block or in one of their own; null if the task declares none.
    pub(crate) accesses: Cell<*mut Accesses>,
    /// The table of the children's accesses. Used by the task's worker alone; null at first.
    pub(crate) table: Cell<*mut Table>,
}

const _: () = assert!(size_of::<Task>() == 64, "a header is a cache line");

/// Set in the depth of a wide task: see [`crate::class`].
const WIDE: u16 = 1 << 15;

impl Task {
    /// The header of a child of `parent`.
    ///
    /// # Safety
    /// The parent is alive.
    #[inline(always)]
    pub unsafe fn child(parent: *const Self, bytes: usize, run: Run) -> Self {
        // SAFETY: the parent is alive.
        let depth = unsafe { (*parent).depth_of_child() };
        let bytes = u32::try_from(bytes).expect("a task's arguments are below 4 GiB");
        Self::new(Queued::of_task(run, parent.cast(), bytes, depth))
    }

    /// A child that is finished when its code has ended, though its own children are not.
    ///
    /// # Safety
    /// The parent is alive.
    #[inline(always)]
    pub unsafe fn shallow_child(parent: *const Self, bytes: usize, run: Run) -> Self {
        // SAFETY: the parent is alive.
        let mut child = unsafe { Self::child(parent, bytes, run) };
        child.queued.is_shallow = true;
        child
    }

    /// A root: a task around other tasks that is neither queued nor freed. The code that waits for
    /// those tasks keeps the root.
    ///
    /// # Safety
    /// The task around, if any, lives longer.
    #[must_use]
    pub unsafe fn around(around: *const Self) -> Self {
        Self::root(around)
    }

    /// Counts one more child, which the worker that runs this task's code creates.
    #[inline]
    pub fn creates(&self) {
        self.children.create();
    }

    /// Bytes of the block, header included; 0 if the task has none.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.queued.bytes as usize
    }

    /// Sets the priority: the higher, the sooner the task runs, where the scheduler knows
    /// priorities. The default is 0.
    pub fn set_priority(&mut self, priority: i8) {
        self.queued.priority = priority;
    }

    /// Declares whether the task is wide: workers that prefer wide tasks then run it.
    pub fn set_wide(&mut self, is_wide: bool) {
        self.queued.depth = self.depth() | if is_wide { WIDE } else { 0 };
    }

    /// Whether the task was declared wide.
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

    /// Whether a child may access data in this way: the task declares as much, or does not declare
    /// the data at all.
    #[must_use]
    pub fn covers(&self, access: &Access) -> bool {
        self.held_accesses().is_none_or(|held| held.covers(access))
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

    /// The border between the tasks of a thread's worker and those of another runtime whose worker
    /// the same thread becomes inside of them: `inside` is the address of that inner worker.
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

    /// Whether the task is a border.
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

    /// Whether the task is a root.
    pub(crate) fn is_root(&self) -> bool {
        self.queued.bytes == 0
    }

    /// Whether a child of `parent` is among the descendants of another task.
    ///
    /// # Safety
    /// Both tasks are alive, and so are the tasks above.
    pub(crate) unsafe fn is_below(parent: *const Self, above: &Self) -> bool {
        let mut at = parent;
        // SAFETY: the tasks from `parent` up are alive.
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

    /// The root of the scope that the task was created in.
    ///
    /// # Safety
    /// The task and those above are alive.
    pub(crate) unsafe fn root_of(task: *const Self) -> *const Self {
        let mut at = task;
        // SAFETY: the tasks from `task` up are alive; a task with a block has a parent.
        unsafe {
            while !(*at).is_root() {
                at = (*at).parent();
            }
        }
        at
    }

    /// The task among whose children this one takes turns: the creator, where tasks end before
    /// their children; null where all tasks of the runtime take turns.
    ///
    /// # Safety
    /// The task and those above are alive.
    pub(crate) unsafe fn takes_turns_among(&self) -> Among {
        if !self.is_shallow() {
            return ptr::null();
        }
        let mut at = self.parent();
        // SAFETY: the tasks from this one up are alive. A root without a block counts children for
        // the task around.
        unsafe {
            while (*at).is_root() && !(*at).parent().is_null() {
                at = (*at).parent();
            }
        }
        at.cast()
    }

    /// The task's accesses, if the chains of its children lie inside them: accesses of a shallow
    /// task end with its code.
    pub(crate) fn held_accesses(&self) -> Option<&Accesses> {
        // SAFETY: the accesses are in the task's block, or hold the block.
        unsafe { self.accesses.get().as_ref() }.filter(|_| !self.is_shallow())
    }

    /// Keeps the address of the `Waiting` to resume when enough children are finished.
    pub(crate) fn set_link(&self, waiting: *const ()) {
        self.queued.next.set(waiting.cast_mut().cast());
    }

    /// The address that `set_link` kept.
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

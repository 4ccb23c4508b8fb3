//! Taskgroups.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::internal::{Task, Until};

use super::OmpTask;
use super::reduction::{self, Reductions};
use crate::ident::Ident;
use crate::ompt::{self, Wait};
use crate::region::Member;
use crate::thread::member;

/// A group: a task has begun it, and waits at its end for all that was created in it.
pub(crate) struct Group {
    /// Counts the children that its owner creates in it.
    root: Task,
    pub owner: *const OmpTask,
    /// The group that the owner was in before.
    around: *const Group,
    is_cancelled: AtomicBool,
    /// Whether no `taskgroup` made it, but a reduction, so that what is cancelled is one around.
    is_implicit: bool,
    /// What clang's programs reduce in it; null if it is nothing.
    pub reductions: Cell<*mut Reductions>,
    /// What gcc's programs reduce in it and in those around, in their form.
    pub gomp_reductions: Cell<*mut usize>,
}

impl Group {
    /// The running task begins a group.
    pub(crate) fn begin(member: &Member, is_implicit: bool) -> &Self {
        let owner = member.task();
        let group = member.worker().allocate(size_of::<Self>()).cast::<Self>().as_ptr();
        let around = owner.group.get();
        // SAFETY: the block is large enough and ours; what is around lives longer.
        unsafe {
            let outer =
                around.as_ref().map_or(ptr::null_mut(), |outer| outer.gomp_reductions.get());
            group.write(Self {
                root: Task::around(owner.counts()),
                owner,
                around,
                is_cancelled: AtomicBool::new(false),
                is_implicit,
                reductions: Cell::new(ptr::null_mut()),
                gomp_reductions: Cell::new(outer),
            });
            owner.group.set(group);
            if !is_implicit && ompt::is_on() {
                ompt::group_begins();
            }
            &*group
        }
    }

    /// What the implicit tasks of a region are in that has reductions of gcc's. Nothing waits for
    /// it: the region's end does.
    pub(crate) fn of_region(gomp_reductions: *mut usize) -> Self {
        Self {
            // SAFETY: there is none around it.
            root: unsafe { Task::around(ptr::null()) },
            owner: ptr::null(),
            around: ptr::null(),
            is_cancelled: AtomicBool::new(false),
            is_implicit: true,
            reductions: Cell::new(ptr::null_mut()),
            gomp_reductions: Cell::new(gomp_reductions),
        }
    }

    /// It ends the one that it began last, when all tasks in it have ended.
    pub(crate) fn end(member: &Member) {
        let Some(group) = member.group() else { return };
        let wait = || member.worker().wait_tied(&group.root, Until::Descendants);
        if group.is_implicit {
            wait()
        } else {
            ompt::waits(|| Wait::Taskgroup, wait)
        }
        reduction::end(member, group);
        member.task().group.set(group.around);
        // SAFETY: `begin` made it, and no task is in it any more.
        unsafe {
            let block = ptr::NonNull::from(group).cast();
            member.worker().free(block, size_of::<Self>());
        }
    }

    pub(crate) fn root(&self) -> &Task {
        &self.root
    }

    /// The group around it.
    pub(crate) fn outer(&self) -> Option<&Self> {
        // SAFETY: it ends later.
        unsafe { self.around.as_ref() }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Tasks in it that have not begun are not to. Returns whether there is such a group.
    pub(crate) fn cancel(&self) -> bool {
        match self.outer() {
            Some(outer) if self.is_implicit => return outer.cancel(),
            None if self.is_implicit => return false,
            _ => self.is_cancelled.store(true, Ordering::Relaxed),
        }
        true
    }
}

/// gcc: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_start() {
    Group::begin(member(), false);
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_end() {
    Group::end(member());
}

/// clang: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::begin(member(), false);
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::end(member());
}

//! Taskgroups.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::raw::{Task, Until};

use super::OmpTask;
use crate::parallel::Ident;
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
}

impl Group {
    /// The running task begins a group.
    pub(crate) fn begin(member: &Member) {
        let owner = member.task();
        let group = member.worker().allocate(size_of::<Self>()).cast::<Self>().as_ptr();
        let around = owner.group.get();
        // SAFETY: the block is large enough and ours; what is around lives longer.
        unsafe {
            let root = Task::around(owner.counts());
            group.write(Self { root, owner, around, is_cancelled: AtomicBool::new(false) });
        }
        owner.group.set(group);
    }

    /// It ends the one that it began last, when all tasks in it have ended.
    pub(crate) fn end(member: &Member) {
        let Some(group) = member.group() else { return };
        member.worker().wait_tied(&group.root, Until::Descendants);
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

    /// Tasks in it that have not begun are not to.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// gcc: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_start() {
    Group::begin(member());
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_end() {
    Group::end(member());
}

/// clang: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::begin(member());
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::end(member());
}

//! Taskgroups.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicBool;

use evenkeel_runtime::internal::{Task, Until};

use super::header::Group;
use super::reduction;
use crate::ident::Ident;
use crate::ompt::{self, Wait};
use crate::region::Member;
use crate::registration::member;

impl Group {
    /// The running task begins a group.
    pub(crate) fn begin(member: &Member, is_implicit: bool) -> &Self {
        let owner = member.task();
        let group = member.worker().allocate(size_of::<Self>()).cast::<Self>().as_ptr();
        let around = owner.group.get();
        // SAFETY: the block is large enough and ours; a group around lives longer.
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

    /// The running task ends the group that it began last, when all tasks of the group have ended.
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
        // SAFETY: `begin` allocated the group, which has no task any more.
        unsafe {
            let block = ptr::NonNull::from(group).cast();
            member.worker().free(block, size_of::<Self>());
        }
    }
}

/// gcc: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_start() {
    Group::begin(member(), false);
}

/// gcc: a group ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskgroup_end() {
    Group::end(member());
}

/// clang: a group begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::begin(member(), false);
}

/// clang: a group ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_taskgroup(_where: *mut Ident, _thread: i32) {
    Group::end(member());
}

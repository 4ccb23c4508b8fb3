//! A task: its header, and its arguments right behind it, in one block (N fig. 1.2).

use std::ptr::{self, NonNull};

use crate::children::Children;
use crate::ready::Queued;
use crate::scope::Panics;

/// The header of a task.
///
/// A block begins with it, is aligned to 128 bytes, and goes on with what the task runs.
#[repr(C)]
pub(crate) struct Task {
    /// What queues know of it.
    pub(crate) queued: Queued,
    /// Its own children.
    pub(crate) children: Children,
    /// Where the panic of a task is kept: with the scope that it belongs to.
    pub(crate) panics: *const Panics,
    /// Bytes of the block; 0 for one that nobody frees.
    pub(crate) bytes: u32,
    /// Tasks between it and the root.
    pub(crate) depth: u32,
}

impl Task {
    /// The header of a child of `parent`.
    ///
    /// # Safety
    /// The parent is alive.
    pub(crate) unsafe fn child(
        parent: *const Self,
        bytes: usize,
        run: unsafe fn(*mut Queued, &crate::worker::Worker),
    ) -> Self {
        // SAFETY: the caller's promise.
        let (panics, depth) = unsafe { ((*parent).panics, (*parent).depth + 1) };
        Self {
            queued: Queued { run, next: ptr::null_mut::<Queued>().into(), parent },
            children: Children::none(),
            panics,
            bytes: u32::try_from(bytes).expect("a task's arguments are below 4 GiB"),
            depth,
        }
    }

    /// The task around a scope, which runs on its caller's stack.
    pub(crate) fn root(around: *const Self, depth: u32, panics: &Panics) -> Self {
        Self {
            queued: Queued { run: never, next: ptr::null_mut::<Queued>().into(), parent: around },
            children: Children::none(),
            panics,
            bytes: 0,
            depth,
        }
    }

    pub(crate) fn block(&self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}

unsafe fn never(_: *mut Queued, _: &crate::worker::Worker) {
    unreachable!("the task around a scope is not queued");
}

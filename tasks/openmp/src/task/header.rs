//! The header of a task, and the taskgroup that a task is in: the state that lower layers need.
//!
//! The operations on tasks are above: in `task`, which knows regions.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::internal::{NO_FUNCTION, Queued, Task, Team};

use super::event::Event;
use super::kmp_task::KmpTask;
use crate::icv::Icvs;

/// The code of a task.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    /// Nothing: an implicit task, or one whose code its creator runs.
    Elsewhere,
    /// Code of clang's task, which has no header yet: only this and `destroys` are written. The
    /// block has `bytes` bytes.
    Blank { bytes: u32 },
    /// Code of clang's program.
    Kmp(*mut KmpTask),
    /// Code of gcc's program, with its arguments.
    Gomp(unsafe extern "C" fn(*mut c_void), *mut c_void),
    /// A function of this library with its argument: the task makes some tasks of a loop.
    MakesTasks(unsafe fn(*const ()), *const ()),
    /// A flag to set when the task could run.
    SetsFlag(*const AtomicBool),
}

impl Code {
    /// The address of the function of the program that the task runs.
    ///
    /// # Safety
    /// A task of clang's is whole.
    pub(super) unsafe fn function(self) -> usize {
        match self {
            // SAFETY: the task is whole.
            Self::Kmp(variables) => unsafe { KmpTask::function(variables) },
            Self::Gomp(function, _) => function as usize,
            Self::Elsewhere | Self::Blank { .. } | Self::MakesTasks(..) | Self::SetsFlag(_) => {
                NO_FUNCTION
            }
        }
    }

    /// Whether the program created the task: a tool hears of those alone.
    pub(super) fn is_of_program(self) -> bool {
        matches!(self, Self::Kmp(_) | Self::Gomp(..))
    }
}

/// A task. The arguments of an explicit task lie behind the header in the same block.
#[repr(C, align(64))]
pub(crate) struct OmpTask {
    pub(super) task: Task,
    pub icvs: Cell<&'static Icvs>,
    /// The innermost group that the task is in, or has begun itself; null outside of groups.
    pub group: Cell<*const Group>,
    pub code: Cell<Code>,
    /// The event of the `detach` clause; null for most tasks.
    pub event: Cell<*mut Event>,
    /// Whether the tasks that this one creates are run before it goes on.
    pub is_final: Cell<bool>,
    /// The task's number as an owner of nest locks; 0 until it has taken one.
    pub owner: Cell<u32>,
    /// Whether one of the child tasks depends on all memory.
    pub(super) orders_all: Cell<bool>,
    /// Whether the task has variables to destroy: by clang's function, or by gcc's code, which so
    /// has to run even if the task was cancelled.
    pub destroys: Cell<bool>,
    /// Whether clang's code has returned to be called once more: an untied task has several parts.
    pub(super) goes_on: Cell<bool>,
}

const _: () = assert!(offset_of!(OmpTask, task) == 0 && size_of::<OmpTask>() == 128);

/// A taskgroup: its owner waits at the end for all tasks that were created inside.
pub(crate) struct Group {
    /// Counts the child tasks that the owner creates in the group.
    pub(super) root: Task,
    /// The task that has begun the group; null for the group of a region's implicit tasks.
    pub owner: *const OmpTask,
    /// The group that the owner was in before.
    pub(super) around: *const Self,
    pub(super) is_cancelled: AtomicBool,
    /// Whether a reduction made the group, and no `taskgroup`: to cancel is to cancel the one
    /// around.
    pub(super) is_implicit: bool,
    /// The reductions of clang's programs in the group, owned by [`super::reduction`]; null without
    /// any.
    pub(super) reductions: Cell<*mut ()>,
    /// gcc's lists of the reductions in the group and in those around.
    pub(super) gomp_reductions: Cell<*mut usize>,
}

impl OmpTask {
    /// The task of a thread in a region.
    pub(crate) fn implicit(icvs: &'static Icvs) -> Self {
        let mut place = MaybeUninit::uninit();
        // SAFETY: no task is around this one; every field is written before the task is read.
        unsafe {
            let around = Task::around(ptr::null());
            Self::write(place.as_mut_ptr(), around, icvs, ptr::null(), false);
            place.assume_init()
        }
    }

    /// Writes a task, field by field: to copy a whole one would wait for its own stores.
    ///
    /// # Safety
    /// The place has room, and is aligned.
    #[inline]
    pub(super) unsafe fn write(
        place: *mut Self,
        task: Task,
        icvs: &'static Icvs,
        group: *const Group,
        is_final: bool,
    ) {
        // SAFETY: the place has room for a task, and is aligned.
        unsafe {
            (&raw mut (*place).task).write(task);
            (&raw mut (*place).icvs).write(Cell::new(icvs));
            (&raw mut (*place).group).write(Cell::new(group));
            (&raw mut (*place).code).write(Cell::new(Code::Elsewhere));
            (&raw mut (*place).event).write(Cell::new(ptr::null_mut()));
            (&raw mut (*place).is_final).write(Cell::new(is_final));
            (&raw mut (*place).owner).write(Cell::new(0));
            (&raw mut (*place).orders_all).write(Cell::new(false));
            (&raw mut (*place).destroys).write(Cell::new(false));
            (&raw mut (*place).goes_on).write(Cell::new(false));
        }
    }

    /// Bytes of a block with `behind` bytes after the header.
    pub(crate) fn bytes_with(behind: usize) -> usize {
        (size_of::<Self>() + behind).next_multiple_of(align_of::<Self>())
    }

    /// A number that is equal for tasks that run the same function of the program and so take about
    /// as long.
    ///
    /// # Safety
    /// The queued task is alive, and whole.
    pub(crate) unsafe fn function_of(queued: *const Queued) -> usize {
        // SAFETY: every task that this library queues is an `OmpTask`, and this one is whole.
        unsafe { (*queued.cast::<Self>()).code.get().function() }
    }

    /// The part of the task that the runtime knows.
    pub(crate) fn raw(&self) -> &Task {
        &self.task
    }

    /// The task that created this one.
    pub(super) fn creator(&self) -> &Self {
        let parent = self.task.parent();
        // SAFETY: the parent of a task and the group that it is in are alive; of the parents only
        // the root of a group is no `OmpTask`.
        unsafe {
            match self.group.get().as_ref() {
                Some(group) if ptr::eq(group.root(), parent) => &*group.owner,
                _ => &*parent.cast(),
            }
        }
    }

    /// Where the child tasks are counted: at the group that this task has begun, or at the task.
    pub(super) fn counts(&self) -> *const Task {
        // SAFETY: a group lives as long as a task is in it.
        match unsafe { self.group.get().as_ref() } {
            Some(group) if ptr::eq(group.owner, self) => group.root(),
            _ => &self.task,
        }
    }

    /// The groups that the task is in, the innermost first.
    fn groups(&self) -> impl Iterator<Item = &Group> {
        // SAFETY: a group outlives the tasks in it.
        let first = unsafe { self.group.get().as_ref() };
        std::iter::successors(first, |group| group.outer())
    }

    /// The groups that the task has begun, each of which counts its own tasks.
    pub(crate) fn own_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups().take_while(|group| ptr::eq(group.owner, self))
    }

    /// Whether a group that the task is in was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.groups().any(Group::is_cancelled)
    }

    /// Gives the task an event, before it is added. `tree` is that of its creator's worker.
    pub(super) fn make_event(&self, tree: *const Team) -> *mut Event {
        if self.event.get().is_null() {
            let event = Event::new(ptr::from_ref(self).cast(), tree);
            self.event.set(Box::into_raw(Box::new(event)));
        }
        self.event.get()
    }
}

impl Group {
    /// The group of the implicit tasks of a region that has reductions of gcc's. The end of the
    /// region waits for its tasks.
    pub(crate) fn of_region(gomp_reductions: *mut usize) -> Self {
        Self {
            // SAFETY: no task is around the group.
            root: unsafe { Task::around(ptr::null()) },
            owner: ptr::null(),
            around: ptr::null(),
            is_cancelled: AtomicBool::new(false),
            is_implicit: true,
            reductions: Cell::new(ptr::null_mut()),
            gomp_reductions: Cell::new(gomp_reductions),
        }
    }

    /// The task that counts those that the owner creates in the group.
    pub(crate) fn root(&self) -> &Task {
        &self.root
    }

    /// The group around this one.
    pub(crate) fn outer(&self) -> Option<&Self> {
        // SAFETY: the group around ends later.
        unsafe { self.around.as_ref() }
    }

    /// Whether the group was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Tasks of the group that have not begun will not. Returns whether a `taskgroup` was
    /// cancelled.
    pub(crate) fn cancel(&self) -> bool {
        match self.outer() {
            Some(outer) if self.is_implicit => return outer.cancel(),
            None if self.is_implicit => return false,
            _ => self.is_cancelled.store(true, Ordering::Relaxed),
        }
        true
    }
}

//! gcc's calls: tasks are made and added at once.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use evenkeel_runtime::internal::Access;

use super::depend::{Dependences, List};
use super::event::Event;
use super::header::{Code, OmpTask};
use super::{Plan, When, depend};
use crate::cancel::used::is_used;
use crate::flag::Flag;
use crate::ompt;
use crate::region::{Member, known_member};
use crate::registration::member;

/// Flag of [`GOMP_task`]: the task is final.
pub(super) const FINAL: c_uint = 2;
/// Flag of [`GOMP_task`]: the task is untied.
const UNTIED: c_uint = 1;
/// Flag of [`GOMP_task`]: the task has dependences.
const DEPEND: c_uint = 8;
/// Flag of [`GOMP_task`]: the task has a priority.
const PRIORITY: c_uint = 16;
/// Flag of [`GOMP_task`]: the task has an event.
const DETACH: c_uint = 1 << 13;

/// The code of a task.
type Function = unsafe extern "C" fn(*mut c_void);

/// Copies the arguments of a task, where a copy of their bytes would not do.
pub(super) type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The arguments of [`GOMP_task`].
struct TaskArgs {
    function: Function,
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    alignment: c_long,
    is_deferred: bool,
    flags: c_uint,
    depend: *const *mut c_void,
    priority: c_int,
    detach: *mut *mut Event,
}

/// Creates a task and adds it to the queues, or runs the task's code inline.
///
/// # Safety
/// `function` takes a copy of `data`: of `size` bytes, or made by `copy`. The other arguments are
/// those that gcc passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_task(
    function: Function,
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    alignment: c_long,
    is_deferred: Flag,
    flags: c_uint,
    depend: *const *mut c_void,
    priority: c_int,
    detach: *mut *mut Event,
) {
    let address = function as usize;
    if flags & (DEPEND | DETACH | FINAL) == 0
        && fits(copy, size, alignment)
        && !is_used()
        && !ompt::is_on()
        && let Some(member) = known_member()
        && member.worker().should_inline(address)
    {
        // SAFETY: `function` takes `data` or the copy that [`fits`].
        return member.run_inlined(address, move || unsafe { call(function, data, copy) });
    }
    let args = TaskArgs {
        function,
        data,
        copy,
        size,
        alignment,
        is_deferred: is_deferred.is_set(),
        flags,
        depend,
        priority,
        detach,
    };
    // SAFETY: `function` takes `data` or a copy that gcc's arguments describe.
    unsafe { args.run_or_submit() };
}

/// Whether a task needs no copy of its arguments, or one that may lie on the creator's stack.
#[inline]
fn fits(copy: Option<Copy>, size: c_long, alignment: c_long) -> bool {
    copy.is_none() || size <= COPIED as c_long && alignment <= align_of::<Copied>() as c_long
}

/// Runs the code of a task on its creator's arguments, or on a copy of them.
///
/// # Safety
/// `function` takes a copy of `data`: of `size` bytes, or made by `copy`. The other arguments are
/// those that gcc passes; where there is a `copy`, what it makes [`fits`].
#[inline]
unsafe fn call(function: Function, data: *mut c_void, copy: Option<Copy>) {
    // SAFETY: `function` takes `data`, which the creator keeps meanwhile, or a copy that `fits`.
    unsafe {
        match copy {
            Some(copy) => call_on_copy(function, data, copy),
            None => function(data),
        }
    }
}

/// Runs the code of a task on a copy of its creator's arguments.
///
/// # Safety
/// `function` takes a copy of `data`: of `size` bytes, or made by `copy`. The other arguments are
/// those that gcc passes; where there is a `copy`, what it makes [`fits`].
#[inline(never)]
unsafe fn call_on_copy(function: Function, data: *mut c_void, copy: Copy) {
    let mut room = MaybeUninit::<Copied>::uninit();
    let place = room.as_mut_ptr().cast();
    // SAFETY: `function` takes a copy of `data`, which `fits`.
    unsafe {
        copy(place, data);
        function(place);
    }
}

impl TaskArgs {
    /// Whether the creator may go on before the task has run.
    fn may_wait(&self, member: &Member) -> bool {
        self.is_deferred && member.defers()
    }

    /// Runs the task inline if the creator has to wait for the task, or the scheduler prefers that;
    /// else creates and adds it. A task of a cancelled group does neither.
    ///
    /// # Safety
    /// `function` takes a copy of `data`: of `size` bytes, or made by `copy`. The other arguments
    /// are those that gcc passes.
    #[inline(never)]
    unsafe fn run_or_submit(&self) {
        let member = member();
        if is_used() && member.task_with_header().creates_none() {
            return;
        }
        let dependences = if self.flags & DEPEND == 0 {
            List::new()
        } else {
            // SAFETY: `function` takes `data` or a copy that gcc's arguments describe.
            unsafe { depend::of_gomp(member, self.depend) }
        };
        let mut when = When::deferred(self.is_deferred);
        let fits = fits(self.copy, self.size, self.alignment);
        if self.flags & (DETACH | FINAL) == 0 && fits && !ompt::is_on() {
            let address = self.function as usize;
            if member.inlines(address, &dependences, self.may_wait(member)) {
                let Self { function, data, copy, .. } = *self;
                // SAFETY: `function` takes `data` or the copy that [`fits`].
                return member.run_inlined(address, move || unsafe { call(function, data, copy) });
            }
            when = When::Later;
        }
        // SAFETY: `function` takes `data` or a copy that gcc's arguments describe.
        unsafe { self.submit(member, &dependences, when) };
    }

    /// Creates the task and adds it.
    ///
    /// # Safety
    /// `function` takes a copy of `data`: of `size` bytes, or made by `copy`. The other arguments
    /// are those that gcc passes.
    unsafe fn submit(&self, member: &Member, dependences: &[Access], when: When) {
        // The block and the arguments behind the header have the header's alignment.
        let bytes = usize::try_from(self.size).unwrap_or_default();
        let alignment = usize::try_from(self.alignment).unwrap_or_default();
        let more = if alignment > align_of::<OmpTask>() { alignment } else { 0 };
        // The dependences lie behind the arguments if the block has room left: one block of 256
        // bytes is slower than two shorter ones.
        let before = bytes.next_multiple_of(align_of::<usize>());
        let ordered = before + more + Access::bytes_of(dependences.len());
        let has_room = OmpTask::bytes_with(ordered) == OmpTask::bytes_with(bytes + more)
            // The record for a tool lies at the end of the block.
            && !ompt::is_on();
        let plan = Plan { bytes: bytes + more, is_final: self.flags & FINAL != 0 };
        let task = OmpTask::create(member, &plan);
        // SAFETY: the block has room for the arguments, which are `data` or a copy that gcc
        // describes.
        unsafe {
            if self.flags & UNTIED != 0 && ompt::is_on() {
                ompt::is_untied((*task).raw());
            }
            if self.flags & DETACH != 0 {
                let event = (*task).make_event(member.tree);
                *self.detach = event;
                if !self.data.is_null() {
                    *self.data.cast() = event;
                }
            }
            let place = arguments(task, self.data, self.copy, bytes, alignment);
            (*task).code.set(Code::Gomp(self.function, place));
            (*task).destroys.set(self.copy.is_some());
            if self.flags & PRIORITY != 0 {
                OmpTask::set_priority(task, self.priority.into());
            }
            let room = has_room.then(|| NonNull::new_unchecked(place.cast::<u8>().add(before)));
            OmpTask::submit(task, member, Dependences { all: dependences, room }, when);
        }
    }
}

/// Bytes of arguments that are copied onto the stack of a task's creator.
const COPIED: usize = 256;

/// Room for them.
#[repr(C, align(64))]
struct Copied([u8; COPIED]);

/// Copies the arguments of a task behind its header. Returns where they are.
///
/// # Safety
/// The task's block has room for the arguments, and `data` has `size` bytes or is what `copy`
/// takes.
pub(super) unsafe fn arguments(
    task: *mut OmpTask,
    data: *mut c_void,
    copy: Option<Copy>,
    size: usize,
    alignment: usize,
) -> *mut c_void {
    // SAFETY: the block has room for the arguments; `data` has `size` bytes, or `copy` takes them.
    unsafe {
        let place = task.add(1).cast::<c_void>();
        let place = place.byte_add(place.align_offset(alignment.max(1)));
        match copy {
            Some(copy) => copy(place, data),
            None => place.cast::<u8>().copy_from_nonoverlapping(data.cast(), size),
        }
        place
    }
}

/// Waits for the children of the running task.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskwait() {
    let member = member();
    if !member.runs_inlined() {
        OmpTask::wait_for_children(member);
    }
}

/// Waits until a task with these dependences could run.
///
/// # Safety
/// `list` is a list of dependences as gcc makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskwait_depend(list: *const *mut c_void) {
    let member = member();
    // SAFETY: `list` is gcc's list of dependences.
    depend::wait(member, &unsafe { depend::of_gomp(member, list) });
}

/// Adds a task with these dependences and no code, for which later tasks may wait.
///
/// # Safety
/// `list` is a list of dependences as gcc makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskwait_depend_nowait(list: *const *mut c_void) {
    let member = member();
    // SAFETY: `list` is gcc's list of dependences.
    depend::add_nothing(member, &unsafe { depend::of_gomp(member, list) });
}

/// `taskyield`: the running task goes on, which OpenMP allows.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskyield() {}

//! gcc's calls: tasks are made and added at once.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use evenkeel_runtime::internal::Access;

use super::depend::{List, Orders};
use super::event::Event;
use super::header::{Code, OmpTask};
use super::{Plan, When, depend};
use crate::cancel::used::is_used;
use crate::flag::Flag;
use crate::ompt;
use crate::region::{Member, known_member};
use crate::registration::member;

/// Flags of [`GOMP_task`].
pub(super) const FINAL: c_uint = 2;
/// As above.
const UNTIED: c_uint = 1;
/// As above.
const DEPEND: c_uint = 8;
/// As above.
const PRIORITY: c_uint = 16;
/// As above.
const DETACH: c_uint = 1 << 13;

/// What a task runs.
type Function = unsafe extern "C" fn(*mut c_void);

/// What fills the arguments of a task, where a copy of bytes would not do.
pub(super) type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// A task as gcc's programs say it.
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

/// Makes and adds a task, or runs it.
///
/// # Safety
/// `function` takes `data`, of which `size` bytes are to be copied, or `copy` copies them; the
/// rest is as libgomp takes it.
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
    let kind = function as usize;
    if flags & (DEPEND | DETACH | FINAL) == 0
        && fits(copy, size, alignment)
        && !is_used()
        && !ompt::is_on()
        && let Some(member) = known_member()
        && member.worker().should_inline(kind)
    {
        // SAFETY: the caller's promise; there is room.
        return member.run_inlined(kind, move || unsafe { call(function, data, copy) });
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
    // SAFETY: the caller's promise.
    unsafe { args.run_or_submit() };
}

/// Whether a copy of its arguments, if it needs one, may lie on the stack of a task's creator.
#[inline]
fn fits(copy: Option<Copy>, size: c_long, alignment: c_long) -> bool {
    copy.is_none() || size <= COPIED as c_long && alignment <= align_of::<Copied>() as c_long
}

/// Runs the code of a task on its creator's arguments, or on a copy of them.
///
/// # Safety
/// As of [`GOMP_task`]; where there is a `copy`, what it makes [`fits`].
#[inline]
unsafe fn call(function: Function, data: *mut c_void, copy: Option<Copy>) {
    // SAFETY: the caller's promise; the creator's arguments stay meanwhile.
    unsafe {
        match copy {
            Some(copy) => call_on_copy(function, data, copy),
            None => function(data),
        }
    }
}

/// The same on a copy.
///
/// # Safety
/// As of [`call`].
#[inline(never)]
unsafe fn call_on_copy(function: Function, data: *mut c_void, copy: Copy) {
    let mut room = MaybeUninit::<Copied>::uninit();
    let place = room.as_mut_ptr().cast();
    // SAFETY: the caller's promise.
    unsafe {
        copy(place, data);
        function(place);
    }
}

impl TaskArgs {
    /// Whether its creator may go on before it has run.
    fn may_wait(&self, member: &Member) -> bool {
        self.is_deferred && member.defers()
    }

    /// Runs it if it may not wait, or need not; else makes and adds it. If its group is cancelled,
    /// neither.
    ///
    /// # Safety
    /// As of [`GOMP_task`].
    #[inline(never)]
    unsafe fn run_or_submit(&self) {
        let member = member();
        if is_used() && member.task_made().creates_none() {
            return;
        }
        let dependences = if self.flags & DEPEND == 0 {
            List::new()
        } else {
            // SAFETY: the caller's promise.
            unsafe { depend::of_gomp(member, self.depend) }
        };
        let mut when = When::deferred(self.is_deferred);
        let fits = fits(self.copy, self.size, self.alignment);
        if self.flags & (DETACH | FINAL) == 0 && fits && !ompt::is_on() {
            let kind = self.function as usize;
            if member.runs_now(kind, &dependences, self.may_wait(member)) {
                let Self { function, data, copy, .. } = *self;
                // SAFETY: the caller's promise; there is room.
                return member.run_inlined(kind, move || unsafe { call(function, data, copy) });
            }
            when = When::Later;
        }
        // SAFETY: the caller's promise.
        unsafe { self.submit(member, &dependences, when) };
    }

    /// Makes and adds it.
    ///
    /// # Safety
    /// As of [`GOMP_task`].
    unsafe fn submit(&self, member: &Member, dependences: &[Access], when: When) {
        // The block is aligned as its header, and so is what is behind that.
        let bytes = usize::try_from(self.size).unwrap_or_default();
        let alignment = usize::try_from(self.alignment).unwrap_or_default();
        let more = if alignment > align_of::<OmpTask>() { alignment } else { 0 };
        // What the task is ordered by lies behind the arguments if the block has room left; a block
        // of 256 bytes is slower than two that are shorter.
        let before = bytes.next_multiple_of(align_of::<usize>());
        let ordered = before + more + Access::bytes_of(dependences.len());
        let has_room = OmpTask::bytes_with(ordered) == OmpTask::bytes_with(bytes + more)
            // What is kept for a tool lies there.
            && !ompt::is_on();
        let plan = Plan { bytes: bytes + more, is_final: self.flags & FINAL != 0 };
        let task = OmpTask::create(member, &plan);
        // SAFETY: the block has room for the arguments; the caller's promise.
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
            OmpTask::submit(task, member, Orders { all: dependences, room }, when);
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
/// There is room; `data` is as [`GOMP_task`] takes it.
pub(super) unsafe fn arguments(
    task: *mut OmpTask,
    data: *mut c_void,
    copy: Option<Copy>,
    size: usize,
    alignment: usize,
) -> *mut c_void {
    // SAFETY: the caller's promise.
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
    if !member.runs_unmade() {
        OmpTask::wait_for_children(member);
    }
}

/// Waits until a task with these dependences could run.
///
/// # Safety
/// The list is as of [`GOMP_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskwait_depend(list: *const *mut c_void) {
    let member = member();
    // SAFETY: the caller's promise.
    depend::wait(member, &unsafe { depend::of_gomp(member, list) });
}

/// Adds a task with these dependences that does nothing: others may wait for it.
///
/// # Safety
/// The list is as of [`GOMP_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskwait_depend_nowait(list: *const *mut c_void) {
    let member = member();
    // SAFETY: the caller's promise.
    depend::add_nothing(member, &unsafe { depend::of_gomp(member, list) });
}

/// The running task may be put off. It is not.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskyield() {}

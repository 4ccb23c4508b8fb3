//! gcc's calls: tasks are made and added at once.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::MaybeUninit;

use super::detach::Event;
use super::{Code, Dependence, OmpTask, Plan, depend};
use crate::flag::Flag;
use crate::thread::member;

/// Flags of [`GOMP_task`].
pub(super) const FINAL: c_uint = 2;
/// As above.
const DEPEND: c_uint = 8;
/// As above.
const PRIORITY: c_uint = 16;
/// As above.
const DETACH: c_uint = 1 << 13;

/// What fills the arguments of a task, where a copy of bytes would not do.
pub(super) type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Makes and adds a task, or runs it.
///
/// # Safety
/// `function` takes `data`, of which `size` bytes are to be copied, or `copy` copies them; the
/// rest is as libgomp takes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_task(
    function: unsafe extern "C" fn(*mut c_void),
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
    let member = member();
    if member.task_made().creates_none() {
        return;
    }
    let size = usize::try_from(size).unwrap_or_default();
    let alignment = usize::try_from(alignment).unwrap_or_default().max(1);
    let has_room = copy.is_none() || size <= COPIED && alignment <= align_of::<Copied>();
    if flags & (DEPEND | DETACH | FINAL) == 0 && has_room {
        let kind = function as usize;
        let may_wait = is_deferred.is_set() && !member.task_made().is_final.get();
        if !may_wait || member.worker().may_run_at_once(kind) {
            // SAFETY: the caller's promise; there is room.
            return member.run_inlined(kind, || unsafe { call(function, data, copy) });
        }
    }
    // The block is aligned to 128, and so is what is behind the header.
    let more = if alignment > align_of::<OmpTask>() { alignment } else { 0 };
    let plan = Plan { bytes: size + more, is_final: flags & FINAL != 0 };
    let task = OmpTask::create(member, &plan);
    // SAFETY: the block has room for the arguments; the caller's promise.
    unsafe {
        if flags & DETACH != 0 {
            let event = Event::of(&*task, member);
            *detach = event;
            if !data.is_null() {
                *data.cast() = event;
            }
        }
        let place = arguments(task, data, copy, size, alignment);
        (*task).code.set(Code::Gomp(function, place));
        (*task).destroys.set(copy.is_some());
        if flags & PRIORITY != 0 {
            OmpTask::set_priority(task, priority.into());
        }
        let all = if flags & DEPEND != 0 { Dependence::of_gomp(depend) } else { Vec::new() };
        OmpTask::submit(task, member, all, is_deferred.is_set());
    }
}

/// Bytes of arguments that are copied onto the stack of a task's creator.
const COPIED: usize = 256;

/// Room for them.
#[repr(C, align(64))]
struct Copied([u8; COPIED]);

/// Runs the code of a task on its creator's arguments, or on a copy of them.
///
/// # Safety
/// As of [`GOMP_task`]; where there is a `copy`, [`Copied`] has room for what it makes.
unsafe fn call(function: unsafe extern "C" fn(*mut c_void), data: *mut c_void, copy: Option<Copy>) {
    // SAFETY: the caller's promise; the creator's arguments stay meanwhile.
    unsafe {
        let Some(copy) = copy else { return function(data) };
        let mut room = MaybeUninit::<Copied>::uninit();
        let place = room.as_mut_ptr().cast();
        copy(place, data);
        function(place);
    }
}

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
    // SAFETY: the caller's promise.
    depend::wait(member(), unsafe { Dependence::of_gomp(list) });
}

/// Adds a task with these dependences that does nothing: others may wait for it.
///
/// # Safety
/// The list is as of [`GOMP_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskwait_depend_nowait(list: *const *mut c_void) {
    // SAFETY: the caller's promise.
    depend::add_nothing(member(), unsafe { Dependence::of_gomp(list) });
}

/// The running task may be put off. It is not.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_taskyield() {}

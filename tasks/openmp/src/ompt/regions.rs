//! Regions begin and end, and the implicit tasks in them.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::abi::{Data, Endpoint, parallel, state, sync, task};
use super::callbacks::{
    IMPLICIT_TASK, PARALLEL_BEGIN, PARALLEL_END, SYNC_REGION, SYNC_REGION_WAIT,
};
use super::caller::Caller;
use super::records::{ImplicitRecord, RegionRecord, TaskRecord, ThreadRecord};
use super::work;
use crate::microtask::{Microtask, evenkeel_omp_invoke};

/// So many threads are asked of the next region.
#[cold]
#[inline(never)]
pub(crate) fn asks_for(threads: u32) {
    if let Some(thread) = ThreadRecord::known() {
        thread.asked.set(threads);
    }
}

/// The running task begins a region of `size` threads. Returns the region's record, which
/// [`region_ends`] frees.
#[cold]
#[inline(never)]
pub(crate) fn region_begins(size: u32) -> *const RegionRecord {
    let Some((thread, task)) = ThreadRecord::running() else { return ptr::null() };
    let asked = thread.asked.take();
    let asked = if asked > 0 { asked } else { size };
    begin(task, size, asked, parallel::TEAM | parallel::BY_RUNTIME)
}

fn begin(task: &TaskRecord, size: u32, asked: u32, flags: i32) -> *const RegionRecord {
    let caller = Caller::find();
    task.enters(caller);
    let data = Data::default();
    let region = RegionRecord { data, size, flags, code: caller.code, beginner: task };
    let region = Arc::new(region);
    PARALLEL_BEGIN.tell(|function| {
        let (data, own) = (task.data.get(), region.data.get());
        // SAFETY: the tool's function takes this.
        unsafe { function(data, &raw const task.frame, own, asked, flags, caller.code) };
    });
    Arc::into_raw(region)
}

/// The region ends; the record goes when the last thread has left the region.
///
/// # Safety
/// [`region_begins`] returned the region, in the task that runs now.
#[cold]
#[inline(never)]
pub(crate) unsafe fn region_ends(region: *const RegionRecord) {
    // SAFETY: `region_begins` returned the region, in the task that runs now.
    let region = unsafe { Arc::from_raw(region) };
    if !super::is_on() {
        // The tool has ended meanwhile, and with it the records of running tasks.
        return;
    }
    let Some((_, task)) = ThreadRecord::running() else { return };
    PARALLEL_END.tell(|function| {
        // SAFETY: the tool's function takes this.
        unsafe { function(region.data.get(), task.data.get(), region.flags, region.code) };
    });
    task.returns();
}

/// The part of a thread in a region, as far as a tool hears.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// The address of the thread's state in the region, which is only compared.
    pub member: *const (),
    /// The thread's number in the region.
    pub number: u32,
    /// The region's record; null without one.
    pub region: *const RegionRecord,
    /// Whether the region is outside of all others.
    pub is_outermost: bool,
}

/// The calling thread begins its implicit task.
#[cold]
#[inline(never)]
pub(crate) fn implicit_begins(part: Part) {
    let Some(thread) = ThreadRecord::known() else { return };
    let Part { member, number, region: record, is_outermost } = part;
    if !record.is_null() {
        // SAFETY: the record lives until the region has ended.
        let record = unsafe {
            Arc::increment_strong_count(record);
            Arc::from_raw(record)
        };
        let undeferred = if record.size == 1 { task::UNDEFERRED } else { 0 };
        let size = record.size;
        enter(thread, member, record, task::IMPLICIT | undeferred, size, number);
    } else if is_outermost && !thread.is_worker {
        enter(thread, member, Arc::new(initial()), task::INITIAL, 1, 1);
    }
}

/// The record of an initial region, which no task began.
fn initial() -> RegionRecord {
    let (code, beginner) = (ptr::null(), ptr::null());
    RegionRecord { data: Data::default(), size: 1, flags: 0, code, beginner }
}

fn enter(
    thread: &ThreadRecord,
    member: *const (),
    region: Arc<RegionRecord>,
    flags: u32,
    size: u32,
    index: u32,
) {
    let task = TaskRecord::new(flags, &raw const *region, region.beginner);
    let is_implicit = flags & task::IMPLICIT != 0;
    task.number.set(if is_implicit { index } else { 0 });
    let before = thread.current.get();
    let record = Box::leak(Box::new(ImplicitRecord { task, member, before, region, size, index }));
    thread.current.set(&raw const record.task);
    IMPLICIT_TASK.tell(|function| {
        let (region, task) = (record.region.data.get(), record.task.data.get());
        // SAFETY: the tool's function takes this.
        unsafe { function(Endpoint::Begin, region, task, size, index, flags as i32) };
    });
}

/// The implicit task ends.
#[cold]
#[inline(never)]
pub(crate) fn implicit_ends(member: *const ()) {
    leave(member);
}

/// Ends the running task, if that is the implicit task of this member.
fn leave(member: *const ()) {
    let Some(thread) = ThreadRecord::known() else { return };
    let Some(task) = thread.task() else { return };
    let flags = task.flags.get();
    if flags & (task::INITIAL | task::IMPLICIT) == 0 {
        return;
    }
    let record = ptr::from_ref(task).cast::<ImplicitRecord>().cast_mut();
    // SAFETY: a task with these flags has a record of `enter`, and ends once.
    unsafe {
        if (*record).member != member {
            return;
        }
        work::leaves(task);
        let size = if flags & task::INITIAL != 0 { 0 } else { (*record).size };
        let (data, index) = ((*record).task.data.get(), (*record).index);
        IMPLICIT_TASK.tell(|function| {
            function(Endpoint::End, ptr::null_mut(), data, size, index, flags as i32);
        });
        thread.current.set((*record).before);
        drop(Box::from_raw(record));
    }
}

/// Where the address of the frame is to be written that calls the implicit task's code: with the
/// task, or where `nowhere` is.
#[inline(always)]
pub(crate) fn exit_frame(nowhere: &mut *mut c_void) -> *mut *mut c_void {
    if super::is_on() { exit_frame_with_ompt(nowhere) } else { nowhere }
}

#[cold]
#[inline(never)]
fn exit_frame_with_ompt(nowhere: &mut *mut c_void) -> *mut *mut c_void {
    ThreadRecord::known()
        .and_then(ThreadRecord::task)
        .map_or(nowhere, |task| task.frame.exit.as_ptr())
}

/// Calls the code of the running task, with two arguments at most, and says where.
///
/// # Safety
/// `function` may be called with these arguments.
pub(crate) unsafe fn call(function: *const (), first: *mut c_void, second: *mut c_void) {
    if function.is_null() {
        return;
    }
    let mut nowhere = ptr::null_mut();
    let exit = exit_frame(&mut nowhere);
    // SAFETY: `function` may be called with these arguments, of which a function of fewer ignores
    // the rest.
    unsafe {
        let function = std::mem::transmute::<*const (), Microtask>(function);
        evenkeel_omp_invoke(function, first.cast(), second.cast(), 0, ptr::null(), exit);
    }
}

/// The program runs the code of a region of one thread itself.
#[cold]
#[inline(never)]
pub(crate) fn serial_exit() {
    if let Some(task) = ThreadRecord::known().and_then(ThreadRecord::task) {
        task.frame.exit.set(Caller::find().own_frame);
    }
}

/// Calls `wait`, which is the barrier at the end of a region for the thread of this number.
#[cold]
#[inline(never)]
pub(crate) fn region_barrier(number: u32, wait: impl FnOnce()) {
    let Some((thread, task)) = ThreadRecord::running() else { return wait() };
    // SAFETY: a region outlives its implicit tasks.
    let region = unsafe { task.region.get().as_ref() };
    // Only the primary thread was called by the program.
    let code = region.filter(|_| number == 0).map_or(ptr::null(), |region| region.code);
    let tell = |endpoint, region: *mut Data| {
        let events = [&SYNC_REGION, &SYNC_REGION_WAIT];
        let order = if endpoint == Endpoint::Begin { [0, 1] } else { [1, 0] };
        for event in order.map(|at: usize| events[at]) {
            // SAFETY: the tool's function takes this.
            let tell = |function: unsafe extern "C" fn(_, _, _, _, _)| unsafe {
                function(sync::IMPLICIT, endpoint, region, task.data.get(), code);
            };
            event.tell(tell);
        }
    };
    work::leaves(task);
    task.frame.exit.set(ptr::null_mut());
    task.frame.enter.set(ptr::null_mut());
    tell(Endpoint::Begin, task.region_data());
    let before = thread.waits(Some(state::BARRIER_IMPLICIT), 0);
    wait();
    thread.waits(before, 0);
    if number > 0 {
        // The primary thread may go on, and so the task below may end.
        task.below.set(ptr::null());
        task.region.set(ptr::null());
    }
    tell(Endpoint::End, ptr::null_mut());
}

/// The running task begins a league of `teams` teams. Returns the league's record, which
/// [`league_ends`] frees.
#[cold]
#[inline(never)]
pub(crate) fn league_begins(teams: u32) -> *const RegionRecord {
    let Some((_, task)) = ThreadRecord::running() else { return ptr::null() };
    begin(task, teams, teams, parallel::LEAGUE | parallel::BY_RUNTIME)
}

/// The league ends.
///
/// # Safety
/// [`region_begins`] returned the region, in the task that runs now.
#[cold]
#[inline(never)]
pub(crate) unsafe fn league_ends(league: *const RegionRecord) {
    // SAFETY: `region_begins` returned the region, in the task that runs now.
    unsafe { region_ends(league) };
}

/// A team of a league begins: an initial task, in which the runtime begins a region of one thread.
/// Returns that region's record.
///
/// # Safety
/// [`league_begins`] returned the league, which has not ended.
#[cold]
#[inline(never)]
pub(crate) unsafe fn team_begins(league: *const RegionRecord, number: u32) -> *const RegionRecord {
    let Some((thread, _)) = ThreadRecord::running() else { return ptr::null() };
    // SAFETY: `league_begins` returned the league, which has not ended.
    let league = unsafe {
        Arc::increment_strong_count(league);
        Arc::from_raw(league)
    };
    let teams = league.size;
    enter(thread, ptr::null(), league, task::INITIAL, teams, number);
    region_begins(1)
}

/// The team ends.
///
/// # Safety
/// [`team_begins`] returned the region.
#[cold]
#[inline(never)]
pub(crate) unsafe fn team_ends(region: *const RegionRecord) {
    // SAFETY: `team_begins` returned the region.
    unsafe { region_ends(region) };
    leave(ptr::null());
}

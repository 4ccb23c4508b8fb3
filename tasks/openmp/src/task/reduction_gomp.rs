//! Task reductions of gcc's programs: the runtime gives memory for each thread's private copies,
//! and the programs do the rest.
//!
//! A list says how many variables there are, bytes of a thread's parts, their alignment (then where
//! they are), the allocator, the next list, then two words of ours; then of each variable its
//! address, its place in the parts, and a word of ours.

use std::ffi::{c_uint, c_void};
use std::iter;
use std::ptr;

use super::header::Group;
use crate::flag::Flag;
use crate::ompt::{self, Wait};
use crate::parallel::{Wanted, run_reducing_region};
use crate::region::Member;
use crate::region::job::Function;
use crate::registration::member;
use crate::team::share::Share;
use crate::unsupported::abort_with;

/// Words of a list.
const NUMBER: usize = 0;
const BYTES: usize = 1;
const PARTS: usize = 2;
const NEXT: usize = 4;
/// Whether the list is the last one of those that were registered together.
const IS_LAST: usize = 5;
const PARTS_END: usize = 6;
/// Where the first variable is, and how many words each has.
const FIRST: usize = 7;
const WORDS: usize = 3;

/// A list of the program's.
#[derive(Clone, Copy, PartialEq, Eq)]
struct List(*mut usize);

impl List {
    fn of(word: usize) -> Option<Self> {
        (word != 0).then(|| Self(ptr::with_exposed_provenance_mut(word)))
    }

    /// # Safety
    /// The list is one of gcc's lists of task reductions.
    unsafe fn get(self, word: usize) -> usize {
        // SAFETY: the list is one of gcc's lists of task reductions.
        unsafe { *self.0.add(word) }
    }

    /// # Safety
    /// The list is one of gcc's lists of task reductions, of the running thread.
    unsafe fn set(self, word: usize, value: usize) {
        // SAFETY: the list is one of gcc's lists of task reductions, of the running thread.
        unsafe { *self.0.add(word) = value };
    }

    /// This list and those behind.
    ///
    /// # Safety
    /// The lists are gcc's lists of task reductions.
    unsafe fn and_next(self) -> impl Iterator<Item = Self> {
        // SAFETY: the lists are gcc's lists of task reductions.
        iter::successors(Some(self), |list| Self::of(unsafe { list.get(NEXT) }))
    }

    /// Address and place of each variable.
    ///
    /// # Safety
    /// The list is one of gcc's lists of task reductions.
    unsafe fn variables(self) -> impl Iterator<Item = (usize, usize)> {
        // SAFETY: the list is one of gcc's lists of task reductions.
        unsafe {
            (0..self.get(NUMBER)).map(move |number| {
                let word = FIRST + number * WORDS;
                (self.get(word), self.get(word + 1))
            })
        }
    }
}

/// Allocates zeroed memory for the parts of all threads: `bytes` bytes.
fn parts(alignment: usize, bytes: usize) -> *mut c_void {
    let alignment = alignment.max(size_of::<usize>()).next_power_of_two();
    let bytes = bytes.max(1).next_multiple_of(alignment);
    // SAFETY: alignment and size fit each other; the bytes are ours.
    unsafe {
        let parts = libc::aligned_alloc(alignment, bytes);
        if parts.is_null() {
            abort_with(b"evenkeel: no memory for a reduction\n");
        }
        parts.cast::<u8>().write_bytes(0, bytes);
        parts
    }
}

/// Gives lists memory for `threads` threads, or that of the lists `others`, and appends the older
/// lists.
///
/// # Safety
/// The lists are gcc's lists of task reductions.
unsafe fn give(lists: *mut usize, threads: u32, older: *mut usize, others: Option<*mut usize>) {
    let (mut list, mut other) = (List(lists), others.map(List));
    // SAFETY: the lists are gcc's lists of task reductions.
    unsafe {
        loop {
            let bytes = list.get(BYTES) * threads as usize;
            let parts = match other {
                Some(other) => other.get(PARTS),
                None => parts(list.get(PARTS), bytes).expose_provenance(),
            };
            list.set(PARTS, parts);
            list.set(PARTS_END, parts + bytes);
            let next = List::of(list.get(NEXT));
            list.set(IS_LAST, next.is_none().into());
            other = other.and_then(|other| List::of(other.get(NEXT)));
            match next {
                Some(next) => list = next,
                None => return list.set(NEXT, older.expose_provenance()),
            }
        }
    }
}

/// A group reduces the variables of lists, with the memory of `others` if given.
///
/// # Safety
/// The lists are gcc's lists of task reductions.
pub(super) unsafe fn register(
    member: &Member,
    group: &Group,
    lists: *mut usize,
    others: Option<*mut usize>,
) {
    // SAFETY: the lists are gcc's lists of task reductions.
    unsafe { give(lists, member.region().size, group.gomp_reductions.get(), others) };
    group.gomp_reductions.set(lists);
}

/// Each thread that comes to a construct begins a group, and all reduce the same.
///
/// # Safety
/// The lists are gcc's lists of task reductions.
pub(crate) unsafe fn share(member: &Member, share: Option<&Share>, lists: *mut usize) {
    let group = Group::begin(member, true);
    // SAFETY: the lists are gcc's lists of task reductions; the first thread keeps its lists until
    // all threads have come to the end.
    unsafe {
        let first = || {
            register(member, group, lists, None);
            lists.cast()
        };
        let registered = match share {
            Some(share) => share.reductions.get(first),
            None => first(),
        };
        if !ptr::eq(registered.cast(), lists) {
            register(member, group, lists, Some(registered.cast()));
        }
    }
}

/// The group that was begun last reduces this.
///
/// # Safety
/// The lists are gcc's lists of task reductions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskgroup_reduction_register(lists: *mut usize) {
    let member = member();
    let group = member.group().unwrap_or_else(|| Group::begin(member, false));
    // SAFETY: the lists are gcc's lists of task reductions.
    unsafe { register(member, group, lists, None) };
}

/// The memory is not used any more.
///
/// # Safety
/// The lists were registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskgroup_reduction_unregister(lists: *mut usize) {
    // SAFETY: the lists were registered.
    unsafe {
        for list in List(lists).and_next() {
            libc::free(ptr::with_exposed_provenance_mut(list.get(PARTS)));
            if list.get(IS_LAST) != 0 {
                return;
            }
        }
    }
}

/// Where a thread's part of a variable is, and the variable itself.
///
/// # Safety
/// The lists were registered.
unsafe fn find(lists: *mut usize, thread: u32, place: usize) -> Option<(usize, Option<usize>)> {
    // SAFETY: the lists were registered.
    unsafe {
        let own = |list: List, at| list.get(PARTS) + list.get(BYTES) * thread as usize + at;
        let all =
            || List::of(lists.expose_provenance()).into_iter().flat_map(|list| list.and_next());
        for list in all() {
            let found = list.variables().find(|variable| variable.0 == place);
            if let Some((variable, at)) = found {
                return Some((own(list, at), Some(variable)));
            }
        }
        let list = all().find(|list| (list.get(PARTS)..list.get(PARTS_END)).contains(&place))?;
        let at = (place - list.get(PARTS)) % list.get(BYTES);
        let variable = list.variables().find(|variable| variable.1 == at);
        Some((own(list, at), variable.map(|variable| variable.0)))
    }
}

/// Replaces the addresses of `number` variables, or of other threads' parts of them, by those of
/// the running thread's parts. Behind all of them it writes the addresses of the first `originals`
/// variables themselves.
///
/// # Safety
/// `places` has room, and the running task is in a group that reduces the variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_task_reduction_remap(
    number: usize,
    originals: usize,
    places: *mut *mut c_void,
) {
    let member = member();
    let lists = member.group().map_or(ptr::null_mut(), |group| group.gomp_reductions.get());
    // SAFETY: `places` has room, and the running task is in a group that reduces the variables.
    unsafe {
        for at in 0..number {
            let place = places.add(at);
            let Some((part, variable)) = find(lists, member.number, (*place).addr()) else {
                abort_with(b"evenkeel: a task reduces what no group around it does\n")
            };
            *place = ptr::with_exposed_provenance_mut(part);
            if let (true, Some(variable)) = (at < originals, variable) {
                *places.add(number + at) = ptr::with_exposed_provenance_mut(variable);
            }
        }
    }
}

/// The thread has left a construct that reduces.
///
/// # Safety
/// The thread has come to the construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_workshare_task_reduction_unregister(is_cancelled: Flag) {
    let member = member();
    let lists = member.group().map_or(ptr::null_mut(), |group| group.gomp_reductions.get());
    Group::end(member);
    if member.number == 0 && !lists.is_null() {
        // SAFETY: the thread has come to the construct.
        unsafe { GOMP_taskgroup_reduction_unregister(lists) };
    }
    if !is_cancelled.is_set() {
        ompt::waits(|| Wait::Implementation, || member.barrier());
    }
}

/// The thread comes to a `scope` that reduces.
///
/// # Safety
/// The lists are gcc's lists of task reductions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_scope_start(lists: *mut usize) {
    let member = member();
    // SAFETY: a share lives until this thread has left it; the lists are gcc's lists of task
    // reductions.
    unsafe {
        let met = member.meet().as_ref();
        share(member, met, lists);
        if let Some(met) = met {
            met.leave(member.region().size);
        }
    }
}

/// Runs a region with task reductions. Returns the number of its threads.
///
/// # Safety
/// `function` may be called with `data` in any thread; `data` begins with a pointer to gcc's lists
/// of task reductions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_reductions(
    function: Function,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) -> c_uint {
    // SAFETY: `function` may be called with `data` in any thread; `data` begins with a pointer to
    // gcc's lists of task reductions.
    unsafe {
        let lists = *data.cast::<*mut usize>();
        let begin = |size| {
            give(lists, size, ptr::null_mut(), None);
            Group::of_region(lists)
        };
        run_reducing_region(function, data, Wanted::of_gomp(threads, flags), begin)
    }
}

//! What tasks reduce, as clang's programs say it.
//!
//! Each thread gets a part of its own when a task on it asks first. At the end of the group the
//! parts are brought together. Where a whole team reduces (the `task` modifier), each thread has a
//! group, all of them share the parts, and the last to leave brings them together.

use std::ffi::c_void;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::Group;
use crate::ident::Ident;
use crate::region::{Member, Share};
use crate::thread::member;
use crate::unsupported::abort_with;

/// Parts of several threads are not in one line of a cache.
const APART: usize = 128;

/// Of one thing that is reduced.
type Of1 = unsafe extern "C" fn(*mut c_void);
/// Of two.
type Of2 = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// How a part begins.
#[derive(Clone, Copy)]
enum Begin {
    /// As zeros.
    Zeros,
    /// By itself.
    Alone(Of1),
    /// With a look at the original.
    From(Of2, *mut c_void),
}

/// `kmp_task_red_input_t`: what the program says of one variable, before clang 11.
#[repr(C)]
pub struct OldInput {
    shared: *mut c_void,
    bytes: usize,
    begin: Option<Of1>,
    end: Option<Of1>,
    add: Of2,
    flags: u32,
}

/// `kmp_taskred_input_t`: the same since.
#[repr(C)]
pub struct Input {
    shared: *mut c_void,
    original: *mut c_void,
    bytes: usize,
    begin: Option<Of2>,
    end: Option<Of1>,
    add: Of2,
    flags: u32,
}

/// One variable.
struct Variable {
    bytes: usize,
    begin: Begin,
    end: Option<Of1>,
    add: Of2,
    /// One a thread; null until it is asked for.
    parts: Box<[AtomicPtr<c_void>]>,
}

/// A variable, and where whoever begins the group has it.
type Said = (Variable, *mut c_void);

impl Variable {
    fn new(bytes: usize, begin: Begin, end: Option<Of1>, add: Of2, threads: u32) -> Self {
        let parts = (0..threads).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Self { bytes, begin, end, add, parts }
    }

    fn of_old(input: &OldInput, threads: u32) -> Said {
        let begin = input.begin.map_or(Begin::Zeros, Begin::Alone);
        (Self::new(input.bytes, begin, input.end, input.add, threads), input.shared)
    }

    fn of_new(input: &Input, threads: u32) -> Said {
        let original = if input.original.is_null() { input.shared } else { input.original };
        let begin = input.begin.map_or(Begin::Zeros, |begin| Begin::From(begin, original));
        (Self::new(input.bytes, begin, input.end, input.add, threads), input.shared)
    }

    /// The part of a thread, which is the caller.
    fn part(&self, thread: u32) -> *mut c_void {
        let part = &self.parts[thread as usize];
        let there = part.load(Ordering::Relaxed);
        if !there.is_null() {
            return there;
        }
        let bytes = self.bytes.max(1).next_multiple_of(APART);
        // SAFETY: alignment and size fit each other.
        let new = unsafe { libc::aligned_alloc(APART, bytes) };
        if new.is_null() {
            abort_with(b"evenkeel: no memory for a reduction\n");
        }
        // SAFETY: the bytes are ours; the functions are the program's.
        unsafe {
            new.cast::<u8>().write_bytes(0, bytes);
            match self.begin {
                Begin::Zeros => {}
                Begin::Alone(begin) => begin(new),
                Begin::From(begin, original) => begin(new, original),
            }
        }
        part.store(new, Ordering::Release);
        new
    }

    /// Brings the parts together.
    ///
    /// # Safety
    /// No task uses them any more; `shared` is what they are added to.
    unsafe fn add_all(&self, shared: *mut c_void) {
        for part in &self.parts {
            let part = part.swap(ptr::null_mut(), Ordering::Acquire);
            if part.is_null() {
                continue;
            }
            // SAFETY: the caller's promise; the functions are the program's.
            unsafe {
                (self.add)(shared, part);
                if let Some(end) = self.end {
                    end(part);
                }
                libc::free(part);
            }
        }
    }

    fn has(&self, place: *mut c_void) -> bool {
        self.parts.iter().any(|part| part.load(Ordering::Relaxed) == place)
    }
}

/// Variables whose parts one group or the groups of a team have.
struct Variables {
    all: Vec<Variable>,
    /// Groups that have ended.
    left: AtomicU32,
}

/// What a group reduces.
pub(crate) struct Reductions {
    variables: *const Variables,
    /// Where whoever has begun the group has them.
    shared: Vec<*mut c_void>,
    /// The construct of the team whose threads share the parts; null if it is one group's.
    share: *const Share,
}

/// The group that the running task has begun reduces this.
fn begin(member: &Member, group: &Group, said: Vec<Said>, is_team: bool) {
    let (all, shared): (Vec<_>, Vec<_>) = said.into_iter().unzip();
    let new = || Box::into_raw(Box::new(Variables { all, left: AtomicU32::new(0) }));
    let share = if is_team { member.meet() } else { ptr::null() };
    // SAFETY: a share lives until this thread has left it.
    let variables = match unsafe { share.as_ref() } {
        Some(share) => share.reductions.get(|| new().cast()).cast(),
        None => new(),
    };
    let reductions = Reductions { variables, shared, share };
    group.reductions.set(Box::into_raw(Box::new(reductions)));
}

/// A group ends, and no task is left in it.
pub(super) fn end(member: &Member, group: &Group) {
    let reductions = group.reductions.get();
    if reductions.is_null() {
        return;
    }
    // SAFETY: the group had them alone; the variables are there until all have left.
    unsafe {
        let Reductions { variables, shared, share } = *Box::from_raw(reductions);
        let (size, share) = (member.region().size, share.as_ref());
        let left = (*variables).left.fetch_add(1, Ordering::AcqRel) + 1;
        if share.is_none() || left == size {
            let variables = Box::from_raw(variables.cast_mut());
            for (variable, &shared) in variables.all.iter().zip(&shared) {
                variable.add_all(shared);
            }
        }
        if let Some(share) = share {
            share.leave(size);
        }
    }
}

/// The running thread's part of a variable.
fn find(member: &Member, group: Option<&Group>, place: *mut c_void) -> *mut c_void {
    for group in std::iter::successors(group, |group| group.outer()) {
        // SAFETY: they are the group's, and stay until it ends.
        let Some(reductions) = (unsafe { group.reductions.get().as_ref() }) else { continue };
        // SAFETY: as above.
        let all = unsafe { &(*reductions.variables).all };
        let mut both = all.iter().zip(&reductions.shared);
        let found = both.find(|(variable, shared)| **shared == place || variable.has(place));
        if let Some((variable, _)) = found {
            return variable.part(member.number);
        }
    }
    // A thread alone reduces right where the variable is.
    place
}

/// # Safety
/// There are as many inputs.
unsafe fn said<I>(
    member: &Member,
    number: i32,
    inputs: *const I,
    of: fn(&I, u32) -> Said,
) -> Vec<Said> {
    let number = usize::try_from(number).unwrap_or_default();
    // SAFETY: the caller's promise.
    let inputs = unsafe { slice::from_raw_parts(inputs, number) };
    inputs.iter().map(|input| of(input, member.region().size)).collect()
}

/// The group that was begun last reduces so many variables. Returns its name.
///
/// # Safety
/// Everything is as the compiler makes it.
unsafe fn init<I>(number: i32, inputs: *const I, of: fn(&I, u32) -> Said) -> *const Group {
    let member = member();
    let Some(group) = member.group() else { return ptr::null() };
    if member.region().size > 1 {
        // SAFETY: the caller's promise.
        begin(member, group, unsafe { said(member, number, inputs, of) }, false);
    }
    group
}

/// Each thread of the team begins a group, and all reduce the same variables.
///
/// # Safety
/// Everything is as the compiler makes it.
unsafe fn init_team<I>(number: i32, inputs: *const I, of: fn(&I, u32) -> Said) -> *const Group {
    let member = member();
    let group = Group::begin(member, true);
    if member.region().size > 1 {
        // SAFETY: the caller's promise.
        begin(member, group, unsafe { said(member, number, inputs, of) }, true);
    }
    group
}

/// The group that was begun last reduces so many variables. Returns its name.
///
/// # Safety
/// Everything is as the compiler makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskred_init(
    _thread: i32,
    number: i32,
    inputs: *const Input,
) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe { init(number, inputs, Variable::of_new).cast() }
}

/// The same, before clang 11.
///
/// # Safety
/// Everything is as the compiler makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_init(
    _thread: i32,
    number: i32,
    inputs: *const OldInput,
) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe { init(number, inputs, Variable::of_old).cast() }
}

/// The same for a team or the threads of a loop, with a group of its own.
///
/// # Safety
/// Everything is as the compiler makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskred_modifier_init(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
    number: i32,
    inputs: *const Input,
) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe { init_team(number, inputs, Variable::of_new).cast() }
}

/// The same, before clang 11.
///
/// # Safety
/// Everything is as the compiler makes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_modifier_init(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
    number: i32,
    inputs: *const OldInput,
) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe { init_team(number, inputs, Variable::of_old).cast() }
}

/// That group ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_modifier_fini(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
) {
    Group::end(member());
}

/// The running thread's part of a variable that a group reduces, or one around it.
///
/// # Safety
/// `group` is null or has a name that was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_get_th_data(
    _thread: i32,
    group: *const c_void,
    place: *mut c_void,
) -> *mut c_void {
    let member = member();
    // SAFETY: the caller's promise.
    let group = unsafe { group.cast::<Group>().as_ref() }.or_else(|| member.group());
    find(member, group, place)
}

//! Task reductions of clang's programs.
//!
//! Each thread gets a private copy when a task on the thread asks first. The end of the group
//! combines the copies. Where a whole team reduces (the `task` modifier), each thread has a group,
//! all groups share the copies, and the last thread to leave combines them.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::header::Group;
use crate::region::Member;
use crate::team::share::Share;
use crate::unsupported::abort_with;

/// Parts of several threads are not in one line of a cache.
const APART: usize = 128;

/// Of one thing that is reduced.
pub(super) type Of1 = unsafe extern "C" fn(*mut c_void);
/// Of two.
pub(super) type Of2 = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// How a part begins.
#[derive(Clone, Copy)]
pub(super) enum Begin {
    /// As zeros.
    Zeros,
    /// By itself.
    Alone(Of1),
    /// With a look at the original.
    From(Of2, *mut c_void),
}

/// One variable.
pub(super) struct Variable {
    bytes: usize,
    begin: Begin,
    end: Option<Of1>,
    add: Of2,
    /// One a thread; null until a task asks.
    parts: Box<[AtomicPtr<c_void>]>,
}

/// A variable, and its address in the task that begins the group.
pub(super) type Reduced = (Variable, *mut c_void);

impl Variable {
    pub(super) fn new(
        bytes: usize,
        begin: Begin,
        end: Option<Of1>,
        add: Of2,
        threads: u32,
    ) -> Self {
        let parts = (0..threads).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Self { bytes, begin, end, add, parts }
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
    /// No task uses the parts any more; `shared` is the variable that they are added to.
    unsafe fn add_all(&self, shared: *mut c_void) {
        for part in &self.parts {
            let part = part.swap(ptr::null_mut(), Ordering::Acquire);
            if part.is_null() {
                continue;
            }
            // SAFETY: no task uses the parts any more; `shared` is the variable that they are added
            // to; the functions are the program's.
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

/// The reductions of a group.
struct Reductions {
    variables: *const Variables,
    /// The variables' addresses in the task that has begun the group.
    shared: Vec<*mut c_void>,
    /// The construct of the team whose threads share the parts; null if it is one group's.
    share: *const Share,
}

/// The group that the running task has begun reduces this.
pub(super) fn begin(member: &Member, group: &Group, reduced: Vec<Reduced>, is_team: bool) {
    let (all, shared): (Vec<_>, Vec<_>) = reduced.into_iter().unzip();
    let new = || Box::into_raw(Box::new(Variables { all, left: AtomicU32::new(0) }));
    let share = if is_team { member.meet() } else { ptr::null() };
    // SAFETY: a share lives until this thread has left it.
    let variables = match unsafe { share.as_ref() } {
        Some(share) => share.reductions.get(|| new().cast()).cast(),
        None => new(),
    };
    let reductions = Reductions { variables, shared, share };
    group.reductions.set(Box::into_raw(Box::new(reductions)).cast());
}

/// A group without tasks ends.
pub(super) fn end(member: &Member, group: &Group) {
    let reductions = group.reductions.get().cast::<Reductions>();
    if reductions.is_null() {
        return;
    }
    // SAFETY: only this group had the pointer; the variables live until all groups have left.
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
pub(super) fn find(member: &Member, group: Option<&Group>, place: *mut c_void) -> *mut c_void {
    for group in std::iter::successors(group, |group| group.outer()) {
        // SAFETY: they are the group's, and stay until it ends.
        let Some(reductions) = (unsafe { group.reductions.get().cast::<Reductions>().as_ref() })
        else {
            continue;
        };
        // SAFETY: the variables stay until the group ends.
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

//! The dependences of a task, from its creation until it is submitted.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use evenkeel_runtime::Kind;
use evenkeel_runtime::internal::{Access, RangeAccess, Worker};

use crate::error::{Error, Result, code};
use crate::task::{CTask, Here};

/// `EKRT_WEAK`, beside one of the kinds.
const WEAK: c_int = 8;

/// `struct ekrt_dependence`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CDependence {
    address: *const c_void,
    kind: c_int,
}

/// A task's declaration of one address, or of one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependence {
    address: usize,
    /// Length of a range; 0 for an address.
    bytes: usize,
    kind: Kind,
    pub is_weak: bool,
}

impl Dependence {
    fn read(address: *const c_void, kind: c_int) -> Result<Self> {
        let is_weak = kind & WEAK > 0;
        let read = match kind & !WEAK {
            1 => Kind::Read,
            2 | 3 => Kind::Write,
            4 => Kind::Commutative,
            5 => Kind::Concurrent,
            _ => return Err(Error::Range("`kind`", kind as u64, "one of enum ekrt_kind")),
        };
        Ok(Self { address: address.addr(), bytes: 0, kind: read, is_weak })
    }

    fn read_range(address: *const c_void, bytes: usize, kind: c_int) -> Result<Self> {
        if kind & WEAK > 0 {
            return Err(Error::Range("`kind`", kind as u64, "one without EKRT_WEAK, of a range"));
        }
        Ok(Self { bytes, ..Self::read(address, kind)? })
    }

    /// The access to a range; none if the dependence declares an address.
    pub(crate) fn range(&self) -> Option<RangeAccess> {
        (self.bytes > 0).then(|| RangeAccess::new(self.address, self.bytes, self.kind))
    }

    /// One dependence in place of two on one address: different kinds become a write, and the
    /// result is weak only if both are.
    fn and(self, other: Self) -> Self {
        let kind = if self.kind == other.kind { self.kind } else { Kind::Write };
        Self { kind, is_weak: self.is_weak && other.is_weak, ..self }
    }

    pub(crate) fn access(&self) -> Access {
        if self.is_weak {
            Access::weak(self.address, self.kind)
        } else {
            Access::new(self.address, self.kind)
        }
    }

    /// An error unless a child of the running task may declare this.
    pub(crate) fn check(&self, here: &Here) -> Result<()> {
        // Ranges need no check: the parent keeps its own until its children have ended.
        let is_covered = self.bytes > 0 || here.task().raw().covers(&self.access());
        if is_covered { Ok(()) } else { Err(Error::Access(self.address)) }
    }
}

/// Dependences of an array.
///
/// # Safety
/// `first` points to `number` dependences.
pub(crate) unsafe fn read_all(first: *const CDependence, number: usize) -> Result<Vec<Dependence>> {
    if number > 0 && first.is_null() {
        return Err(Error::Null("`dependences`"));
    }
    let one = |n| {
        // SAFETY: `first` points to `number` dependences, and `n` is less.
        let CDependence { address, kind } = unsafe { *first.add(n) };
        Dependence::read(address, kind)
    };
    (0..number).map(one).collect()
}

/// The dependences of a task that is not submitted: this header and the list behind, in one block
/// of the worker's memory.
#[repr(C)]
pub(crate) struct Plan {
    number: usize,
    room: usize,
}

/// Dependences that fit with the header into the first block, of 192 bytes.
const ROOM_FIRST: usize = 7;

const _: () = assert!(Plan::bytes(ROOM_FIRST) <= 192);

impl Plan {
    const fn bytes(room: usize) -> usize {
        size_of::<Self>() + room * size_of::<Dependence>()
    }

    /// The plan of a task that is not submitted; null if the task has no dependence.
    pub(crate) fn of(task: &CTask) -> &Cell<*mut Self> {
        // SAFETY: until the task is submitted, `attached` is null or points to a plan.
        unsafe { &*ptr::from_ref(task.attached()).cast() }
    }

    fn new(worker: &Worker, room: usize) -> *mut Self {
        let plan = worker.allocate(Self::bytes(room)).cast::<Self>().as_ptr();
        // SAFETY: the block was just allocated, with `Self::bytes(room)` bytes, aligned.
        unsafe { plan.write(Self { number: 0, room }) };
        plan
    }

    /// # Safety
    /// `this` is null, or an initialised plan that no other reference reaches.
    pub(crate) unsafe fn all<'a>(this: *mut Self) -> &'a mut [Dependence] {
        // SAFETY: the plan is null or initialised, and `number` dependences were written behind.
        unsafe {
            match this.as_ref() {
                None => &mut [],
                Some(plan) => std::slice::from_raw_parts_mut(this.add(1).cast(), plan.number),
            }
        }
    }

    /// Gives the plan's block back.
    ///
    /// # Safety
    /// `this` is null, or an initialised plan that nothing uses any more.
    pub(crate) unsafe fn free(this: *mut Self, worker: &Worker) {
        if let Some(plan) = NonNull::new(this) {
            // SAFETY: nothing uses the plan; `new` allocated its block with this size.
            unsafe { worker.free(plan.cast(), Self::bytes(plan.as_ref().room)) };
        }
    }

    /// Adds a dependence; two on one address become one, see [`Dependence::and`].
    pub(crate) fn add(task: &CTask, worker: &Worker, new: Dependence) {
        let mut plan = Self::of(task).get();
        // SAFETY: a task's plan is null or initialised; only the creator's worker uses the plan and
        // its successor.
        unsafe {
            let is_same = |known: &&mut Dependence| {
                known.address == new.address && known.bytes == 0 && new.bytes == 0
            };
            let known = Self::all(plan).iter_mut().find(is_same);
            if let Some(known) = known {
                *known = known.and(new);
                return;
            }
            if plan.is_null() || (*plan).number == (*plan).room {
                let old = plan;
                let room = if old.is_null() { ROOM_FIRST } else { 2 * (*old).room + 1 };
                plan = Self::new(worker, room);
                let all = Self::all(old);
                ptr::copy_nonoverlapping(all.as_ptr(), plan.add(1).cast(), all.len());
                (*plan).number = all.len();
                Self::free(old, worker);
                Self::of(task).set(plan);
            }
            plan.add(1).cast::<Dependence>().add((*plan).number).write(new);
            (*plan).number += 1;
        }
    }
}

/// Declares how a task uses the data at an address.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_depend(task: *mut CTask, address: *const c_void, kind: c_int) -> c_int {
    code(Here::get().and_then(|here| {
        let task = here.task().created(task)?;
        let dependence = Dependence::read(address, kind)?;
        dependence.check(&here)?;
        // SAFETY: an unsubmitted task is alive, and only its creator uses the task.
        Plan::add(unsafe { &*task }, here.worker(), dependence);
        Ok(())
    }))
}

/// Declares how a task uses the `bytes` bytes that begin at an address.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_depend_region(
    task: *mut CTask,
    address: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    code(Here::get().and_then(|here| {
        let task = here.task().created(task)?;
        let dependence = Dependence::read_range(address, bytes, kind)?;
        if bytes > 0 {
            // SAFETY: an unsubmitted task is alive, and only its creator uses the task.
            Plan::add(unsafe { &*task }, here.worker(), dependence);
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: c_int) -> Dependence {
        Dependence::read(ptr::null(), kind).unwrap()
    }

    #[test]
    fn two_kinds_of_access_to_one_address_are_a_write() {
        assert_eq!(read(1).and(read(1)), read(1));
        assert_eq!(read(1).and(read(5)), read(3));
        assert_eq!(read(1 | WEAK).and(read(1)), read(1));
        assert_eq!(read(1 | WEAK).and(read(4 | WEAK)), read(3 | WEAK));
    }

    #[test]
    fn an_invalid_kind_is_refused() {
        for kind in [0, 6, 7, WEAK, 16, -1] {
            assert!(Dependence::read(ptr::null(), kind).is_err(), "{kind}");
        }
    }
}

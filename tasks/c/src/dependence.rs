//! What a task depends on, from its creation until it is submitted.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use evenkeel_runtime::Kind;
use evenkeel_runtime::internal::{Access, Region, Worker};

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

/// What a task says of one address, or of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependence {
    address: usize,
    /// Of a region; 0 where it is an address.
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

    fn read_region(address: *const c_void, bytes: usize, kind: c_int) -> Result<Self> {
        if kind & WEAK > 0 {
            return Err(Error::Range("`kind`", kind as u64, "one without EKRT_WEAK, of a region"));
        }
        Ok(Self { bytes, ..Self::read(address, kind)? })
    }

    /// What it says of a region, if it does.
    pub(crate) fn region(&self) -> Option<Region> {
        (self.bytes > 0).then(|| Region::new(self.address, self.bytes, self.kind))
    }

    /// What says both of the same address.
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

    /// An error unless a child of the running task may say this.
    pub(crate) fn check(&self, here: &Here) -> Result<()> {
        // What the task around says of regions it has until its children have ended.
        let is_covered = self.bytes > 0 || here.task().raw().covers(&self.access());
        if is_covered { Ok(()) } else { Err(Error::Access(self.address)) }
    }
}

/// Dependences of an array.
///
/// # Safety
/// There are `number` at `first`.
pub(crate) unsafe fn read_all(first: *const CDependence, number: usize) -> Result<Vec<Dependence>> {
    if number > 0 && first.is_null() {
        return Err(Error::Null("`dependences`"));
    }
    let one = |n| {
        // SAFETY: the caller's promise.
        let CDependence { address, kind } = unsafe { *first.add(n) };
        Dependence::read(address, kind)
    };
    (0..number).map(one).collect()
}

/// The dependences of a task that is not submitted: this, and the list behind it, in a block of the
/// worker's.
#[repr(C)]
pub(crate) struct Plan {
    number: usize,
    room: usize,
}

/// In a block of 192 bytes.
const ROOM_FIRST: usize = 7;

const _: () = assert!(Plan::bytes(ROOM_FIRST) <= 192);

impl Plan {
    const fn bytes(room: usize) -> usize {
        size_of::<Self>() + room * size_of::<Dependence>()
    }

    /// That of a task that is not yet submitted; null where nothing was said.
    pub(crate) fn of(task: &CTask) -> &Cell<*mut Self> {
        // SAFETY: until the task is submitted, the address that is attached is null or a plan's.
        unsafe { &*ptr::from_ref(task.attached()).cast() }
    }

    fn new(worker: &Worker, room: usize) -> *mut Self {
        let plan = worker.allocate(Self::bytes(room)).cast::<Self>().as_ptr();
        // SAFETY: the block is large enough, aligned and ours.
        unsafe { plan.write(Self { number: 0, room }) };
        plan
    }

    /// # Safety
    /// It is null, or a whole plan.
    pub(crate) unsafe fn all<'a>(this: *mut Self) -> &'a mut [Dependence] {
        // SAFETY: as many have been written behind it; the caller's promise.
        unsafe {
            match this.as_ref() {
                None => &mut [],
                Some(plan) => std::slice::from_raw_parts_mut(this.add(1).cast(), plan.number),
            }
        }
    }

    /// Gives back its block.
    ///
    /// # Safety
    /// It is null, or whole and not used any more.
    pub(crate) unsafe fn free(this: *mut Self, worker: &Worker) {
        if let Some(plan) = NonNull::new(this) {
            // SAFETY: the caller's promise.
            unsafe { worker.free(plan.cast(), Self::bytes(plan.as_ref().room)) };
        }
    }

    /// One more; who says two things of one address, writes it.
    pub(crate) fn add(task: &CTask, worker: &Worker, new: Dependence) {
        let mut plan = Self::of(task).get();
        // SAFETY: a task's plan is null or whole; nobody else uses it, nor the new one.
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

/// Says how a task uses the data at an address.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_depend(task: *mut CTask, address: *const c_void, kind: c_int) -> c_int {
    code(Here::get().and_then(|here| {
        let task = here.task().created(task)?;
        let dependence = Dependence::read(address, kind)?;
        dependence.check(&here)?;
        // SAFETY: it is alive, and the running task's alone.
        Plan::add(unsafe { &*task }, here.worker(), dependence);
        Ok(())
    }))
}

/// Says how a task uses so many bytes from an address on.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_depend_region(
    task: *mut CTask,
    address: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    code(Here::get().and_then(|here| {
        let task = here.task().created(task)?;
        let dependence = Dependence::read_region(address, bytes, kind)?;
        if bytes > 0 {
            // SAFETY: it is alive, and the running task's alone.
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
    fn who_says_two_things_of_an_address_writes_it() {
        assert_eq!(read(1).and(read(1)), read(1));
        assert_eq!(read(1).and(read(5)), read(3));
        assert_eq!(read(1 | WEAK).and(read(1)), read(1));
        assert_eq!(read(1 | WEAK).and(read(4 | WEAK)), read(3 | WEAK));
    }

    #[test]
    fn what_is_no_kind_is_refused() {
        for kind in [0, 6, 7, WEAK, 16, -1] {
            assert!(Dependence::read(ptr::null(), kind).is_err(), "{kind}");
        }
    }
}

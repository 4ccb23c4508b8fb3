//! Dependences, as compilers say them.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::Kind;
use evenkeel_runtime::internal::{Access, Task, Worker};
use smallvec::SmallVec;

use super::header::{Code, OmpTask};
use super::{Plan, When};
use crate::ompt;
use crate::region::Member;

/// The accesses of a task, mostly few.
pub(crate) type List = SmallVec<[Access; 4]>;

/// The dependences of a task.
#[derive(Clone, Copy)]
pub(crate) struct Dependences<'a> {
    pub all: &'a [Access],
    /// Room for [`Access::bytes_of`] them in the task's block, if the block has some left.
    pub room: Option<NonNull<u8>>,
}

impl<'a> Dependences<'a> {
    /// Nothing does.
    pub(crate) const NONE: Self = Self { all: &[], room: None };

    /// These do, for which the task's block has no room.
    pub(crate) fn apart(all: &'a [Access]) -> Self {
        Self { all, room: None }
    }

    /// Adds a task, which waits for its dependences.
    ///
    /// # Safety
    /// The task is whole and was not added before; this worker runs its creator, `orderer`.
    pub(super) unsafe fn submit(self, worker: &Worker, task: *mut Task, orderer: &Task) {
        let accesses = self.all.iter().copied();
        // SAFETY: the task is whole, `orderer` runs here, and the room is in the task's block.
        unsafe {
            match self.room {
                Some(room) => worker.submit_ordered_in(room, task, orderer, accesses),
                None => worker.submit_ordered(task, orderer, accesses),
            }
        }
    }
}

/// `kmp_depend_info_t`: clang's dependence on one address.
#[repr(C)]
pub(crate) struct KmpDependence {
    address: usize,
    bytes: usize,
    kind: u8,
}

/// The address by which gcc names all memory.
const ALL: usize = 0;
/// clang's.
const KMP_ALL: usize = usize::MAX;
/// All memory in [`KmpDependence::kind`].
const KMP_ALL_KIND: u8 = 0x80;
/// `in` in [`KmpDependence::kind`].
const KMP_IN: u8 = 1;
/// `mutexinoutset`.
const KMP_MUTEXINOUTSET: u8 = 4;
/// `inoutset`.
const KMP_INOUTSET: u8 = 8;

/// How gcc's programs name kinds, in `depobj`s: `GOMP_DEPEND_IN`.
const GOMP_IN: usize = 1;
/// `GOMP_DEPEND_MUTEXINOUTSET`.
const GOMP_MUTEXINOUTSET: usize = 4;
/// `GOMP_DEPEND_INOUTSET`.
const GOMP_INOUTSET: usize = 5;

/// The dependences of a child of the running task, from clang's lists.
///
/// # Safety
/// `first` has `number` entries, and `more` has `number_more`.
pub(crate) unsafe fn of_kmp(
    member: &Member,
    (number, first): (i32, *const KmpDependence),
    (number_more, more): (i32, *const KmpDependence),
) -> List {
    let mut all = List::new();
    // SAFETY: `first` has `number` entries, and `more` has `number_more`.
    unsafe {
        read_kmp(&mut all, first, number);
        read_kmp(&mut all, more, number_more);
    }
    ordered(member, all)
}

/// # Safety
/// `first` has `number` entries.
unsafe fn read_kmp(all: &mut List, first: *const KmpDependence, number: i32) {
    let number = usize::try_from(number).unwrap_or_default();
    if number == 0 || first.is_null() {
        return;
    }
    // SAFETY: `first` has `number` entries.
    let said = unsafe { std::slice::from_raw_parts(first, number) };
    all.extend(said.iter().map(|one| match (one.address, one.kind) {
        (KMP_ALL, _) | (_, KMP_ALL_KIND) => Access::new(ALL, Kind::Write),
        (address, KMP_IN) => Access::new(address, Kind::Read),
        (address, KMP_INOUTSET) => Access::new(address, Kind::Concurrent),
        (address, KMP_MUTEXINOUTSET) => Access::new(address, Kind::Commutative),
        (address, _) => Access::new(address, Kind::Write),
    }));
}

/// The dependences of a child of the running task, from gcc's list.
///
/// # Safety
/// `list` is gcc's list of dependences: the number of addresses and of writers, then the addresses,
/// the writers first; or a zero, then the numbers of all addresses, of writers, of `mutexinoutset`
/// and of readers, then the addresses in this order, then `depobj`s.
pub(crate) unsafe fn of_gomp(member: &Member, list: *const *mut c_void) -> List {
    // SAFETY: `list` is gcc's list of dependences.
    ordered(member, unsafe { read_gomp(list) })
}

/// # Safety
/// `list` is gcc's list of dependences: the number of addresses and of writers, then the addresses,
/// the writers first; or a zero, then the numbers of all addresses, of writers, of `mutexinoutset`
/// and of readers, then the addresses in this order, then `depobj`s.
unsafe fn read_gomp(list: *const *mut c_void) -> List {
    // SAFETY: `list` is gcc's list of dependences.
    let at = |place: usize| unsafe { (*list.add(place)).addr() };
    let new = |(place, kind): (usize, Kind)| Access::new(at(place), kind);
    let (all, writers) = (at(0), at(1));
    if all > 0 {
        let kind = |n| if n < writers { Kind::Write } else { Kind::Read };
        return (0..all).map(|n| new((n + 2, kind(n)))).collect();
    }
    if at(1) == 0 {
        // No address at all: the list is short.
        return List::new();
    }
    let (all, writers, mutexes, readers) = (at(1), at(2), at(3), at(4));
    let kinds = [(writers, Kind::Write), (mutexes, Kind::Commutative), (readers, Kind::Read)];
    let kinds = kinds.into_iter().flat_map(|(number, kind)| std::iter::repeat_n(kind, number));
    let mut found: List = (5..).zip(kinds).map(new).collect();
    for object in (found.len()..all).map(|n| at(n + 5)) {
        // SAFETY: `list` is gcc's list of dependences.
        found.push(unsafe { read_object(std::ptr::with_exposed_provenance(object)) });
    }
    found
}

/// The dependences of a child of the running task, from pointers to `depobj`s. Only gcc's programs
/// pass such to a function.
///
/// # Safety
/// `first` has `number` entries.
pub(crate) unsafe fn of_objects(member: &Member, first: *const *const c_void, number: i32) -> List {
    let number = usize::try_from(number).unwrap_or_default();
    if number == 0 || first.is_null() {
        return List::new();
    }
    // SAFETY: `first` has `number` entries.
    let all = unsafe {
        let objects = std::slice::from_raw_parts(first, number);
        objects.iter().map(|object| read_object(object.cast())).collect()
    };
    ordered(member, all)
}

/// # Safety
/// `object` points to an address and a kind.
unsafe fn read_object(object: *const [usize; 2]) -> Access {
    // SAFETY: `object` points to an address and a kind.
    let [address, kind] = unsafe { *object };
    let kind = match kind {
        GOMP_IN => Kind::Read,
        GOMP_INOUTSET => Kind::Concurrent,
        GOMP_MUTEXINOUTSET => Kind::Commutative,
        _ => Kind::Write,
    };
    Access::new(address, kind)
}

/// Keeps one access for each address: a task that accesses an address in two ways writes there.
fn merge(all: &mut List) {
    let mut kept = 0;
    for next in 0..all.len() {
        let one = all[next];
        match all[..kept].iter_mut().find(|other| other.address() == one.address()) {
            Some(other) if other.kind() == one.kind() => {}
            Some(other) => *other = Access::new(one.address(), Kind::Write),
            None => {
                all[kept] = one;
                kept += 1;
            }
        }
    }
    all.truncate(kept);
}

/// The dependences of the next child of the running task, with those on all memory resolved.
///
/// The first child that depends on all memory writes every address that was accessed before, and a
/// place that stands for the rest; each later child reads that place.
fn ordered(member: &Member, mut all: List) -> List {
    if all.is_empty() {
        return all;
    }
    merge(&mut all);
    if all.iter().any(|one| one.address() == ALL) {
        all.clear();
        let creator = member.task();
        if !creator.orders_all.replace(true) {
            // SAFETY: this worker runs the creator.
            let others = unsafe { member.worker().addresses(creator.raw()) };
            all.extend(others.into_iter().map(|address| Access::new(address, Kind::Write)));
        }
        all.push(Access::new(ALL, Kind::Write));
    } else if !member.runs_inlined() && member.task_with_header().orders_all.get() {
        all.push(Access::new(ALL, Kind::Read));
    }
    all
}

/// Waits until a task that is ordered by these could run.
pub(crate) fn wait(member: &Member, all: &[Access]) {
    if ompt::is_on() && !all.is_empty() {
        return ompt::taskwait_depends(all, || wait_without_ompt(member, all));
    }
    wait_without_ompt(member, all);
}

/// Waits until a task with these dependences could run, without a report to a tool: the task
/// reports itself.
pub(super) fn wait_without_ompt(member: &Member, all: &[Access]) {
    if all.is_empty() || member.runs_inlined() {
        return;
    }
    let (worker, task) = (member.worker(), member.task());
    // SAFETY: this worker runs the task.
    if unsafe { worker.are_free(task.raw(), all) } {
        return;
    }
    let may_go_on = AtomicBool::new(false);
    let says = OmpTask::create(member, &Plan { bytes: 0, is_final: false });
    // A commutative access of this task would end before the waiting code begins: so the task
    // writes.
    let alone = all.iter().map(|one| match one.kind() {
        Kind::Commutative => Access::new(one.address(), Kind::Write),
        _ => *one,
    });
    // SAFETY: the task is whole, and sets the flag before this function returns.
    unsafe {
        (*says).code.set(Code::SetsFlag(&raw const may_go_on));
        (*(*says).raw().parent()).creates();
        worker.submit_ordered(says.cast(), task.raw(), alone);
    }
    worker.run_descendants_until(task.raw(), || may_go_on.load(Ordering::Acquire));
}

/// Adds a task that is ordered by these and does nothing.
pub(crate) fn add_nothing(member: &Member, all: &[Access]) {
    let nothing = OmpTask::create(member, &Plan { bytes: 0, is_final: false });
    // SAFETY: the task is whole.
    unsafe { OmpTask::submit(nothing, member, Dependences::apart(all), When::Any) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(all: &[Access]) -> Vec<(usize, Kind)> {
        all.iter().map(|one| (one.address(), one.kind())).collect()
    }

    #[test]
    fn to_read_and_write_an_address_is_a_write() {
        let all = [(1, Kind::Read), (2, Kind::Read), (1, Kind::Write), (2, Kind::Read)];
        let mut all: List = all.into_iter().map(|(at, kind)| Access::new(at, kind)).collect();
        merge(&mut all);
        assert_eq!(said(&all), [(1, Kind::Write), (2, Kind::Read)]);
    }

    #[test]
    fn both_lists_of_gcc_are_understood() {
        let pointer = std::ptr::with_exposed_provenance_mut::<c_void>;
        let old = [3, 1, 10, 20, 30].map(pointer);
        let object = [40_usize, GOMP_IN];
        let object = (&raw const object).expose_provenance();
        let new = [0, 4, 1, 1, 1, 10, 20, 30, object].map(pointer);
        // SAFETY: both are as said.
        let (old, new) = unsafe { (read_gomp(old.as_ptr()), read_gomp(new.as_ptr())) };
        assert_eq!(said(&old), [(10, Kind::Write), (20, Kind::Read), (30, Kind::Read)]);
        let writers = [(10, Kind::Write), (20, Kind::Commutative)];
        assert_eq!(said(&new), [writers[0], writers[1], (30, Kind::Read), (40, Kind::Read)]);
    }
}

//! Dependences, as compilers say them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::Kind;
use evenkeel_runtime::raw::Access;

use super::{Code, OmpTask, Plan};
use crate::region::Member;

/// What a task says of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependence {
    pub address: usize,
    pub kind: Kind,
}

/// `kmp_depend_info_t`: what clang's programs say of one address.
#[repr(C)]
pub(crate) struct KmpDependence {
    address: usize,
    bytes: usize,
    kind: u8,
}

/// The address of all memory; gcc says it so.
const ALL: usize = 0;
/// clang's.
const KMP_ALL: usize = usize::MAX;
/// The same in [`KmpDependence::kind`].
const KMP_ALL_KIND: u8 = 0x80;
/// `in` in [`KmpDependence::kind`].
const KMP_IN: u8 = 1;
/// `mutexinoutset`.
const KMP_TURN: u8 = 4;
/// `inoutset`.
const KMP_SET: u8 = 8;

/// How gcc's programs name kinds, in `depobj`s: `GOMP_DEPEND_IN`.
const GOMP_IN: usize = 1;
/// `GOMP_DEPEND_MUTEXINOUTSET`.
const GOMP_TURN: usize = 4;
/// `GOMP_DEPEND_INOUTSET`.
const GOMP_SET: usize = 5;

impl Dependence {
    fn new(address: usize, kind: Kind) -> Self {
        Self { address, kind }
    }

    /// # Safety
    /// There are `number` at `first`.
    pub(crate) unsafe fn of_kmp(first: *const KmpDependence, number: i32) -> Vec<Self> {
        let number = usize::try_from(number).unwrap_or_default();
        if number == 0 || first.is_null() {
            return Vec::new();
        }
        // SAFETY: the caller's promise.
        let all = unsafe { std::slice::from_raw_parts(first, number) };
        let read = |one: &KmpDependence| match (one.address, one.kind) {
            (KMP_ALL, _) | (_, KMP_ALL_KIND) => Self::new(ALL, Kind::Write),
            (address, KMP_IN) => Self::new(address, Kind::Read),
            (address, KMP_SET) => Self::new(address, Kind::Concurrent),
            (address, KMP_TURN) => Self::new(address, Kind::Commutative),
            (address, _) => Self::new(address, Kind::Write),
        };
        all.iter().map(read).collect()
    }

    /// # Safety
    /// `list` is as libgomp takes it: first how many there are and how many of them write, then
    /// their addresses, the writers first; or a zero first, then how many there are, write, take
    /// turns and read, then the addresses in this order, then `depobj`s.
    pub(crate) unsafe fn of_gomp(list: *const *mut c_void) -> Vec<Self> {
        // SAFETY: the caller's promise.
        let at = |place: usize| unsafe { (*list.add(place)).addr() };
        let new = |(place, kind): (usize, Kind)| Self::new(at(place), kind);
        let (all, writers) = (at(0), at(1));
        if all > 0 {
            let kind = |n| if n < writers { Kind::Write } else { Kind::Read };
            return (0..all).map(|n| new((n + 2, kind(n)))).collect();
        }
        if at(1) == 0 {
            // No address at all: the list is short.
            return Vec::new();
        }
        let (all, writers, turns, readers) = (at(1), at(2), at(3), at(4));
        let kinds = [(writers, Kind::Write), (turns, Kind::Commutative), (readers, Kind::Read)];
        let kinds = kinds.into_iter().flat_map(|(number, kind)| std::iter::repeat_n(kind, number));
        let mut found: Vec<Self> = (5..).zip(kinds).map(new).collect();
        for object in (found.len()..all).map(|n| at(n + 5)) {
            // SAFETY: the caller's promise.
            found.push(unsafe { Self::of_object(std::ptr::with_exposed_provenance(object)) });
        }
        found
    }

    /// # Safety
    /// There are `number` pointers at `first`, each to a `depobj`: of gcc's programs, which alone
    /// pass some to a function.
    pub(crate) unsafe fn of_objects(first: *const *const c_void, number: i32) -> Vec<Self> {
        let number = usize::try_from(number).unwrap_or_default();
        if number == 0 || first.is_null() {
            return Vec::new();
        }
        // SAFETY: the caller's promise.
        unsafe {
            let objects = std::slice::from_raw_parts(first, number);
            objects.iter().map(|object| Self::of_object(object.cast())).collect()
        }
    }

    /// # Safety
    /// An object is an address and a kind.
    unsafe fn of_object(object: *const [usize; 2]) -> Self {
        // SAFETY: the caller's promise.
        let [address, kind] = unsafe { *object };
        let kind = match kind {
            GOMP_IN => Kind::Read,
            GOMP_SET => Kind::Concurrent,
            GOMP_TURN => Kind::Commutative,
            _ => Kind::Write,
        };
        Self::new(address, kind)
    }

    /// One for each address: who says two things of one, writes it.
    fn merged(mut all: Vec<Self>) -> Vec<Self> {
        let mut kept = 0;
        for next in 0..all.len() {
            let one = all[next];
            match all[..kept].iter_mut().find(|other| other.address == one.address) {
                Some(other) if other.kind == one.kind => {}
                Some(other) => other.kind = Kind::Write,
                None => {
                    all[kept] = one;
                    kept += 1;
                }
            }
        }
        all.truncate(kept);
        all
    }
}

/// What the next child of the running task is ordered by.
///
/// The first that depends on all memory writes whatever others have accessed, and a place that
/// stands for the rest; each later one reads that.
pub(crate) fn ready(member: &Member, all: Vec<Dependence>) -> Vec<Dependence> {
    if all.is_empty() {
        return all;
    }
    let creator = member.task();
    let mut all = Dependence::merged(all);
    if all.iter().any(|one| one.address == ALL) {
        all.clear();
        if !creator.orders_all.replace(true) {
            // SAFETY: this worker runs the creator.
            let others = unsafe { member.worker().addresses(creator.raw()) };
            all.extend(others.into_iter().map(|address| Dependence::new(address, Kind::Write)));
        }
        all.push(Dependence::new(ALL, Kind::Write));
    } else if creator.orders_all.get() {
        all.push(Dependence::new(ALL, Kind::Read));
    }
    all
}

/// The same for the runtime.
pub(crate) fn accesses(all: &[Dependence]) -> impl ExactSizeIterator<Item = Access> {
    all.iter().map(|one| Access::new(one.address, one.kind))
}

/// Waits until a task with these dependences could run.
pub(crate) fn wait(member: &Member, all: Vec<Dependence>) {
    wait_for(member, &ready(member, all));
}

/// Waits until a task that is ordered by these could run.
pub(crate) fn wait_for(member: &Member, all: &[Dependence]) {
    if all.is_empty() {
        return;
    }
    let (worker, task) = (member.worker(), member.task());
    let accesses_now: Vec<Access> = accesses(all).collect();
    // SAFETY: this worker runs the task.
    if unsafe { worker.are_free(task.raw(), &accesses_now) } {
        return;
    }
    let may_go_on = AtomicBool::new(false);
    let says = OmpTask::create(member, &Plan { bytes: 0, is_final: false });
    // SAFETY: it is whole, and says so before this returns.
    unsafe {
        (*says).code.set(Code::Says(&raw const may_go_on));
        (*(*says).raw().parent()).creates();
        worker.submit_ordered(says.cast(), task.raw(), accesses(all));
    }
    worker.run_descendants_until(task.raw(), || may_go_on.load(Ordering::Acquire));
}

/// Adds a task with these dependences that does nothing.
pub(crate) fn add_nothing(member: &Member, all: Vec<Dependence>) {
    let nothing = OmpTask::create(member, &Plan { bytes: 0, is_final: false });
    // SAFETY: it is whole.
    unsafe { OmpTask::submit(nothing, member, all, true) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_and_writes_an_address_writes_it() {
        let all = [(1, Kind::Read), (2, Kind::Read), (1, Kind::Write), (2, Kind::Read)];
        let all = all.map(|(address, kind)| Dependence::new(address, kind)).to_vec();
        let expected = [(1, Kind::Write), (2, Kind::Read)];
        let expected = expected.map(|(address, kind)| Dependence::new(address, kind));
        assert_eq!(Dependence::merged(all), expected);
    }

    #[test]
    fn both_lists_of_gcc_are_understood() {
        let pointer = std::ptr::with_exposed_provenance_mut::<c_void>;
        let old = [3, 1, 10, 20, 30].map(pointer);
        let object = [40_usize, GOMP_IN];
        let object = (&raw const object).expose_provenance();
        let new = [0, 4, 1, 1, 1, 10, 20, 30, object].map(pointer);
        // SAFETY: both are as said.
        let (old, new) =
            unsafe { (Dependence::of_gomp(old.as_ptr()), Dependence::of_gomp(new.as_ptr())) };
        let said = |all: &[(usize, Kind)]| -> Vec<Dependence> {
            all.iter().map(|&(address, kind)| Dependence::new(address, kind)).collect()
        };
        assert_eq!(old, said(&[(10, Kind::Write), (20, Kind::Read), (30, Kind::Read)]));
        let writers = [(10, Kind::Write), (20, Kind::Commutative)];
        assert_eq!(new, said(&[writers[0], writers[1], (30, Kind::Read), (40, Kind::Read)]));
    }
}

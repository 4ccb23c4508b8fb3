//! Dependences: in which order siblings touch the same data.
//!
//! The accesses of siblings to one address form a chain, in the order of creation. Two tokens go
//! down the chain. An access has [`ALLOWED`] when everything before it that it conflicts with has
//! ended: then its task may run. It has [`ALONE`] when everything before it has ended, whatever
//! it was. An access that has ended passes both on; one that has not yet passes `ALLOWED` on to a
//! next one of the same kind, if that kind shares. Every step is one atomic operation on the
//! state of one access, so that a dependence costs the same however many there are, and no lock.
//! (Tokens on a chain of accesses: Álvarez, Sala, Marí, Roca, Beltran, PPoPP 2021.)
//!
//! Only the parent's worker adds to chains, and so the [`Table`] of its children's addresses is its
//! own.
//!
//! The children of a task that accesses the same address form a chain *inside* that access: it
//! begins when the access is allowed, and the access ends when its task's code and this chain
//! have ended (OmpSs-2's nested domains and early release). An access may be *weak*: then the
//! task itself does not touch the data, and need not wait for it; only its children do.

#[cfg(all(test, loom))]
mod explored;
mod flow;
mod regions;
mod table;
mod turns;

use std::cell::Cell;
use std::ptr::{self, NonNull};

use flow::{Flow, Step};
pub use regions::Region;
pub(crate) use table::Table;
pub(crate) use turns::Turns;

use crate::ready::Run;
use crate::sync::{AtomicU16, AtomicU32, Ordering, prefetch};
use crate::task::Task;

/// All that it conflicts with has ended.
const ALLOWED: u16 = 1;
/// All before it has ended.
const ALONE: u16 = 2;
/// Its task has ended.
const ENDED: u16 = 4;
/// Its successor is known, or that it will have none.
const LINKED: u16 = 8;
/// The successor shares with it.
const SHARES: u16 = 16;
/// The successor is not the next of the chain, but the access around it.
const LAST_INSIDE: u16 = 32;
/// There is a chain inside it, which waits for it to be allowed.
const CHILD: u16 = 64;
/// Whoever allowed it has let the next one know of it. Only then can a weak access pass anything
/// on; one that is not weak cannot anyway, since its task has not run before.
const ARRIVED: u16 = 128;
/// What follows is two: the next, and its `child`. See [`regions`].
const FORK: u16 = 256;
/// What whoever completes it passes on.
const BOTH: u16 = ALLOWED | ALONE;
/// It has nothing more to wait for.
const PASSED: u16 = ALONE | ENDED | ARRIVED;

/// A property of an access: only its task's children touch the data.
const WEAK: u8 = 1;
/// It is to a part of a region: that ends when its task's descendants have, and holds no chain.
const PART: u8 = 2;
/// A chain inside it goes on after its task's code; known when that has ended.
const GOES_ON_INSIDE: u8 = 4;

/// How a task uses data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It reads: `in`.
    Read,
    /// It writes, and may read: `out`, `inout`.
    Write,
    /// It writes beside others that say so too, and sees to it itself: `concurrent`.
    Concurrent,
    /// It writes before or after others that say so too, in any order: `commutative`.
    Commutative,
}

impl Kind {
    /// Whether accesses of this kind are allowed together.
    fn shares(self) -> bool {
        self != Self::Write
    }

    /// Whether they run beside each other then.
    fn overlaps(self) -> bool {
        self.shares() && self != Self::Commutative
    }
}

/// One address that a task accesses.
///
/// It lies among others of its task, two on a cache line.
pub struct Access {
    state: AtomicU16,
    kind: Kind,
    /// [`WEAK`], [`PART`], [`GOES_ON_INSIDE`].
    properties: Cell<u8>,
    /// Accesses of the same task before it.
    number: Cell<u32>,
    address: usize,
    /// The next on the chain; null with `LINKED` if there will be none.
    next: Cell<*const Access>,
    /// The first of the chain inside it that waits for it.
    child: Cell<*const Access>,
}

impl Access {
    /// Of a task that is about to be created.
    #[must_use]
    pub fn new(address: usize, kind: Kind) -> Self {
        Self::with(address, kind, false)
    }

    /// The same where only the task's children touch the data.
    #[must_use]
    pub fn weak(address: usize, kind: Kind) -> Self {
        Self::with(address, kind, true)
    }

    /// To a part of a region.
    pub(crate) fn part(address: usize, kind: Kind, is_weak: bool) -> Self {
        let access = Self::with(address, kind, is_weak);
        access.gets(PART);
        access
    }

    fn with(address: usize, kind: Kind, is_weak: bool) -> Self {
        Self {
            state: AtomicU16::new(if is_weak { 0 } else { ARRIVED }),
            kind,
            properties: Cell::new(if is_weak { WEAK } else { 0 }),
            number: Cell::new(0),
            address,
            next: Cell::new(ptr::null()),
            child: Cell::new(ptr::null()),
        }
    }

    /// The same, of another task.
    pub(crate) fn again(&self) -> Self {
        Self::with(self.address, self.kind, self.is(WEAK))
    }

    fn is(&self, property: u8) -> bool {
        self.properties.get() & property != 0
    }

    fn gets(&self, property: u8) {
        self.properties.set(self.properties.get() | property);
    }

    /// Whether its task waits for its turn: where only children touch the data, they do.
    fn takes_turns(&self) -> bool {
        self.kind == Kind::Commutative && !self.is(WEAK)
    }

    /// # Panics
    /// Two of them are to the same address, and conflict: their task would wait for itself.
    pub(crate) fn assert_distinct(all: &[Self]) {
        for (number, one) in all.iter().enumerate() {
            let twice = all[..number].iter().any(|other| {
                other.address == one.address && !(one.kind == other.kind && one.kind.overlaps())
            });
            assert!(!twice, "a task uses the same data twice, and not only to read it");
        }
    }
}

/// The accesses of one task, in its block.
#[repr(C)]
pub(crate) struct Accesses {
    task: *const Task,
    /// Accesses without `ALLOWED` that are not weak, and one while they are being added.
    missing: AtomicU32,
    /// Accesses that others may still reach, and one for the task until it ends.
    held: AtomicU32,
    /// How many there are, right behind this.
    number: u32,
    /// Bytes of the block of their own that they begin; 0 where they are part of the task's.
    bytes: u32,
    /// What the task runs when it has its turn, where it takes turns.
    pub(crate) in_turn: Cell<Option<Run>>,
}

/// What a step leaves to be done, by whoever did the step.
pub(crate) trait Then {
    /// The task may run.
    fn ready(&self, task: *const Task);
    /// Nothing refers to the block any more, and its task has ended.
    fn free(&self, task: *const Task);
    /// A block of so many bytes, for accesses that belong to no task.
    fn block(&self, bytes: usize) -> NonNull<u8>;
    /// Nothing refers to such a block any more.
    ///
    /// # Safety
    /// It came from `block`, with as many bytes.
    unsafe fn free_block(&self, block: NonNull<u8>, bytes: usize);
}

impl Accesses {
    /// # Safety
    /// It is put in front of `number` accesses that live as long as the task's block.
    pub(crate) unsafe fn new(task: *const Task, number: u32, bytes: u32) -> Self {
        let (missing, held) = (AtomicU32::new(number + 1), AtomicU32::new(number + 1));
        Self { task, missing, held, number, bytes, in_turn: Cell::new(None) }
    }

    /// Accesses without a task: nobody waits to be told of them, and nobody else holds them.
    ///
    /// # Safety
    /// As of [`Accesses::new`]; the block has so many bytes.
    unsafe fn of_fork(number: u32, bytes: usize) -> Self {
        let bytes = u32::try_from(bytes).expect("a fork is small");
        // SAFETY: the caller's promise.
        let accesses = unsafe { Self::new(ptr::null(), number, bytes) };
        Self { held: AtomicU32::new(number), ..accesses }
    }

    /// Bytes of their own block; 0 where they are part of the task's.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Whether the task takes turns with others.
    pub(crate) fn take_turns(&self) -> bool {
        self.all().iter().any(Access::takes_turns)
    }

    fn all(&self) -> &[Access] {
        let first = ptr::from_ref(self).expose_provenance() + size_of::<Self>();
        // SAFETY: the promise of `new`; both are in one block.
        unsafe {
            std::slice::from_raw_parts(ptr::with_exposed_provenance(first), self.number as usize)
        }
    }

    /// The access to an address, if there is one.
    fn to(&self, address: usize) -> Option<&Access> {
        self.all().iter().find(|access| access.address == address && !access.is(PART))
    }

    /// # Panics
    /// A child of the task uses an address in a way that the task did not say.
    pub(crate) fn assert_covers(&self, all: &[Access]) {
        let is_covered = all.iter().all(|access| self.covers(access));
        assert!(is_covered, "a task uses data in a way that the task around it did not say");
    }

    /// Whether a child of the task may access data in this way. Where the task itself has its
    /// turn, a child would wait for that, and perhaps the task for the child.
    pub(crate) fn covers(&self, access: &Access) -> bool {
        let covers = |outer: &Access| {
            outer.kind == Kind::Write || outer.kind == access.kind && !outer.takes_turns()
        };
        self.to(access.address).is_none_or(covers)
    }

    /// Adds them to the chains of the parent's table, of which it has planned the parts of regions,
    /// which are the last of them. Returns whether the task may run at once; if
    /// not, it is [`Then::ready`] some time later. `around` are the parent's own, where the chains
    /// of its children lie inside them.
    ///
    /// # Safety
    /// Only the parent's worker may call it, once, when the block is in its place.
    pub(crate) unsafe fn add_to(
        &self,
        table: &mut Table,
        around: Option<&Self>,
        then: &impl Then,
    ) -> bool {
        let mut allowed = 1;
        if self.number > 1 {
            table.fetch(self.all());
        }
        (0..).zip(self.all()).for_each(|(number, access)| access.number.set(number));
        let (pieces, all) = (table.pieces(), self.all());
        let (plain, parts) = all.split_at(all.len() - pieces);
        for access in plain {
            // SAFETY: accesses in the table are held until they are replaced here.
            let is_allowed = unsafe {
                match table.replace(access, then) {
                    Some(last) => access.follow(&*last, then),
                    None => access.begin(around.and_then(|around| around.to(access.address))),
                }
            };
            allowed += u32::from(is_allowed || access.is(WEAK));
        }
        for access in parts.iter().rev() {
            // SAFETY: the caller's promise.
            allowed += u32::from(unsafe { table.add_piece(access, then) });
        }
        if allowed == self.number + 1 {
            return true;
        }
        // Pairs with `allow`: what tasks before it wrote is seen by the task.
        self.missing.fetch_sub(allowed, Ordering::AcqRel) == allowed
    }

    /// Whether a task with these accesses could run and end now, so that nobody needs to know of
    /// it.
    pub(crate) fn are_free(accesses: &[Access], table: &Table, around: Option<&Self>) -> bool {
        // Pairs with whoever allows it or passes on, as above.
        let state = |access: &Access| access.state.load(Ordering::Acquire);
        accesses.iter().all(|access| match table.last(access.address) {
            // Its children come where it would have come.
            _ if access.is(WEAK) => true,
            Some(last) => {
                let overlaps = last.kind == access.kind && last.kind.overlaps();
                state(last) & PASSED == PASSED || overlaps && state(last) & ALLOWED != 0
            }
            None => around
                .and_then(|around| around.to(access.address))
                .is_none_or(|outer| state(outer) & ALLOWED != 0),
        })
    }

    /// Begins to fetch what follows the task, which is with whoever created that: to wait for one
    /// is to wait for all.
    pub(crate) fn fetch(&self) {
        // Pairs with `follow`.
        let is_linked = |access: &&Access| access.state.load(Ordering::Acquire) & LINKED != 0;
        self.all().iter().filter(is_linked).for_each(|access| prefetch(access.next.get()));
    }

    /// The task's code has ended; the chains inside that go on have been told. Returns how many
    /// accesses others cannot reach any more; they are to be let go of, and so is the task, when it
    /// is complete. What it has of regions ends then too.
    ///
    /// # Safety
    /// The task has run, and this is called once.
    pub(crate) unsafe fn end(&self, then: &impl Then, is_complete: bool) -> u32 {
        let ends =
            |access: &&Access| !access.is(GOES_ON_INSIDE) && (is_complete || !access.is(PART));
        // SAFETY: the caller's promise.
        unsafe { self.end_some(ends, then) }
    }

    /// The same when the task's descendants have ended, which had not then.
    ///
    /// # Safety
    /// It is called once, after `end` was told that they had not.
    pub(crate) unsafe fn end_late(&self, then: &impl Then) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.end_some(|access| access.is(PART), then) }
    }

    /// # Safety
    /// The task has run, and each access ends once.
    #[inline]
    unsafe fn end_some(&self, ends: impl Fn(&&Access) -> bool, then: &impl Then) -> u32 {
        let mut passed = 0;
        let mut flow = Flow::default();
        self.fetch();
        for access in self.all().iter().filter(ends) {
            if access.ends() {
                passed += 1;
                // SAFETY: what it passes on to is held until it has been passed on from in turn.
                unsafe { flow.take(access.passes(), then) };
            }
        }
        passed
    }

    /// As many accesses as there are.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Some accesses cannot be reached any more, or the task is gone. Returns whether that was the
    /// last that held the block.
    pub(crate) fn let_go(&self, number: u32) -> bool {
        self.held.fetch_sub(number, Ordering::AcqRel) == number
    }

    /// One more access is allowed.
    fn allow(&self, then: &impl Then) {
        // Pairs with itself: what tasks before it wrote is seen by the task.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            then.ready(self.task);
        }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Access>() == 32 && size_of::<Accesses>() == 32, "half a line");

impl Access {
    /// All of its task.
    fn of(&self) -> *const Accesses {
        let before = self.number.get() as usize * size_of::<Self>() + size_of::<Accesses>();
        ptr::with_exposed_provenance(ptr::from_ref(self).addr() - before)
    }

    /// Takes a step, for the first time; returns whether that was the last that was missing for it
    /// to pass everything on: whoever is told so does it.
    fn reaches(&self, step: u16) -> bool {
        // Pairs with itself: who completes it sees what all others wrote. (To add is one
        // instruction; to set bits and be told of those before is a loop.)
        let before = self.state.fetch_add(step, Ordering::AcqRel);
        debug_assert!(before & step == 0, "a step is taken once");
        let all = PASSED | LINKED;
        before & all != all && (before | step) & all == all
    }

    /// Its task has ended, as [`Access::reaches`].
    fn ends(&self) -> bool {
        const LAST: u16 = (PASSED | LINKED) & !ENDED;
        // Where nothing else is missing, nobody else will look: to write it down is for nobody.
        // Pairs with whoever took the other steps.
        self.state.load(Ordering::Acquire) & LAST == LAST || self.reaches(ENDED)
    }

    /// What it passes on, when it is complete.
    fn passes(&self) -> Step {
        let next = self.next.get();
        match self.state.load(Ordering::Relaxed) & (LAST_INSIDE | FORK) {
            0 => Step::Give(next, BOTH),
            FORK => Step::GiveTwo(next, BOTH),
            _ => Step::End(next),
        }
    }

    /// Begins a chain, which may lie inside an access of the parent. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it.
    unsafe fn begin(&self, outer: Option<&Self>) -> bool {
        if let Some(outer) = outer
            && outer.state.load(Ordering::Acquire) & ALLOWED == 0
        {
            outer.child.set(self);
            // Pairs with `Flow::give`: either it sees the child, or we see that it is allowed.
            if outer.state.fetch_or(CHILD, Ordering::AcqRel) & ALLOWED == 0 {
                return false;
            }
        }
        self.state.store(BOTH | ARRIVED, Ordering::Relaxed);
        true
    }

    /// Follows the last access of the chain. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it; `last` is held, and was the last.
    unsafe fn follow(&self, last: &Self, then: &impl Then) -> bool {
        if last.has_passed() {
            // SAFETY: it was held by the table alone.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        let shares = last.kind == self.kind && self.kind.shares();
        last.next.set(self);
        // Pairs with `reaches` and `give`: either they see the link, or we see their tokens.
        let linked = LINKED | if shares { SHARES } else { 0 };
        let state = last.state.fetch_add(linked, Ordering::AcqRel);
        if state & PASSED == PASSED {
            // SAFETY: it was held by the table alone.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        // `ALONE`, and so `ALLOWED`, may come at any time from here on; who sets it first counts
        // it. Its task has not run, so there is nothing else to do for it.
        shares
            && state & ALLOWED != 0
            && self.state.fetch_or(ALLOWED | ARRIVED, Ordering::Relaxed) & ALLOWED == 0
    }

    /// Begins a chain anew after one that passes nothing on any more.
    ///
    /// # Safety
    /// As of [`Access::die`].
    unsafe fn begin_after(&self, last: &Self, then: &impl Then) {
        self.state.store(BOTH | ARRIVED, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { last.die(then) };
    }

    /// It has passed everything on, or there is nobody to pass it on to.
    ///
    /// # Safety
    /// It was held until now, and its task has ended.
    unsafe fn die(&self, then: &impl Then) {
        // SAFETY: the block is held by this very access.
        let of = unsafe { &*self.of() };
        if of.let_go(1) {
            if of.task.is_null() {
                // SAFETY: it is the block of a fork, which these accesses alone held.
                return unsafe { then.free_block(NonNull::from(of).cast(), of.bytes as usize) };
            }
            then.free(of.task);
        }
    }

    /// Nothing follows it any more, but the end of the access around it, if there is one.
    ///
    /// # Safety
    /// Only the parent's worker may call it; it is held, and the last of its chain.
    unsafe fn close(&self, outer: Option<&Self>, then: &impl Then) {
        if let Some(outer) = outer {
            self.next.set(outer);
        }
        let last = if outer.is_some() { LAST_INSIDE } else { 0 };
        let state = self.state.fetch_add(LINKED | last, Ordering::AcqRel);
        if state & PASSED == PASSED {
            // SAFETY: it was held by the table alone.
            unsafe { self.die(then) };
        } else if let Some(outer) = outer {
            outer.gets(GOES_ON_INSIDE);
        }
    }

    fn has_passed(&self) -> bool {
        self.state.load(Ordering::Acquire) & PASSED == PASSED
    }
}

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

#[cfg(all(test, loom))]
mod explored;
mod table;
mod turns;

use std::cell::Cell;
use std::ptr;

pub(crate) use table::Table;
pub(crate) use turns::Turns;

use crate::ready::Run;
use crate::sync::{AtomicU32, Ordering};
use crate::task::Task;

/// All that it conflicts with has ended.
const ALLOWED: u32 = 1;
/// All before it has ended.
const ALONE: u32 = 2;
/// Its task has ended.
const ENDED: u32 = 4;
/// Its successor is known, or that it will have none.
const LINKED: u32 = 8;
/// The successor shares with it.
const SHARES: u32 = 16;

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
pub struct Access {
    state: AtomicU32,
    kind: Kind,
    address: usize,
    /// Whose access it is.
    of: Cell<*const Accesses>,
    /// The next on the chain; null with `LINKED` if there will be none.
    next: Cell<*const Access>,
}

impl Access {
    /// Of a task that is about to be created.
    #[must_use]
    pub fn new(address: usize, kind: Kind) -> Self {
        Self {
            state: AtomicU32::new(0),
            kind,
            address,
            of: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
        }
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
    /// Accesses without `ALLOWED`, and one while they are being added.
    missing: AtomicU32,
    /// Accesses that others may still reach, and one for the task until it ends.
    held: AtomicU32,
    first: *const Access,
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
}

impl Accesses {
    /// # Safety
    /// `first` begins `number` accesses that live as long as the task's block.
    pub(crate) unsafe fn new(
        task: *const Task,
        first: *const Access,
        number: u32,
        bytes: u32,
    ) -> Self {
        let (missing, held) = (AtomicU32::new(number + 1), AtomicU32::new(number + 1));
        Self { task, missing, held, first, number, bytes, in_turn: Cell::new(None) }
    }

    /// Bytes of their own block; 0 where they are part of the task's.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Whether the task takes turns with others.
    pub(crate) fn take_turns(&self) -> bool {
        self.all().iter().any(|access| access.kind == Kind::Commutative)
    }

    fn all(&self) -> &[Access] {
        // SAFETY: the promise of `new`.
        unsafe { std::slice::from_raw_parts(self.first, self.number as usize) }
    }

    /// Adds them to the chains of the parent's table. Returns whether the task may run at once; if
    /// not, it is [`Then::ready`] some time later.
    ///
    /// # Safety
    /// Only the parent's worker may call it, once, when the block is in its place.
    pub(crate) unsafe fn add_to(&self, table: &mut Table, then: &impl Then) -> bool {
        let mut allowed = 1;
        for access in self.all() {
            access.of.set(self);
            // SAFETY: accesses in the table are held until they are replaced here.
            allowed += u32::from(unsafe { access.follow(table.replace(access, then), then) });
        }
        if allowed == self.number + 1 {
            return true;
        }
        // Pairs with `allow`: what tasks before it wrote is seen by the task.
        self.missing.fetch_sub(allowed, Ordering::AcqRel) == allowed
    }

    /// Whether a task with these accesses could run and end now, so that nobody needs to know of
    /// it.
    pub(crate) fn are_free(accesses: &[Access], table: &Table) -> bool {
        accesses.iter().all(|access| {
            table.last(access.address).is_none_or(|last| {
                // Pairs with `end`, as above.
                let state = last.state.load(Ordering::Acquire);
                let overlaps = last.kind == access.kind && last.kind.overlaps();
                state & (ALONE | ENDED) == ALONE | ENDED || overlaps && state & ALLOWED != 0
            })
        })
    }

    /// The task has ended. Returns whether nothing refers to its block any more.
    ///
    /// # Safety
    /// The task has run, and this or [`Accesses::pass`] is called once.
    pub(crate) unsafe fn end(&self, then: &impl Then) -> bool {
        // SAFETY: the caller's promise.
        let passed = unsafe { self.pass(then) };
        passed == self.number || self.let_go(passed + 1)
    }

    /// The task's code has ended, but the task keeps its block, until it lets go of it too. Returns
    /// how many accesses others cannot reach any more; they are to be let go of.
    ///
    /// # Safety
    /// As of [`Accesses::end`].
    pub(crate) unsafe fn pass(&self, then: &impl Then) -> u32 {
        let mut passed = 0;
        for access in self.all() {
            // Pairs with `follow` and `pass_on`.
            let state = access.state.fetch_or(ENDED, Ordering::AcqRel) | ENDED;
            if state & (ALONE | LINKED) == ALONE | LINKED {
                passed += 1;
                // SAFETY: a linked successor is held until it has been passed on from in turn.
                unsafe { pass_on(access.next.get(), then) };
            }
        }
        passed
    }

    /// Some accesses cannot be reached any more, or the task is gone. Returns whether that was the
    /// last that held the block.
    pub(crate) fn let_go(&self, number: u32) -> bool {
        self.held.fetch_sub(number, Ordering::AcqRel) == number
    }
}

impl Access {
    /// Follows the last access of the chain, if there is one. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it; `last` is held, and was the last.
    unsafe fn follow(&self, last: Option<*const Access>, then: &impl Then) -> bool {
        let Some(last) = last else {
            self.state.store(ALLOWED | ALONE, Ordering::Relaxed);
            return true;
        };
        // SAFETY: the caller's promise.
        let last = unsafe { &*last };
        let shares = last.kind == self.kind && self.kind.shares();
        last.next.set(self);
        // Pairs with `end` and `allow`: either they see the link, or we see their tokens.
        let linked = LINKED | if shares { SHARES } else { 0 };
        let state = last.state.fetch_or(linked, Ordering::AcqRel);
        if state & (ALONE | ENDED) == ALONE | ENDED {
            // Nobody passes anything on any more: the chain begins anew.
            self.state.store(ALLOWED | ALONE, Ordering::Relaxed);
            // SAFETY: it was held by the table alone.
            unsafe { last.die(then) };
            return true;
        }
        // `ALONE`, and so `ALLOWED`, may come at any time from here on; who sets it first counts
        // it.
        shares
            && state & ALLOWED != 0
            && self.state.fetch_or(ALLOWED, Ordering::Relaxed) & ALLOWED == 0
    }

    /// It has passed everything on, or there is nobody to pass it on to.
    ///
    /// # Safety
    /// It was held until now, and its task has ended.
    unsafe fn die(&self, then: &impl Then) {
        // SAFETY: the block is held by this very access.
        let of = unsafe { &*self.of.get() };
        if of.let_go(1) {
            then.free(of.task);
        }
    }

    /// Nothing follows it any more.
    ///
    /// # Safety
    /// Only the parent's worker may call it; it is held, and the last of its chain.
    unsafe fn close(&self, then: &impl Then) {
        let state = self.state.fetch_or(LINKED, Ordering::AcqRel);
        if state & (ALONE | ENDED) == ALONE | ENDED {
            // SAFETY: it was held by the table alone.
            unsafe { self.die(then) };
        }
    }

    fn has_passed(&self) -> bool {
        self.state.load(Ordering::Acquire) & (ALONE | ENDED) == ALONE | ENDED
    }
}

/// Gives both tokens to an access, and goes down the chain as far as they reach.
///
/// An access that was given a token is allowed only after the next one has been given it: until
/// then its task has not run, and so neither of the two can be gone.
///
/// # Safety
/// It is held, or null; the one before it has passed on.
unsafe fn pass_on(first: *const Access, then: &impl Then) {
    let mut next = first;
    let mut tokens = ALLOWED | ALONE;
    let mut given: Option<&Accesses> = None;
    // SAFETY: an access without `ALONE` is held; so is one that was given `ALLOWED` by this step,
    // until it is allowed.
    while let Some(access) = unsafe { next.as_ref() } {
        let before = access.state.fetch_or(tokens, Ordering::AcqRel);
        let now = before | tokens;
        if let Some(given) = given.take() {
            given.allow(then);
        }
        if before & ALLOWED == 0 {
            // SAFETY: as above.
            given = Some(unsafe { &*access.of.get() });
            if now & (LINKED | SHARES) != LINKED | SHARES {
                break;
            }
            (next, tokens) = (access.next.get(), ALLOWED);
        } else if tokens & ALONE != 0 && now & (ENDED | LINKED) == ENDED | LINKED {
            (next, tokens) = (access.next.get(), ALLOWED | ALONE);
            // SAFETY: it has ended, and passes on now; nobody else does.
            unsafe { access.die(then) };
        } else {
            break;
        }
    }
    if let Some(given) = given {
        given.allow(then);
    }
}

impl Accesses {
    /// One more access is allowed.
    fn allow(&self, then: &impl Then) {
        // Pairs with itself: what tasks before it wrote is seen by the task.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            then.ready(self.task);
        }
    }
}

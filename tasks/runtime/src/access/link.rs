//! One access on its chain: a word.
//!
//! The state of an access, its number among its task's accesses and the address of the next access
//! share a word: following the chain is one atomic operation, and four words lie in one cache line
//! with the counters of their task.

use std::ptr;

use super::{Access, Accesses, Cold, Kind, Then};
use crate::sync::{AtomicU64, Ordering};

/// Every access before this one that conflicts has ended. An access may receive this token twice,
/// before the next access may use the data and after, so the token has two bits, and [`IS_ALLOWED`]
/// has both.
pub(super) const ALLOWED: u64 = 1;
/// Either bit of [`ALLOWED`].
pub(super) const IS_ALLOWED: u64 = 3;
/// Every access before this one has ended.
pub(super) const ALONE: u64 = 1 << 2;
/// The task has ended.
pub(super) const ENDED: u64 = 1 << 3;
/// The successor is known, or is known not to exist.
pub(super) const LINKED: u64 = 1 << 4;
/// The successor may use the data at the same time.
pub(super) const SHARES: u64 = 1 << 5;
/// The successor is not the next access of the chain, but the one around the chain.
pub(super) const LAST_INSIDE: u64 = 1 << 6;
/// A chain inside the access waits until the access is allowed.
pub(super) const CHILD: u64 = 1 << 7;
/// The thread that allowed the access has passed the token to the next one. A weak access passes
/// nothing on before that; any other access cannot anyway, since its task has not run before.
pub(super) const ARRIVED: u64 = 1 << 8;
/// Two accesses follow: the next one, and the `child`. See [`super::ranges`].
pub(super) const SPLIT: u64 = 1 << 9;
/// Only its task's children touch the data.
pub(super) const WEAK: u64 = 1 << 10;
/// An access to a part of a range: ends when all descendants of the task have, and holds no chain.
pub(super) const PART: u64 = 1 << 11;
/// A chain inside the access goes on after the task's code; known when the code has ended.
pub(super) const GOES_ON_INSIDE: u64 = 1 << 12;
/// Position of the [`Kind`], which has two bits.
const KIND_AT: u32 = 13;
/// Position of the number, which has as many bits as [`FAR`].
const NUMBER_AT: u32 = 15;
/// Position of the next access's address without its lowest bits, which are 0. The address has 48
/// bits, more than Linux gives a program that does not ask for more.
const NEXT_AT: u32 = 19;
/// Bits of an address that are 0.
const NEXT_SHIFT: u32 = align_of::<u64>().trailing_zeros();

/// The number of each access of a task that has more accesses than this.
pub(super) const FAR: u32 = (1 << (NEXT_AT - NUMBER_AT)) - 1;
/// Tokens that a complete access passes on.
pub(super) const BOTH: u64 = ALLOWED | ALONE;
/// The access waits for nothing more.
pub(super) const PASSED: u64 = ALONE | ENDED | ARRIVED;

/// An access on its chain.
#[repr(transparent)]
pub(crate) struct Link(AtomicU64);

/// An access of a task with more than [`FAR`], with the address of the task's `Accesses`: the
/// number of the access does not fit in the word.
#[repr(C)]
pub(super) struct FarLink {
    pub(super) link: Link,
    pub(super) of: *const Accesses,
}

/// The next operation on one access.
pub(super) enum Step {
    /// Gives tokens to the access, unless the pointer is null.
    Give(*const Link, u64),
    /// Gives tokens to both accesses that follow a split.
    GiveTwo(*const Link, u64),
    /// Both successors of the split have the token: the access has arrived.
    Arrive(*const Link),
    /// The chain inside the access has ended after the code of the task.
    End(*const Link),
}

/// The bits of a link that follows.
fn bits_of(next: *const Link) -> u64 {
    let address = next.expose_provenance() as u64;
    debug_assert!(address >> (u64::BITS - NEXT_AT + NEXT_SHIFT) == 0, "an address has 48 bits");
    address >> NEXT_SHIFT << NEXT_AT
}

/// Both bits of a kind.
const KIND: u64 = 3 << KIND_AT;
/// Set in kinds whose tasks run one after another; tasks of the other kinds share.
const IN_TURN: u64 = 1 << KIND_AT;

/// The bits of a kind.
#[inline]
pub(super) const fn bits_of_kind(kind: Kind) -> u64 {
    (kind as u64) << KIND_AT
}

/// Whether tasks with these words may use the same data beside each other.
#[inline]
pub(super) const fn overlap(one: u64, other: u64) -> bool {
    (one ^ other) & KIND | one & IN_TURN == 0
}

/// The kind in a word.
#[inline]
pub(super) fn kind_of(word: u64) -> Kind {
    match word >> KIND_AT & 3 {
        0 => Kind::Read,
        1 => Kind::Write,
        2 => Kind::Concurrent,
        _ => Kind::Commutative,
    }
}

/// The next link in a word; null if the word has none.
pub(super) fn next_of(word: u64) -> *const Link {
    ptr::with_exposed_provenance((word >> NEXT_AT << NEXT_SHIFT) as usize)
}

impl Link {
    /// Knows only the declared access and its number among the accesses of the task.
    pub(super) fn new(access: &Access, number: u32) -> Self {
        let arrived = if access.is_weak() { 0 } else { ARRIVED };
        Self(AtomicU64::new(access.says | arrived | u64::from(number.min(FAR)) << NUMBER_AT))
    }

    pub(super) fn load(&self) -> u64 {
        // Pairs with the release of the thread that set these bits.
        self.0.load(Ordering::Acquire)
    }

    /// Adds bits that are not set; returns the word before.
    pub(super) fn add(&self, steps: u64) -> u64 {
        // Pairs with itself: the thread that completes the access sees the writes of all threads
        // that added bits. Adding is one instruction; setting bits and returning the earlier ones
        // is a loop.
        let before = self.0.fetch_add(steps, Ordering::AcqRel);
        debug_assert!(before & steps & !ALLOWED == 0, "a step is taken once");
        debug_assert!(before & IS_ALLOWED < IS_ALLOWED, "it is allowed twice at most");
        before
    }

    /// Sets `ALLOWED`, for an access that shares with the one before. Returns whether the bit is
    /// new: then no other thread lets the access arrive. The access has no successor yet.
    fn gets_allowed(&self) -> bool {
        let is_first = self.add(ALLOWED) & IS_ALLOWED == 0;
        if is_first && self.is(WEAK) {
            self.add(ARRIVED);
        }
        is_first
    }

    /// Sets bits that may be set already; returns the word before.
    pub(super) fn gets(&self, steps: u64) -> u64 {
        self.0.fetch_or(steps, Ordering::AcqRel)
    }

    /// Sets bits of an access that no other thread can reach yet.
    pub(super) fn begins_with(&self, steps: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) | steps, Ordering::Relaxed);
    }

    /// Links the next access; returns the word before.
    pub(super) fn add_next(&self, next: *const Self, steps: u64) -> u64 {
        self.add(bits_of(next) | steps)
    }

    /// Links the next access to one that no other thread can reach yet.
    pub(super) fn begins_before(&self, next: *const Self) {
        self.begins_with(bits_of(next));
    }

    /// Whether a bit is set that never changes or that this worker sets.
    pub(super) fn is(&self, property: u64) -> bool {
        self.0.load(Ordering::Relaxed) & property != 0
    }

    pub(super) fn kind(&self) -> Kind {
        kind_of(self.0.load(Ordering::Relaxed))
    }

    /// The next access; null where no access is linked yet.
    pub(super) fn next(&self) -> *const Self {
        next_of(self.0.load(Ordering::Relaxed))
    }

    fn number(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> NUMBER_AT) as u32 & FAR
    }

    /// All accesses of the task.
    pub(super) fn of(&self) -> *const Accesses {
        let number = self.number();
        if number == FAR {
            // SAFETY: a link with the number `FAR` is the first field of a `FarLink`, in the same
            // block.
            return unsafe {
                (*ptr::with_exposed_provenance::<FarLink>(ptr::from_ref(self).addr())).of
            };
        }
        let before = number as usize * size_of::<Self>() + size_of::<Accesses>();
        ptr::with_exposed_provenance(ptr::from_ref(self).addr() - before)
    }

    /// The rarely needed part of the access.
    pub(super) fn cold(&self) -> &Cold {
        // SAFETY: the counters, links and cold parts of a task's accesses are one live block.
        unsafe { (*self.of()).cold_of(self) }
    }

    /// Sets a bit for the first time; returns whether that was the last one missing before the
    /// access can pass everything on. The caller that receives `true` must pass the tokens on.
    pub(super) fn reaches(&self, step: u64) -> bool {
        let before = self.add(step);
        let all = PASSED | LINKED;
        before & all != all && (before | step) & all == all
    }

    /// The task has ended; returns whether the caller must pass the tokens on, as [`Link::reaches`]
    /// does.
    pub(super) fn ends(&self) -> bool {
        const LAST: u64 = (PASSED | LINKED) & !ENDED;
        // Nothing else is missing, so no other thread will read the word, and the bit need not be
        // set.
        self.load() & LAST == LAST || self.reaches(ENDED)
    }

    /// The step that passes the tokens of a complete access on.
    pub(super) fn passes(&self) -> Step {
        let next = self.next();
        match self.0.load(Ordering::Relaxed) & (LAST_INSIDE | SPLIT) {
            0 => Step::Give(next, BOTH),
            SPLIT => Step::GiveTwo(next, BOTH),
            _ => Step::End(next),
        }
    }

    /// Begins a chain, which may lie inside an access of the parent. Returns whether `self` is
    /// allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call this.
    pub(super) unsafe fn begin(&self, outer: Option<&Self>) -> bool {
        if let Some(outer) = outer
            && outer.load() & IS_ALLOWED == 0
        {
            outer.cold().child.set(self);
            // Pairs with `Flow::give`: either that thread sees the child, or we see the token.
            if outer.gets(CHILD) & IS_ALLOWED == 0 {
                return false;
            }
        }
        self.begins_with(BOTH | ARRIVED);
        true
    }

    /// Follows the last access of the chain. Returns whether `self` is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call this; `last` is held, and was the last.
    pub(super) unsafe fn follow(&self, last: &Self, then: &impl Then) -> bool {
        if last.has_passed() {
            // SAFETY: only the table held `last`, whose task has ended.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        let kind = self.kind();
        let shares = kind.shares() && kind == last.kind();
        // Pairs with `reaches` and `give`: either those threads see the link, or we see their
        // tokens.
        let state = last.add_next(self, LINKED | if shares { SHARES } else { 0 });
        if state & PASSED == PASSED {
            // SAFETY: only the table held `last`, whose task has ended.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        // `ALONE`, and with that token `ALLOWED`, may come at any time from here on; the thread
        // that sets the first of them counts the access. The task has not run, so nothing else is
        // left to do.
        shares && state & IS_ALLOWED != 0 && self.gets_allowed()
    }

    /// Begins a chain anew after one that passes nothing on any more.
    ///
    /// # Safety
    /// As of [`Link::die`]: `last` was held until now, and its task has ended.
    unsafe fn begin_after(&self, last: &Self, then: &impl Then) {
        self.begins_with(BOTH | ARRIVED);
        // SAFETY: `last` was held until now, and its task has ended.
        unsafe { last.die(then) };
    }

    /// The access has passed everything on, or has no successor.
    ///
    /// # Safety
    /// The access was held until now, and its task has ended.
    pub(super) unsafe fn die(&self, then: &impl Then) {
        // SAFETY: this access holds the block.
        unsafe { (*self.of()).let_go_for(1, then) };
    }

    /// No access follows any more, except the end of the access around this one, if one exists.
    ///
    /// # Safety
    /// Only the parent's worker may call this; the access is held, and the last of its chain.
    pub(super) unsafe fn close(&self, outer: Option<&Self>, then: &impl Then) {
        let state = match outer {
            Some(outer) => self.add_next(outer, LINKED | LAST_INSIDE),
            None => self.add(LINKED),
        };
        if state & PASSED == PASSED {
            // SAFETY: only the table held this access, whose task has ended.
            unsafe { self.die(then) };
        } else if let Some(outer) = outer {
            outer.gets(GOES_ON_INSIDE);
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.load() & PASSED == PASSED
    }

    /// Whether a task with this access to the same data could run now.
    #[inline]
    pub(super) fn lets_run(&self, says: u64) -> bool {
        let word = self.load();
        word & PASSED == PASSED || word & IS_ALLOWED != 0 && overlap(word, says)
    }

    /// Whether the task needs a turn: a weak access does not, because only children touch the data.
    pub(super) fn takes_turns(&self) -> bool {
        self.kind() == Kind::Commutative && !self.is(WEAK)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_all_that_is_known() {
        let access = Access::weak(8, Kind::Commutative);
        let (link, next) = (Link::new(&access, 7), Link::new(&access, FAR + 1));
        link.add_next(&next, LINKED);
        assert!(link.is(WEAK) && link.is(LINKED) && !link.is(IS_ALLOWED | ARRIVED));
        assert_eq!((link.kind(), link.number(), next.number()), (Kind::Commutative, 7, FAR));
        assert!(ptr::eq(link.next(), &raw const next) && next.next().is_null());
    }
}

//! One access on its chain: a word.
//!
//! What is known of it, which of its task's accesses it is and where the next one lies share a
//! word, so that to follow it is one atomic operation, and four of them lie in one cache line with
//! what is counted of their task.

use std::ptr;

use super::{Access, Accesses, Cold, Kind, Then};
use crate::sync::{AtomicU64, Ordering};

/// All that it conflicts with has ended. It may be told so twice, before the next one may use its
/// data and after: so it has two bits, and [`IS_ALLOWED`] looks at both.
pub(super) const ALLOWED: u64 = 1;
/// Either bit of [`ALLOWED`].
pub(super) const IS_ALLOWED: u64 = 3;
/// All before it has ended.
pub(super) const ALONE: u64 = 1 << 2;
/// Its task has ended.
pub(super) const ENDED: u64 = 1 << 3;
/// Its successor is known, or that it will have none.
pub(super) const LINKED: u64 = 1 << 4;
/// The successor shares with it.
pub(super) const SHARES: u64 = 1 << 5;
/// The successor is not the next of the chain, but the access around it.
pub(super) const LAST_INSIDE: u64 = 1 << 6;
/// There is a chain inside it, which waits for it to be allowed.
pub(super) const CHILD: u64 = 1 << 7;
/// Whoever allowed it has let the next one know of it. Only then can a weak access pass anything
/// on; one that is not weak cannot anyway, since its task has not run before.
pub(super) const ARRIVED: u64 = 1 << 8;
/// What follows is two: the next, and its `child`. See [`super::regions`].
pub(super) const FORK: u64 = 1 << 9;
/// Only its task's children touch the data.
pub(super) const WEAK: u64 = 1 << 10;
/// It is to a part of a region: that ends when its task's descendants have, and holds no chain.
pub(super) const PART: u64 = 1 << 11;
/// A chain inside it goes on after its task's code; known when that has ended.
pub(super) const GOES_ON_INSIDE: u64 = 1 << 12;
/// Where its [`Kind`] is, in two bits.
const KIND_AT: u32 = 13;
/// Where its number is, in as many bits as [`FAR`] has.
const NUMBER_AT: u32 = 15;
/// Where the address of the next is, without its lowest bits, which are 0: 48 bits of it, more
/// than Linux gives a program that does not ask for more.
const NEXT_AT: u32 = 19;
/// Bits of an address that are 0.
const NEXT_SHIFT: u32 = align_of::<u64>().trailing_zeros();

/// The number of each of more than so many accesses.
pub(super) const FAR: u32 = (1 << (NEXT_AT - NUMBER_AT)) - 1;
/// What whoever completes it passes on.
pub(super) const BOTH: u64 = ALLOWED | ALONE;
/// It has nothing more to wait for.
pub(super) const PASSED: u64 = ALONE | ENDED | ARRIVED;

/// An access on its chain.
#[repr(transparent)]
pub(crate) struct Link(AtomicU64);

/// One of very many of a task, which says where they begin.
#[repr(C)]
pub(super) struct FarLink {
    pub(super) link: Link,
    pub(super) of: *const Accesses,
}

/// What is to be done for one access.
pub(super) enum Step {
    /// It is given tokens, unless it is null.
    Give(*const Link, u64),
    /// Both that follow a fork are given tokens.
    GiveTwo(*const Link, u64),
    /// Whoever follows a fork knows that it is allowed.
    Arrive(*const Link),
    /// The chain inside it has ended after its task's code.
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
/// Set in kinds that run one after another; those without run beside their like.
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

/// The link that follows in a word; null if there is none.
pub(super) fn next_of(word: u64) -> *const Link {
    ptr::with_exposed_provenance((word >> NEXT_AT << NEXT_SHIFT) as usize)
}

impl Link {
    /// Nothing is known of it but what its task says, and which of its accesses it is.
    pub(super) fn new(access: &Access, number: u32) -> Self {
        let arrived = if access.is_weak() { 0 } else { ARRIVED };
        Self(AtomicU64::new(access.says | arrived | u64::from(number.min(FAR)) << NUMBER_AT))
    }

    pub(super) fn load(&self) -> u64 {
        // Pairs with whoever took the steps that are seen.
        self.0.load(Ordering::Acquire)
    }

    /// Adds what is not there; returns what was before.
    pub(super) fn add(&self, steps: u64) -> u64 {
        // Pairs with itself: who completes it sees what all others wrote. (To add is one
        // instruction; to set bits and be told of those before is a loop.)
        let before = self.0.fetch_add(steps, Ordering::AcqRel);
        debug_assert!(before & steps & !ALLOWED == 0, "a step is taken once");
        debug_assert!(before & IS_ALLOWED < IS_ALLOWED, "it is allowed twice at most");
        before
    }

    /// It is told that it is allowed, as an access is that shares with one before it. Returns
    /// whether that was news: then nobody else lets it arrive. Nothing follows it yet.
    fn gets_allowed(&self) -> bool {
        let is_first = self.add(ALLOWED) & IS_ALLOWED == 0;
        if is_first && self.is(WEAK) {
            self.add(ARRIVED);
        }
        is_first
    }

    /// Adds what may be there; returns what was before.
    pub(super) fn gets(&self, steps: u64) -> u64 {
        self.0.fetch_or(steps, Ordering::AcqRel)
    }

    /// The same where nobody else has it yet.
    pub(super) fn begins_with(&self, steps: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) | steps, Ordering::Relaxed);
    }

    /// Links what follows; returns what was known before.
    pub(super) fn add_next(&self, next: *const Self, steps: u64) -> u64 {
        self.add(bits_of(next) | steps)
    }

    /// The same of one that nobody else has.
    pub(super) fn begins_before(&self, next: *const Self) {
        self.begins_with(bits_of(next));
    }

    /// What never changes, and what this worker has set.
    pub(super) fn is(&self, property: u64) -> bool {
        self.0.load(Ordering::Relaxed) & property != 0
    }

    pub(super) fn kind(&self) -> Kind {
        kind_of(self.0.load(Ordering::Relaxed))
    }

    /// What follows it, where that is known.
    pub(super) fn next(&self) -> *const Self {
        next_of(self.0.load(Ordering::Relaxed))
    }

    fn number(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> NUMBER_AT) as u32 & FAR
    }

    /// All of its task.
    pub(super) fn of(&self) -> *const Accesses {
        let number = self.number();
        if number == FAR {
            // SAFETY: it is the first part of such a link, in the same block.
            return unsafe {
                (*ptr::with_exposed_provenance::<FarLink>(ptr::from_ref(self).addr())).of
            };
        }
        let before = number as usize * size_of::<Self>() + size_of::<Accesses>();
        ptr::with_exposed_provenance(ptr::from_ref(self).addr() - before)
    }

    /// What is rarely needed of it.
    pub(super) fn cold(&self) -> &Cold {
        // SAFETY: all of them are in one block.
        unsafe { (*self.of()).cold_of(self) }
    }

    /// Takes a step, for the first time; returns whether that was the last that was missing for it
    /// to pass everything on: whoever is told so does it.
    pub(super) fn reaches(&self, step: u64) -> bool {
        let before = self.add(step);
        let all = PASSED | LINKED;
        before & all != all && (before | step) & all == all
    }

    /// Its task has ended, as [`Link::reaches`].
    pub(super) fn ends(&self) -> bool {
        const LAST: u64 = (PASSED | LINKED) & !ENDED;
        // Where nothing else is missing, nobody else will look: to write it down is for nobody.
        self.load() & LAST == LAST || self.reaches(ENDED)
    }

    /// What it passes on, when it is complete.
    pub(super) fn passes(&self) -> Step {
        let next = self.next();
        match self.0.load(Ordering::Relaxed) & (LAST_INSIDE | FORK) {
            0 => Step::Give(next, BOTH),
            FORK => Step::GiveTwo(next, BOTH),
            _ => Step::End(next),
        }
    }

    /// Begins a chain, which may lie inside an access of the parent. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it.
    pub(super) unsafe fn begin(&self, outer: Option<&Self>) -> bool {
        if let Some(outer) = outer
            && outer.load() & IS_ALLOWED == 0
        {
            outer.cold().child.set(self);
            // Pairs with `Flow::give`: either it sees the child, or we see that it is allowed.
            if outer.gets(CHILD) & IS_ALLOWED == 0 {
                return false;
            }
        }
        self.begins_with(BOTH | ARRIVED);
        true
    }

    /// Follows the last access of the chain. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it; `last` is held, and was the last.
    pub(super) unsafe fn follow(&self, last: &Self, then: &impl Then) -> bool {
        if last.has_passed() {
            // SAFETY: it was held by the table alone.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        let kind = self.kind();
        let shares = kind.shares() && kind == last.kind();
        // Pairs with `reaches` and `give`: either they see the link, or we see their tokens.
        let state = last.add_next(self, LINKED | if shares { SHARES } else { 0 });
        if state & PASSED == PASSED {
            // SAFETY: it was held by the table alone.
            unsafe { self.begin_after(last, then) };
            return true;
        }
        // `ALONE`, and so `ALLOWED`, may come at any time from here on; who sets it first counts
        // it. Its task has not run, so there is nothing else to do for it.
        shares && state & IS_ALLOWED != 0 && self.gets_allowed()
    }

    /// Begins a chain anew after one that passes nothing on any more.
    ///
    /// # Safety
    /// As of [`Link::die`].
    unsafe fn begin_after(&self, last: &Self, then: &impl Then) {
        self.begins_with(BOTH | ARRIVED);
        // SAFETY: the caller's promise.
        unsafe { last.die(then) };
    }

    /// It has passed everything on, or there is nobody to pass it on to.
    ///
    /// # Safety
    /// It was held until now, and its task has ended.
    pub(super) unsafe fn die(&self, then: &impl Then) {
        // SAFETY: the block is held by this very access.
        unsafe { (*self.of()).let_go_for(1, then) };
    }

    /// Nothing follows it any more, but the end of the access around it, if there is one.
    ///
    /// # Safety
    /// Only the parent's worker may call it; it is held, and the last of its chain.
    pub(super) unsafe fn close(&self, outer: Option<&Self>, then: &impl Then) {
        let state = match outer {
            Some(outer) => self.add_next(outer, LINKED | LAST_INSIDE),
            None => self.add(LINKED),
        };
        if state & PASSED == PASSED {
            // SAFETY: it was held by the table alone.
            unsafe { self.die(then) };
        } else if let Some(outer) = outer {
            outer.gets(GOES_ON_INSIDE);
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.load() & PASSED == PASSED
    }

    /// Whether a task that says this of the same data could run beside what it waits for.
    #[inline]
    pub(super) fn lets_run(&self, says: u64) -> bool {
        let word = self.load();
        word & PASSED == PASSED || word & IS_ALLOWED != 0 && overlap(word, says)
    }

    /// Whether its task waits for its turn: where only children touch the data, they do.
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

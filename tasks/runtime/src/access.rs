//! Dependences: the order in which siblings use the same data.
//!
//! The accesses of siblings to one address form a chain, in the order of creation. Two tokens go
//! down the chain. An access has `ALLOWED` when every access before this one that conflicts with it
//! has ended: then its task may run. An access has `ALONE` when every access before has ended, of
//! whatever kind. An access that has ended passes both tokens on; one that has not yet passes
//! `ALLOWED` on to a next one of the same kind, if that kind shares. Every step is one atomic
//! operation on the state of one access, so the cost of a dependence does not depend on their
//! number, and no step takes a lock. (Tokens on a chain of accesses: Álvarez, Sala, Marí, Roca,
//! Beltran, PPoPP 2021.)
//!
//! Only the parent's worker adds to chains, so the [`Table`] of the children's addresses belongs to
//! that worker alone.
//!
//! The children of a task that accesses the same address form a chain *inside* that access: the
//! chain begins when the access is allowed, and the access ends when its task's code and this chain
//! have ended (OmpSs-2: nested dependences, early release). An access may be *weak*: then the task
//! itself does not touch the data, and need not wait; only its children do.

mod flow;
mod link;
#[cfg(all(test, loom))]
mod loom_tests;
mod ranges;
mod table;
mod turns;

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use flow::Flow;
use link::{
    FAR, FarLink, GOES_ON_INSIDE, IS_ALLOWED, LINKED, Link, PART, Step, WEAK, bits_of_kind,
    kind_of, next_of, overlap,
};
pub use ranges::RangeAccess;
pub(crate) use table::Table;
pub(crate) use turns::{Among, Turns};

use crate::queued::{Queued, Run};
use crate::sync::{AtomicU32, Ordering, prefetch};

/// How a task uses data. Tasks of a kind with an odd number run one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads: `in`.
    Read = 0,
    /// Writes, and may read: `out`, `inout`.
    Write = 1,
    /// Writes in parallel with other concurrent tasks, which synchronise themselves: `concurrent`.
    Concurrent = 2,
    /// Writes before or after other commutative tasks, in any order: `commutative`.
    Commutative = 3,
}

impl Kind {
    /// Whether accesses of this kind are allowed together.
    fn shares(self) -> bool {
        self != Self::Write
    }
}

/// How a task uses the data at one address.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    address: usize,
    /// The kind, [`WEAK`] and [`PART`], as the bits of a [`Link`].
    says: u64,
}

impl Access {
    /// Bytes of `number` accesses of a task: see [`Worker::submit_ordered_in`].
    ///
    /// [`Worker::submit_ordered_in`]: crate::internal::Worker::submit_ordered_in
    #[must_use]
    pub fn bytes_of(number: usize) -> usize {
        Accesses::bytes_of(number)
    }

    /// The task uses the data itself.
    #[must_use]
    #[inline]
    pub fn new(address: usize, kind: Kind) -> Self {
        Self { address, says: bits_of_kind(kind) }
    }

    /// Only the task's children use the data.
    #[must_use]
    #[inline]
    pub fn weak(address: usize, kind: Kind) -> Self {
        Self { address, says: bits_of_kind(kind) | WEAK }
    }

    /// An access to a part of a range.
    pub(crate) fn part(address: usize, kind: Kind) -> Self {
        Self { address, says: bits_of_kind(kind) | PART }
    }

    /// An access to a part of a range that was cut. No task has this access, which only passes
    /// tokens on.
    fn cut(address: usize, kind: Kind) -> Self {
        Self { address, says: bits_of_kind(kind) | PART | WEAK }
    }

    /// Where the data is.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// How the task uses the data.
    #[must_use]
    pub fn kind(&self) -> Kind {
        kind_of(self.says)
    }

    fn is_weak(&self) -> bool {
        self.says & WEAK != 0
    }

    /// # Panics
    /// Two accesses are to the same address, and conflict: their task would wait for itself.
    #[track_caller]
    pub(crate) fn assert_distinct(all: &[Self]) {
        for (number, one) in all.iter().enumerate() {
            let twice = all[..number]
                .iter()
                .any(|other| other.address == one.address && !overlap(other.says, one.says));
            assert!(!twice, "a task uses the same data twice, and not only to read it");
        }
    }
}

/// The accesses of a task: addresses, and ranges. No data are declared in both ways.
#[derive(Clone, Copy, Debug)]
pub struct Uses<'a> {
    /// Addresses.
    pub accesses: &'a [Access],
    /// Parts of memory.
    pub ranges: &'a [RangeAccess],
}

/// The accesses of one task, in its block: their counters, then a [`Link`] for each, and then a
/// [`Cold`] for each.
#[repr(C)]
pub(crate) struct Accesses {
    /// Null where the accesses belong to no task.
    task: *const Queued,
    /// Accesses that are not weak and not `ALLOWED` yet, plus one until all accesses are added.
    missing: AtomicU32,
    /// Accesses that another one may still reach, plus one for the task until the task ends.
    held: AtomicU32,
    /// Number of accesses, which lie right behind this struct.
    number: u32,
    /// Bytes of the accesses' own block; 0 if they are part of the task's block.
    bytes: u32,
    /// The task's code, if the task takes turns; the head of the task then has the function that
    /// takes the turns.
    pub(crate) in_turn: Cell<Option<Run>>,
}

/// The rarely needed part of an access.
#[repr(C)]
pub(crate) struct Cold {
    address: usize,
    /// The first access of the chain inside this one, if that chain waits for this access.
    child: Cell<*const Link>,
}

/// Room for the accesses of a task that has `N`, at most [`FAR`].
#[repr(C)]
pub(crate) struct Room<const N: usize> {
    accesses: MaybeUninit<Accesses>,
    links: [MaybeUninit<Link>; N],
    cold: [MaybeUninit<Cold>; N],
}

impl<const N: usize> Room<N> {
    /// Without accesses yet.
    pub(crate) const EMPTY: Self = Self {
        accesses: MaybeUninit::uninit(),
        links: [const { MaybeUninit::uninit() }; N],
        cold: [const { MaybeUninit::uninit() }; N],
    };
}

/// Work that a step leaves to the thread that took the step.
pub(crate) trait Then {
    /// The task may run.
    fn ready(&self, task: *const Queued);
    /// No access refers to the block any more, and its task has ended.
    fn free(&self, task: *const Queued);
    /// Allocates a block of `bytes` bytes, for accesses that belong to no task.
    fn block(&self, bytes: usize) -> NonNull<u8>;
    /// No access refers to a block of `block` any more.
    ///
    /// # Safety
    /// `block` allocated the block, with as many bytes.
    unsafe fn free_block(&self, block: NonNull<u8>, bytes: usize);
}

impl Accesses {
    /// Bytes of `number` accesses, with their counters.
    pub(crate) fn bytes_of(number: usize) -> usize {
        size_of::<Self>() + number * (Self::stride(number) + size_of::<Cold>())
    }

    /// Bytes from one link to the next, of `number` links.
    fn stride(number: usize) -> usize {
        if number <= FAR as usize { size_of::<Link>() } else { size_of::<FarLink>() }
    }

    /// Writes the `number` accesses of a task. `bytes` is the length of their own block, or 0.
    ///
    /// # Safety
    /// The memory at `place` has room for the accesses, and lives as long as the task's block.
    pub(crate) unsafe fn write(
        place: *mut Self,
        task: *const Queued,
        all: impl Iterator<Item = Access>,
        number: usize,
        bytes: usize,
    ) {
        let counted = u32::try_from(number).expect("fewer accesses than bytes");
        let bytes = u32::try_from(bytes).expect("accesses of a task are below 4 GiB");
        // SAFETY: the place has room for as many accesses.
        unsafe {
            place.write(Self {
                task,
                missing: AtomicU32::new(counted + 1),
                held: AtomicU32::new(counted + 1),
                number: counted,
                bytes,
                in_turn: Cell::new(None),
            });
            let (first, stride) = (place.add(1).cast::<u8>(), Self::stride(number));
            let cold = first.add(number * stride).cast::<Cold>();
            let mut written = 0;
            for access in all.take(number) {
                let link = first.add(written * stride);
                if stride == size_of::<Link>() {
                    link.cast::<Link>().write(Link::new(&access, written as u32));
                } else {
                    let link = link.cast::<FarLink>();
                    link.write(FarLink { link: Link::new(&access, FAR), of: place });
                }
                let child = Cell::new(ptr::null());
                cold.add(written).write(Cold { address: access.address, child });
                written += 1;
            }
            assert!(written == number, "as many accesses as were said");
        }
    }

    /// Writes accesses without a task: they make no task ready, and no task holds them.
    ///
    /// # Safety
    /// The block at `place` has `bytes` bytes, room enough for them.
    unsafe fn write_split(place: *mut Self, all: &[Access], bytes: usize) {
        // SAFETY: the block has room for them.
        unsafe {
            Self::write(place, ptr::null(), all.iter().copied(), all.len(), bytes);
            (*place).held.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Bytes of the accesses' own block; 0 where they are part of the task's block.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Whether the task takes turns with other tasks.
    pub(crate) fn take_turns(&self) -> bool {
        self.all().any(Link::takes_turns)
    }

    fn first(&self) -> usize {
        ptr::from_ref(self).expose_provenance() + size_of::<Self>()
    }

    fn link(&self, number: usize) -> &Link {
        let at = self.first() + number * Self::stride(self.number as usize);
        // SAFETY: `write` wrote `self.number` links behind this struct, in one block.
        unsafe { &*ptr::with_exposed_provenance(at) }
    }

    fn cold(&self) -> &[Cold] {
        let number = self.number as usize;
        let first = self.first() + number * Self::stride(number);
        // SAFETY: `write` wrote `number` cold parts behind the links, in the same block.
        unsafe { std::slice::from_raw_parts(ptr::with_exposed_provenance(first), number) }
    }

    /// The cold part of an access.
    fn cold_of(&self, link: &Link) -> &Cold {
        let before = ptr::from_ref(link).addr() - self.first();
        &self.cold()[before / Self::stride(self.number as usize)]
    }

    #[inline]
    fn all(&self) -> impl DoubleEndedIterator<Item = &Link> + ExactSizeIterator {
        (0..self.number as usize).map(|number| self.link(number))
    }

    /// The accesses with their addresses.
    fn addresses_of_links(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&Link, usize)> + ExactSizeIterator {
        self.all().zip(self.cold()).map(|(link, cold)| (link, cold.address))
    }

    /// The access to an address, if the task has one.
    fn to(&self, address: usize) -> Option<&Link> {
        let is_it = |(link, at): &(&Link, usize)| *at == address && !link.is(PART);
        self.addresses_of_links().find(is_it).map(|(link, _)| link)
    }

    /// Whether the task leaves some data of these accesses to its children.
    pub(crate) fn leave_any(&self, all: &[Access]) -> bool {
        all.iter().any(|access| self.to(access.address).is_some_and(|outer| outer.is(WEAK)))
    }

    /// # Panics
    /// A child of the task uses an address in a way that the task did not say.
    #[track_caller]
    pub(crate) fn assert_covers(&self, all: &[Access]) {
        let is_covered = all.iter().all(|access| self.covers(access));
        assert!(is_covered, "a task uses data in a way that the task around it did not say");
    }

    /// Whether a child of the task may access data in this way. Where the task itself has a turn, a
    /// child would wait for the end of that turn, and perhaps the task for the child.
    pub(crate) fn covers(&self, access: &Access) -> bool {
        let covers = |outer: &Link| {
            let kind = outer.kind();
            kind == Kind::Write || kind == access.kind() && !outer.takes_turns()
        };
        self.to(access.address).is_none_or(covers)
    }

    /// Adds the accesses to the chains of the parent's table. Ranges come last: the table has
    /// planned their parts. Returns whether the task may run at once; otherwise [`Then::ready`]
    /// reports the task some time later. `around` are the parent's own accesses, where the chains
    /// of its children lie inside them.
    ///
    /// # Safety
    /// Only the parent's worker may call this, once, when the block is in its place.
    pub(crate) unsafe fn add_to(
        &self,
        table: &mut Table,
        around: Option<&Self>,
        then: &impl Then,
    ) -> bool {
        let mut allowed = 1;
        if self.number > 1 {
            table.fetch(self.cold().iter().map(|cold| cold.address));
        }
        let plain = self.number as usize - table.pieces();
        for (link, address) in self.addresses_of_links().take(plain) {
            // SAFETY: accesses in the table are held until they are replaced here.
            let is_allowed = unsafe {
                match table.replace(address, link, then) {
                    Some(last) => link.follow(&*last, then),
                    None => link.begin(around.and_then(|around| around.to(address))),
                }
            };
            allowed += u32::from(is_allowed || link.is(WEAK));
        }
        for link in self.all().skip(plain).rev() {
            // SAFETY: this thread is the parent's worker.
            allowed += u32::from(unsafe { table.add_piece(link, then) });
        }
        if allowed == self.number + 1 {
            return true;
        }
        // Pairs with `allow`: the task sees the writes of the tasks before.
        self.missing.fetch_sub(allowed, Ordering::AcqRel) == allowed
    }

    /// Whether a task with these accesses could run and end now, so that no table needs to record
    /// the task.
    pub(crate) fn are_free(accesses: &[Access], table: &Table, around: Option<&Self>) -> bool {
        accesses.iter().all(|access| match table.last(access.address) {
            // A weak access is always free: the children take its place in the chain.
            _ if access.is_weak() => true,
            Some(last) => last.lets_run(access.says),
            None => around
                .and_then(|around| around.to(access.address))
                .is_none_or(|outer| outer.load() & IS_ALLOWED != 0),
        })
    }

    /// Begins to fetch the successors of the accesses, whose cache lines their creator has: waiting
    /// for one line takes as long as waiting for all.
    pub(crate) fn fetch(&self) {
        let words = self.all().map(Link::load);
        words.filter(|word| word & LINKED != 0).for_each(|word| prefetch(next_of(word)));
    }

    /// The task's code has ended, and the chains inside that go on are marked. Returns how many
    /// accesses no other access can reach any more; the caller releases them, and the task too once
    /// it is complete. If the task is complete, its parts of ranges end as well.
    ///
    /// # Safety
    /// The task has run, and this is called once.
    pub(crate) unsafe fn end(&self, then: &impl Then, is_complete: bool) -> u32 {
        let ends = |link: &&Link| !link.is(GOES_ON_INSIDE) && (is_complete || !link.is(PART));
        // SAFETY: the task has run, and each access ends once.
        unsafe { self.end_some(ends, then) }
    }

    /// Ends the parts of ranges when the task's descendants have ended, which had not in `end`.
    ///
    /// # Safety
    /// Called once, after `end` was called with `is_complete` false.
    pub(crate) unsafe fn end_late(&self, then: &impl Then) -> u32 {
        // SAFETY: the task has run, and its parts of ranges end here for the first time.
        unsafe { self.end_some(|link| link.is(PART), then) }
    }

    /// # Safety
    /// The task has run, and each access ends once.
    #[inline]
    unsafe fn end_some(&self, ends: impl Fn(&&Link) -> bool, then: &impl Then) -> u32 {
        let mut passed = 0;
        let mut flow = Flow::default();
        self.fetch();
        for link in self.all().filter(ends) {
            if link.ends() {
                passed += 1;
                // SAFETY: each successor is held until it has passed its own tokens on.
                unsafe { flow.take(link.passes(), then) };
            }
        }
        passed
    }

    /// The number of accesses.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Some accesses cannot be reached any more, or the task is gone. Returns whether these were
    /// the last that held the block.
    pub(crate) fn let_go(&self, number: u32) -> bool {
        self.held.fetch_sub(number, Ordering::AcqRel) == number
    }

    /// Releases accesses whose task has ended, or that belong to no task.
    ///
    /// # Safety
    /// The accesses were held until now.
    unsafe fn let_go_for(&self, number: u32, then: &impl Then) {
        let (task, bytes) = (self.task, self.bytes as usize);
        if self.let_go(number) {
            if task.is_null() {
                // SAFETY: `self` is the block of a split, which these accesses alone held.
                return unsafe { then.free_block(NonNull::from(self).cast(), bytes) };
            }
            then.free(task);
        }
    }

    /// One more access is allowed.
    fn allow(&self, then: &impl Then) {
        // Pairs with itself: the task sees the writes of the tasks before.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            then.ready(self.task);
        }
    }
}

#[cfg(not(loom))]
const _: () = {
    let four = size_of::<Accesses>() + 4 * size_of::<Link>();
    assert!(four == 64, "a task's counters and four accesses are a cache line");
};

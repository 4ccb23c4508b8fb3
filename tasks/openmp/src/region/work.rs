//! The part of a thread in its current loop.

use std::cell::{Cell, OnceCell};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering;

use super::Member;
use crate::iterations::{self, Span};
use crate::team::share::{self, Share};
use crate::wait;

/// How iterations are given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoopSchedule {
    /// A block for each thread, or chunks in turn.
    #[default]
    Static,
    /// A block of whole chunks for each thread.
    Balanced,
    Dynamic,
    Guided,
    /// `guided`, in multiples of the chunk size.
    GuidedWhole,
}

/// The clauses of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopOptions {
    pub how: LoopSchedule,
    /// Iterations; 0 where none was given.
    pub chunk: u64,
    pub is_ordered: bool,
    /// Whether its threads share more than the iterations.
    pub shares: bool,
}

/// How a thread finds its next chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Nothing,
    Block,
    BalancedBlock,
    /// The one of this number.
    Chunk(u64),
    /// From the share, of which one may take too much without harm.
    Take,
    /// From the share, where that would overflow.
    TakeWithCare,
    /// From the share, less each time.
    TakeLess,
    /// From the share, less each time, in multiples of the chunk size.
    TakeLessWhole,
}

/// The current loop of a thread, and the iterations that the thread has taken.
#[derive(Default)]
pub(crate) struct Work {
    /// Constructs with a share that this thread has met.
    pub met: Cell<u64>,
    /// The loop's; null outside of loops, and where none is needed.
    share: Cell<*const Share>,
    /// That of a region of one thread.
    own: OnceCell<Box<Share>>,
    next: Cell<Next>,
    span: Cell<Span>,
    /// Iterations of a chunk.
    chunk: Cell<u64>,
    /// The chunk that runs.
    begin: Cell<u64>,
    end: Cell<u64>,
    is_ordered: Cell<bool>,
    /// Whether the next chunk's `ordered` regions may run.
    has_passed: Cell<bool>,
    /// Iterations of the chunk that have ended, where the program says so.
    ended: Cell<u64>,
}

impl Work {
    pub(super) fn after(met: u64) -> Self {
        Self { met: Cell::new(met), ..Self::default() }
    }

    /// The loop's share; `None` where the loop needs none.
    pub(crate) fn share(&self) -> Option<&Share> {
        // SAFETY: the share is the team's or this thread's own, and lives until the thread has left
        // it.
        unsafe { self.share.get().as_ref() }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.get()
    }

    /// Whether the last chunk that the thread was given ends the loop.
    pub(crate) fn has_last(&self) -> bool {
        self.end.get() == self.span.get().trips
    }

    /// Leaves nothing of the loop to any thread.
    pub(crate) fn give_out_all(&self) {
        self.next.set(Next::Nothing);
        if let Some(share) = self.share() {
            share.next.fetch_max(self.span.get().trips, Ordering::Relaxed);
        }
    }

    /// The next chunk; an empty one means that none is left.
    #[inline]
    fn find(&self, threads: u32, thread: u32) -> Range<u64> {
        let (trips, chunk) = (self.span.get().trips, self.chunk.get());
        let next = self.next.get();
        match next {
            Next::Nothing => return 0..0,
            Next::Block => {
                self.next.set(Next::Nothing);
                return iterations::block(trips, threads, thread);
            }
            Next::BalancedBlock => {
                self.next.set(Next::Nothing);
                return iterations::balanced_block(trips, threads, thread, chunk);
            }
            Next::Chunk(number) => {
                self.next.set(Next::Chunk(number.saturating_add(threads.into())));
                return iterations::chunk(trips, chunk, number);
            }
            _ => {}
        }
        let Some(Share { next: given, .. }) = self.share() else { return 0..0 };
        let size = |at| match next {
            Next::TakeLess => iterations::guided(trips - at, threads, chunk),
            Next::TakeLessWhole => iterations::guided_whole(trips - at, threads, chunk),
            _ => chunk.min(trips - at),
        };
        if next == Next::Take {
            let at = given.fetch_add(chunk, Ordering::Relaxed);
            return at.min(trips)..at.saturating_add(chunk).min(trips);
        }
        let take = |at| (at < trips).then(|| at + size(at));
        match given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(at) => at..at + size(at),
            Err(_) => 0..0,
        }
    }

    /// Lets the `ordered` regions of the next chunk run, when those of all before have.
    fn pass(&self, gives_up: impl Fn() -> bool) {
        if !self.has_passed.replace(true)
            && let Some(share) = self.share()
        {
            self.wait_for_turn(share, gives_up);
            // Pairs with the load of `wait_for_turn`.
            share.next_ordered.store(self.end.get(), Ordering::Release);
        }
    }

    fn wait_for_turn(&self, share: &Share, gives_up: impl Fn() -> bool) {
        let begin = self.begin.get();
        wait::until(|| share.next_ordered.load(Ordering::Acquire) == begin || gives_up());
    }
}

impl Member {
    /// So many zero bytes, which the threads of the loop share.
    pub(crate) fn zeros(&self, bytes: usize) -> *mut c_void {
        // Where the region was cancelled no other thread comes.
        self.work.share().map_or_else(|| share::zeros(bytes), |share| share.zeros(bytes))
    }

    /// The share of the next construct that has one; null if the region was cancelled before all
    /// had left an older one.
    pub(crate) fn meet(&self) -> *const Share {
        let Some(team) = self.team() else {
            return &raw const **self.work.own.get_or_init(Box::default);
        };
        let met = self.work.met.get();
        self.work.met.set(met + 1);
        team.ring().meet(met, || self.gives_up()).map_or(ptr::null(), ptr::from_ref)
    }

    /// Whether the region was cancelled, so that the thread waits for no other one.
    pub(crate) fn gives_up(&self) -> bool {
        self.region().is_cancelled.load(Ordering::Relaxed)
    }

    /// The thread comes to a loop. If the region is cancelled meanwhile the loop has no iterations
    /// left.
    pub(crate) fn enter_loop(&self, span: Span, asked: LoopOptions) {
        self.leave_loop();
        let size = self.region().size;
        let work = &self.work;
        let chunk = asked.chunk.clamp(1, span.trips.max(1));
        let next = match asked.how {
            LoopSchedule::Static if asked.chunk == 0 => Next::Block,
            LoopSchedule::Static => Next::Chunk(self.number.into()),
            _ if size == 1 => Next::Chunk(0),
            LoopSchedule::Balanced => Next::BalancedBlock,
            // At the end each thread takes one chunk too many.
            LoopSchedule::Dynamic => match chunk.checked_mul(u64::from(size) + 1) {
                Some(more) if span.trips.checked_add(more).is_some() => Next::Take,
                _ => Next::TakeWithCare,
            },
            LoopSchedule::Guided => Next::TakeLess,
            LoopSchedule::GuidedWhole => Next::TakeLessWhole,
        };
        let is_own = matches!(next, Next::Block | Next::BalancedBlock | Next::Chunk(_));
        let is_ordered = asked.is_ordered && size > 1;
        if !is_own || is_ordered || asked.shares {
            work.share.set(self.meet());
        }
        work.span.set(span);
        work.chunk.set(chunk);
        work.next.set(next);
        work.is_ordered.set(is_ordered);
        work.has_passed.set(true);
    }

    /// The iterations of the thread's next chunk in its loop.
    #[inline]
    pub(crate) fn next_chunk(&self) -> Option<Range<u64>> {
        let work = &self.work;
        if work.is_ordered.get() {
            work.pass(|| self.gives_up());
        }
        let found = work.find(self.region().size, self.number);
        if found.is_empty() {
            work.next.set(Next::Nothing);
            return None;
        }
        work.begin.set(found.start);
        work.end.set(found.end);
        if work.is_ordered.get() {
            work.has_passed.set(false);
            work.ended.set(0);
        }
        Some(found)
    }

    /// The thread leaves its current loop, if any.
    pub(crate) fn leave_loop(&self) {
        self.work.next.set(Next::Nothing);
        self.work.is_ordered.set(false);
        if let Some(share) = self.work.share() {
            self.work.share.set(ptr::null());
            share.leave(self.region().size);
        }
    }

    /// The thread leaves its current loop and its `doacross` loops, if any.
    pub(crate) fn leave_constructs(&self) {
        self.leave_loop();
        self.leave_doacross();
    }

    /// The identifier of the loop's `ordered` regions: the address that its threads share.
    pub(crate) fn ordered_id(&self) -> *const () {
        let share = self.work.share.get();
        if share.is_null() { self.region.cast() } else { share.cast() }
    }

    /// An `ordered` region begins.
    pub(crate) fn begin_ordered(&self) {
        if let (true, Some(share)) = (self.work.is_ordered.get(), self.work.share()) {
            self.work.wait_for_turn(share, || self.gives_up());
        }
    }

    /// An `ordered` region ends. An iteration has at most one: after that of the chunk's last
    /// iteration, the next chunk's can run.
    pub(crate) fn end_ordered(&self) {
        let work = &self.work;
        if work.is_ordered.get() && work.end.get() - work.begin.get() - work.ended.get() == 1 {
            work.pass(|| self.gives_up());
        }
    }

    /// An iteration of an ordered loop has ended.
    pub(crate) fn end_iteration(&self) {
        self.work.ended.set(self.work.ended.get() + 1);
    }
}

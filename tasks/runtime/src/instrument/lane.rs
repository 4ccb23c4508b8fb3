//! The record of one thread: its current slice, and the times of its past.
//!
//! Only the thread writes. Any thread may read at any time, also while this thread is in the middle
//! of a task, since a program may end there: numbers are atomic, and times move from one counter to
//! another under the lock of the strip.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::clock::ticks;
use super::functions::{Name, Role};
use super::open::{Open, What};
use super::recorder::{PULSE, Recorder};
use super::strip::{SLOT_LOOKS, SLOT_OUTSIDE, SLOT_RUNTIME, SLOT_SLEEPS, SLOTS, Slots, Strip};
use super::tally::{Count, Tally};
use super::tape::{Happened, Tape};
use crate::class::Why;
use crate::queued::NO_FUNCTION;
use crate::sync::lock_std;

/// Places of the cache of recently run functions.
const RECENT: usize = 256;

/// One thread's part of a recording.
pub(crate) struct Lane {
    recorder: *const Recorder,
    /// Name of the thread.
    pub(super) name: String,
    pub(super) thread: u32,
    /// Whether its thread has ended, so that another one of that name may take the lane over.
    is_free: AtomicBool,
    /// The innermost frame of the running stack. Used by the thread alone, as are the next four.
    top: Cell<*const Open>,
    /// Workers that the thread is inside of.
    inside: Cell<u32>,
    /// Whether the thread is a runtime's own, which has nothing to do while no thread uses that
    /// runtime.
    serves: AtomicBool,
    /// [`Recorder::usage`] at the start of the current slice, where the thread has nothing to run.
    used: Count,
    /// Whether the next task is run by its creator.
    next_is_inlined: Cell<bool>,
    /// Whether the next task that its creator runs is declared wide.
    pub(super) next_wide: Cell<bool>,
    recent: Box<[Cell<(usize, *const Tally)>]>,
    /// The start of the current slice.
    last: Count,
    /// The current slice: a slot, and above the slot the function's number.
    doing: Count,
    /// Ticks of each slot since the strip was last written.
    done: [Count; SLOTS],
    pulsed: Count,
    /// Ticks of each slot before that.
    total: [Count; SLOTS],
    strip: Mutex<Strip>,
    tallies: Mutex<Vec<Arc<Tally>>>,
    pub(super) tape: Tape,
}

// SAFETY: cells are used by the lane's thread alone; the rest is atomic or under a lock. Another
// thread takes a lane over only after the lane's own thread has ended.
unsafe impl Sync for Lane {}
// SAFETY: a lane changes its thread only after that has ended, and the recorder, which holds the
// lane, outlives every use of its pointer.
unsafe impl Send for Lane {}

/// The lanes of a thread, one for each recorder.
struct OfThread(Vec<(Weak<Recorder>, Arc<Lane>)>);

impl Drop for OfThread {
    fn drop(&mut self) {
        for (recorder, lane) in &self.0 {
            // The recorder is gone, and nothing reads the lane.
            let Some(_recorder) = recorder.upgrade() else { continue };
            // A program may end in the middle of a task.
            lane.inside.set(0);
            lane.leaves_stack();
            lane.pulse(ticks());
            // Pairs with `takes_over`. The program's first thread keeps its lane: its end ends the
            // process.
            lane.is_free.store(!is_first(lane.thread), Ordering::Release);
        }
    }
}

thread_local! {
    static OF_THREAD: RefCell<OfThread> = const { RefCell::new(OfThread(Vec::new())) };
}

impl Lane {
    /// The lane of the calling thread; null where the thread ends just now.
    pub(super) fn of_thread(recorder: &Arc<Recorder>) -> *const Self {
        let known = OF_THREAD.try_with(|all| {
            let all = &mut all.borrow_mut().0;
            all.retain(|(of, _)| of.strong_count() > 0);
            let found = all.iter().find(|(of, _)| ptr::eq(of.as_ptr(), Arc::as_ptr(recorder)));
            if let Some((_, lane)) = found {
                return Arc::as_ptr(lane);
            }
            let lane = recorder.lane(|| Self::new(recorder), |lane| lane.takes_over());
            all.push((Arc::downgrade(recorder), lane.clone()));
            Arc::as_ptr(&lane)
        });
        known.unwrap_or(ptr::null())
    }

    fn new(recorder: &Arc<Recorder>) -> Self {
        let thread = thread_number();
        // Time before this is not this thread's; the program's first thread has existed from the
        // beginning.
        let since = Count::of(if is_first(thread) { recorder.begin.ticks } else { ticks() });
        let pulsed = Count::of(since.get());
        Self {
            recorder: Arc::as_ptr(recorder),
            name: thread_name(),
            thread,
            is_free: AtomicBool::new(false),
            top: Cell::new(ptr::null()),
            inside: Cell::new(0),
            serves: AtomicBool::new(false),
            used: Count::none(),
            next_is_inlined: Cell::new(false),
            next_wide: Cell::new(false),
            recent: (0..RECENT).map(|_| Cell::new((0, ptr::null()))).collect(),
            last: since,
            doing: Count::none(),
            done: [const { Count::none() }; SLOTS],
            pulsed,
            total: [const { Count::none() }; SLOTS],
            strip: Mutex::new(Strip::new()),
            tallies: Mutex::new(Vec::new()),
            tape: Tape::new(),
        }
    }

    /// Whether the calling thread takes over the lane of one that has ended. Called under a lock.
    fn takes_over(&self) -> bool {
        let may = self.is_free.load(Ordering::Acquire) && self.name == thread_name();
        if may {
            // The time between the two threads belongs to neither.
            let now = ticks();
            self.last.set(now);
            self.pulsed.set(now);
            // Pairs with `did`.
            self.is_free.store(false, Ordering::Release);
        }
        may
    }

    #[inline]
    fn recorder(&self) -> &Recorder {
        // SAFETY: the recorder has the lane in its list; every user of the lane holds the recorder.
        unsafe { &*self.recorder }
    }

    fn strip(&self) -> MutexGuard<'_, Strip> {
        lock_std(&self.strip)
    }

    /// Ends the current slice and begins another one.
    #[inline]
    fn switch(&self, now: u64, doing: u64) {
        let elapsed = now.saturating_sub(self.last.get());
        let idle = self.idle(now, elapsed);
        self.done[slot_of(self.doing.get())].add(elapsed - idle);
        self.done[SLOT_OUTSIDE].add(idle);
        // SAFETY: frames are alive while they are linked.
        if let Some(top) = unsafe { self.top.get().as_ref() } {
            top.own.set(top.own.get() + elapsed);
        }
        self.last.set(now);
        self.doing.set(doing);
        if self.looks_or_sleeps() {
            self.used.set(self.recorder().usage.until(now));
        }
        if now.saturating_sub(self.pulsed.get()) > PULSE {
            self.pulse(now);
        }
    }

    /// Whether this is a runtime's own thread that has nothing to run.
    fn looks_or_sleeps(&self) -> bool {
        self.serves.load(Ordering::Relaxed)
            && matches!(slot_of(self.doing.get()), SLOT_LOOKS | SLOT_SLEEPS)
    }

    /// The part of the current slice in which no thread used the runtime.
    fn idle(&self, now: u64, elapsed: u64) -> u64 {
        if !self.looks_or_sleeps() {
            return 0;
        }
        let used = self.recorder().usage.until(now).saturating_sub(self.used.get());
        elapsed.saturating_sub(used)
    }

    /// The slice of the thread where this frame, which may be null, is the innermost.
    fn doing_in(&self, frame: *const Open) -> u64 {
        let bare = if self.inside.get() > 0 { SLOT_RUNTIME } else { SLOT_OUTSIDE };
        // SAFETY: frames are alive while they are linked.
        unsafe { frame.as_ref() }.map_or(bare as u64, doing)
    }

    #[cold]
    fn pulse(&self, now: u64) {
        let begin = self.recorder().begin.ticks;
        let mut strip = self.strip();
        let done = self.take_done();
        let since = self.pulsed.get().saturating_sub(begin);
        strip.add(since, now.saturating_sub(begin), &done);
        self.pulsed.set(now);
    }

    fn take_done(&self) -> Slots {
        std::array::from_fn(|slot| {
            let done = self.done[slot].get();
            self.done[slot].set(0);
            self.total[slot].add(done);
            done
        })
    }

    /// Ticks of each slot until now, in all and over time; any thread may call this.
    pub(super) fn did(&self, now: u64) -> (Slots, Strip) {
        let begin = self.recorder().begin.ticks;
        let strip = self.strip();
        let mut done: Slots = std::array::from_fn(|slot| self.done[slot].get());
        if !self.is_free.load(Ordering::Acquire) {
            let elapsed = now.saturating_sub(self.last.get());
            let idle = self.idle(now, elapsed);
            done[slot_of(self.doing.get())] += elapsed - idle;
            done[SLOT_OUTSIDE] += idle;
        }
        let all = std::array::from_fn(|slot| self.total[slot].get() + done[slot]);
        let mut whole = strip.clone();
        let since = self.pulsed.get().saturating_sub(begin);
        whole.add(since, now.saturating_sub(begin), &done);
        (all, whole)
    }

    /// The running function, if no tape has its beginning: the time of the beginning, and the
    /// function's number.
    pub(super) fn is_doing(&self) -> Option<(u64, u32)> {
        let doing = self.doing.get();
        let is_inside = !self.is_free.load(Ordering::Relaxed) && slot_of(doing) > SLOT_RUNTIME;
        let is_written = doing & IS_WRITTEN != 0;
        (is_inside && !is_written)
            .then(|| (self.since_begin(self.last.get()), (doing >> SLOT_BITS) as u32))
    }

    /// The functions that the thread ran.
    pub(super) fn tallies(&self) -> Vec<Arc<Tally>> {
        lock_std(&self.tallies).clone()
    }

    /// The counters of a function.
    pub(super) fn tally(&self, key: usize, role: Role) -> &Tally {
        let place = &self.recent[(key >> 4 ^ key >> 12 ^ usize::from(role == Role::Code)) % RECENT];
        let marked = key << 1 | usize::from(role == Role::Code);
        let (found, tally) = place.get();
        if found != marked || tally.is_null() {
            place.set((marked, self.find_tally(key, role)));
        }
        // SAFETY: the tally is in the list of this lane, which keeps its entries.
        unsafe { &*place.get().1 }
    }

    #[cold]
    fn find_tally(&self, key: usize, role: Role) -> *const Tally {
        let (function, slot) = self.recorder().functions.number(key, role);
        let mut tallies = lock_std(&self.tallies);
        let known = tallies.iter().find(|tally| tally.function == function);
        if let Some(known) = known {
            return Arc::as_ptr(known);
        }
        tallies.push(Arc::new(Tally::new(function, slot)));
        Arc::as_ptr(&tallies[tallies.len() - 1])
    }

    /// Names a function, unless the function has a name.
    pub(super) fn name(&self, tally: &Tally, name: impl FnOnce() -> Name) {
        if !tally.is_named.replace(true) {
            self.recorder().functions.name(tally.function, name);
        }
    }

    fn write(&self, happened: Happened, now: u64) {
        self.recorder().write(&self.tape, happened, now);
    }

    fn since_begin(&self, now: u64) -> u64 {
        now.saturating_sub(self.recorder().begin.ticks)
    }

    /// Changes the number of workers that the thread is inside of; -1 as 32 bits is one less.
    pub(super) fn goes_inside(&self, more: u32) {
        self.inside.set(self.inside.get().wrapping_add(more));
        self.switch(ticks(), self.doing_in(self.top.get()));
    }

    /// The thread is a runtime's own.
    pub(super) fn begins_to_serve(&self) {
        self.serves.store(true, Ordering::Relaxed);
    }

    /// A thread from outside begins to use a runtime, or stops.
    pub(super) fn uses(&self, begins: bool) {
        let usage = &self.recorder().usage;
        if begins { usage.begins(ticks()) } else { usage.ends(ticks()) }
    }

    /// A frame begins, which stays at its address until its end.
    pub(super) fn begin(&self, frame: &Open) {
        let now = ticks();
        let is_task = frame.what == What::Task;
        frame
            .is_inlined
            .set(frame.is_inlined.get() || is_task && self.next_is_inlined.replace(false));
        match frame.what {
            What::Task if frame.key == NO_FUNCTION => {}
            What::Task => frame.tally.set(self.tally(frame.key, Role::Task)),
            What::Code => frame.tally.set(self.tally(frame.key, Role::Code)),
            _ => {}
        }
        // SAFETY: frames are alive while they are linked.
        if let Some(outer) = unsafe { self.top.get().as_ref() } {
            self.write_begin(outer, now);
        }
        self.switch(now, doing(frame));
        frame.outer.set(self.top.replace(frame));
        frame.begun.set(now);
    }

    fn write_begin(&self, frame: &Open, now: u64) {
        if self.recorder().traces && !frame.is_written.replace(true) {
            let at = self.since_begin(frame.begun.get());
            self.write(
                Happened::Begin { at, activity: frame.activity(), task: frame.task as u64 },
                now,
            );
        }
    }

    /// The innermost frame ends.
    pub(super) fn end(&self, frame: &Open) {
        let now = ticks();
        self.switch(now, self.doing_in(frame.outer.get()));
        self.top.set(frame.outer.get());
        // SAFETY: the list of this lane keeps its tallies.
        if let Some(tally) = unsafe { frame.tally.get().as_ref() } {
            tally.ran(frame.own.get(), frame.is_inlined.get());
            if let Some((why, is_there)) = frame.wide.get() {
                tally.was_wide(why, is_there);
            }
        }
        self.write_end(frame, now);
    }

    fn write_end(&self, frame: &Open, now: u64) {
        if !self.recorder().traces {
            return;
        }
        if frame.is_written.get() {
            return self.write(Happened::End { at: self.since_begin(now) }, now);
        }
        let (at, ticks) = (self.since_begin(frame.begun.get()), now - frame.begun.get());
        self.write(
            Happened::Slice { at, ticks, activity: frame.activity(), task: frame.task as u64 },
            now,
        );
    }

    /// The worker leaves the running stack: its tasks stop. Returns the innermost frame.
    pub(super) fn leaves_stack(&self) -> *const Open {
        let now = ticks();
        let top = self.top.get();
        self.switch(now, self.doing_in(ptr::null()));
        self.top.set(ptr::null());
        let mut next = top;
        // SAFETY: frames of a stack that was left stay where they are.
        while let Some(frame) = unsafe { next.as_ref() } {
            self.write_end(frame, now);
            frame.is_written.set(false);
            next = frame.outer.get();
        }
        top
    }

    /// The worker comes back to a stack: its tasks go on.
    pub(super) fn comes_back(&self, top: *const Open) {
        let now = ticks();
        self.switch(now, self.doing_in(top));
        self.top.set(top);
        let mut frames = Vec::new();
        let mut next = top;
        // SAFETY: frames of a stack that was left stay at their addresses.
        while let Some(frame) = unsafe { next.as_ref() } {
            frame.begun.set(now);
            frames.push(frame);
            next = frame.outer.get();
        }
        for frame in frames.iter().skip(1).rev() {
            self.write_begin(frame, now);
        }
    }

    /// Another stack runs for a while. Returns the innermost frame of this one.
    pub(super) fn changes_stack(&self, top: *const Open) -> *const Open {
        // SAFETY: frames are alive while they are linked.
        if let Some(frame) = unsafe { self.top.get().as_ref() } {
            self.write_begin(frame, ticks());
        }
        self.switch(ticks(), self.doing_in(top));
        self.top.replace(top)
    }

    /// The innermost frame turns out to run no task, and is not counted.
    pub(super) fn runs_nothing(&self) {
        // SAFETY: frames are alive while they are linked.
        if let Some(top) = unsafe { self.top.get().as_ref() } {
            top.tally.set(ptr::null());
            self.doing.set(doing(top));
        }
    }

    /// The innermost frame is a wide task.
    pub(super) fn is_wide(&self, why: Why, is_there: bool) {
        // SAFETY: frames are alive while they are linked.
        if let Some(top) = unsafe { self.top.get().as_ref() } {
            top.wide.set(Some((why, is_there)));
        }
    }

    /// Names a function if `name` knows one.
    #[cold]
    #[inline(never)]
    pub(super) fn calls(&self, key: usize, role: Role, name: impl FnOnce() -> Option<Name>) {
        let tally = self.tally(key, role);
        if !tally.is_named.replace(true)
            && let Some(name) = name()
        {
            self.recorder().functions.name(tally.function, || name);
        }
    }

    /// The next task that begins here was not queued.
    pub(super) fn inlines_next(&self) {
        self.next_is_inlined.set(true);
    }

    /// The end of one task made another one ready.
    pub(super) fn released(&self, task: usize) {
        if self.recorder().traces {
            let now = ticks();
            self.write(Happened::Released { at: self.since_begin(now), task: task as u64 }, now);
        }
    }

    /// Records the scheduler's threshold and queue length, if no thread has for a while.
    pub(super) fn sample(&self, read: impl FnOnce() -> (usize, usize)) {
        let now = self.last.get();
        if self.recorder().wants_sample(now) {
            let (threshold, ready) = read();
            self.recorder().sampled(self.since_begin(now), threshold, ready);
            let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let (at, threshold, ready) = (self.since_begin(now), narrow(threshold), narrow(ready));
            if self.recorder().traces {
                self.write(Happened::Threshold { at, threshold, ready }, now);
            }
        }
    }
}

/// Bits of a slot.
const SLOT_BITS: u32 = 8;

fn slot_of(doing: u64) -> usize {
    (doing as usize & ((1 << SLOT_BITS) - 1)).min(SLOTS - 1)
}

/// Set where a tape has the beginning of the slice.
const IS_WRITTEN: u64 = 1 << 63;

fn doing(frame: &Open) -> u64 {
    let written = if frame.is_written.get() { IS_WRITTEN } else { 0 };
    written | u64::from(frame.activity()) << SLOT_BITS | frame.slot() as u64
}

fn thread_number() -> u32 {
    // SAFETY: the call has no arguments, and cannot fail.
    u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0)
}

/// Whether this is the thread that the program began with.
fn is_first(thread: u32) -> bool {
    thread == std::process::id()
}

fn thread_name() -> String {
    match std::thread::current().name() {
        Some(name) => name.to_owned(),
        None if is_first(thread_number()) => "main".to_owned(),
        None => "a thread".to_owned(),
    }
}

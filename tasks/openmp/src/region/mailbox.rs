//! Where a thread of a pool waits for its next region.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

use evenkeel_runtime::internal::{Parker, Pause};

use super::pooled_team::PooledTeam;
use crate::settings::patience;
use crate::team::Team;
use crate::wait::oversubscription::{Awake, oversubscribed};
use crate::wait::yielding::Yielding;

/// A thread that shares its CPU with another of its team sleeps after its first region, and again
/// after this many regions: the kernel gives a woken thread an idle CPU, and moves no thread that
/// yields.
const SHARED: u64 = 8;

/// The mailbox of one thread.
#[repr(align(128))]
pub(super) struct Mailbox {
    /// Regions that the pool has begun, up to the last one that this thread was called for.
    begun: AtomicU64,
    /// The team of that region; null when the pool ends.
    team: AtomicPtr<PooledTeam>,
    awake: Awake,
    parker: Parker,
    yielding: Yielding,
}

impl Mailbox {
    /// The mailbox of a thread about to be started, which counts for `counts` threads that want a
    /// CPU.
    pub(super) fn new(counts: u32) -> Self {
        Self {
            begun: AtomicU64::new(0),
            team: AtomicPtr::new(ptr::null_mut()),
            awake: Awake::new(counts),
            parker: Parker::new(),
            yielding: Yielding::default(),
        }
    }

    /// Gives the thread a region of the team, the `begun`-th region of the pool. A sleeping thread
    /// also needs [`Mailbox::wake`], after a fence.
    pub(super) fn send(&self, team: *const PooledTeam, begun: u64) {
        // Pairs with `team`.
        self.team.store(team.cast_mut(), Ordering::Release);
        // Pairs with `receive`.
        self.begun.store(begun, Ordering::Release);
    }

    /// Wakes the thread if it sleeps.
    pub(super) fn wake(&self) {
        if self.awake.wakes() {
            self.parker.unpark();
        }
    }

    fn sleep_until(&self, is_called: impl Fn() -> bool) {
        self.awake.sleeps();
        // Pairs with the fence of `thread_pool::call`: this thread sees what was sent, or the
        // caller sees that this thread sleeps.
        fence(Ordering::SeqCst);
        while !is_called() {
            self.parker.park();
        }
        self.awake.wakes();
    }

    /// Waits for the next region after the `known`-th, which this thread left with this number;
    /// `None` when the pool ends.
    pub(super) fn receive(&self, known: &mut u64, number: u32) -> Option<&PooledTeam> {
        // Pairs with `send`.
        let is_called = || self.begun.load(Ordering::Acquire) != *known;
        let team = || self.team().map(|team| &team.team);
        let sharing = || team().filter(|team| team.yields_to_itself(number)).map(Team::size);
        if let Some(threads) = oversubscribed() {
            self.yielding.wait(threads, is_called, || self.sleep_until(is_called));
        } else if let Some(size) = sharing() {
            if *known % SHARED == 1 {
                self.sleep_until(is_called);
            } else {
                self.yielding.wait(size, is_called, || self.sleep_until(is_called));
            }
        } else {
            let mut pause = Pause::new(patience());
            while !is_called() {
                if !pause.lasts(is_called) {
                    self.sleep_until(is_called);
                }
            }
        }
        *known = self.begun.load(Ordering::Relaxed);
        self.team()
    }

    /// The team that was sent last. A thread may see it before the region that it was sent for.
    fn team(&self) -> Option<&PooledTeam> {
        // Pairs with `send`.
        // SAFETY: a team lives as long as its pool, which sends null before it frees its teams.
        unsafe { self.team.load(Ordering::Acquire).as_ref() }
    }

    /// The thread ends.
    pub(super) fn ends(&self) {
        self.awake.ends();
    }
}

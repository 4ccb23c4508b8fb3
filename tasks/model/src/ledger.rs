//! Where virtual time went: by use, and by the line of code that waited.

use std::panic::Location;

use rustc_hash::FxHashMap;

/// The uses of a worker's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// The bodies of tasks.
    Body,
    /// The runtime's own instructions.
    Code,
    /// Cache lines that were on their way.
    Transfers,
    /// Waiting for lines that other workers had asked for before.
    Queues,
    /// Locks, from wanting a lock to having the lock.
    Locks,
    /// Pauses between looks.
    Spinning,
    /// Sleep, and the cost of waking other workers.
    Sleeping,
    /// membarrier(2), on either side.
    Membarrier,
}

/// The number of uses.
pub const USES: usize = 8;

/// Names in the order of [`Spent`].
pub const NAMES: [&str; USES] =
    ["body", "code", "transfers", "queues", "locks", "spinning", "sleeping", "barriers"];

/// Time by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// In the order of [`Spent`].
    pub spent_ps: [u64; USES],
}

impl Ledger {
    /// Adds to one use.
    pub(crate) fn spend(&mut self, on: Spent, time_ps: u64) {
        self.spent_ps[on as usize] += time_ps;
    }

    /// The time since an earlier state.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let of_use = |n: usize| self.spent_ps[n].saturating_sub(earlier.spent_ps[n]);
        Self { spent_ps: std::array::from_fn(of_use) }
    }

    /// Both together.
    pub(crate) fn add(&mut self, other: &Self) {
        self.spent_ps.iter_mut().zip(other.spent_ps).for_each(|(sum, more)| *sum += more);
    }
}

/// A line of code whose steps waited for cache lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// File and line.
    pub place: String,
    /// Steps that had to wait.
    pub misses: u64,
    /// How long the lines were on their way.
    pub moved_ps: u64,
    /// How long other workers had the line first.
    pub queued_ps: u64,
    /// From wanting a lock at this line to having the lock, cache lines included.
    pub locked_ps: u64,
}

impl Site {
    fn waited_ps(&self) -> u64 {
        self.locked_ps.max(self.moved_ps + self.queued_ps)
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Sites {
    found: FxHashMap<(&'static str, u32), Site>,
}

impl Sites {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
    }

    fn at(&mut self, at: &'static Location<'static>) -> &mut Site {
        let (file, line) = (at.file(), at.line());
        self.found.entry((file, line)).or_insert_with(|| {
            let file = file.rsplit_once("src/").map_or(file, |(_, rest)| rest);
            let place = format!("{file}:{line}");
            Site { place, misses: 0, moved_ps: 0, queued_ps: 0, locked_ps: 0 }
        })
    }

    /// A step had to wait for a line.
    pub(crate) fn waited(&mut self, at: &'static Location<'static>, moved_ps: u64, queued_ps: u64) {
        let site = self.at(at);
        site.misses += 1;
        site.moved_ps += moved_ps;
        site.queued_ps += queued_ps;
    }

    /// A lock was had after a while.
    pub(crate) fn locked(&mut self, at: &'static Location<'static>, locked_ps: u64) {
        self.at(at).locked_ps += locked_ps;
    }

    /// Those that waited longest, the worst first.
    pub(crate) fn worst(&self, most: usize) -> Vec<Site> {
        let mut all: Vec<Site> = self.found.values().cloned().collect();
        all.sort_by(|a, b| b.waited_ps().cmp(&a.waited_ps()).then_with(|| a.place.cmp(&b.place)));
        all.truncate(most);
        all
    }
}

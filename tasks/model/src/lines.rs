//! Cache lines: the holders of each, and when the line may go on to the next one.
//!
//! Like MESI without the difference of modified and exclusive: a line has no holder, one holder, or
//! several that only read. A line travels to one CPU at a time.

use evenkeel_runtime::internal::virtual_workers::Use;
use rustc_hash::FxHashMap;

use crate::cost::Costs;

/// Bytes of a line, as a power of two.
const LINE_LOG2: u32 = 6;

/// The waiting times of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Took {
    /// Until earlier requests of other workers have had the line.
    pub(crate) queued_ps: u64,
    /// Until the line has come.
    pub(crate) moved_ps: u64,
}

enum Holders {
    Nobody,
    One(usize),
    Many(Readers),
}

/// Workers, and their domains, as sets of bits.
struct Readers {
    workers: Vec<u64>,
    domains: u64,
}

struct Line {
    holders: Holders,
    free_at_ps: u64,
}

/// All lines that were used.
pub(crate) struct Lines {
    lines: FxHashMap<usize, Line>,
    /// Of each worker, below 64.
    domains: Vec<u32>,
}

impl Readers {
    fn has(&self, worker: usize) -> bool {
        self.workers[worker / 64] >> (worker % 64) & 1 == 1
    }

    fn add(&mut self, worker: usize, domain: u32) {
        self.workers[worker / 64] |= 1 << (worker % 64);
        self.domains |= 1 << domain;
    }
}

impl Lines {
    /// For workers of these NUMA domains.
    pub(crate) fn new(domains: Vec<u32>) -> Self {
        debug_assert!(domains.iter().all(|&domain| domain < 64));
        Self { lines: FxHashMap::default(), domains }
    }

    /// A worker uses the line of an address at some time, not before any earlier use.
    pub(crate) fn access(
        &mut self,
        address: usize,
        how: Use,
        worker: usize,
        now_ps: u64,
        costs: &Costs,
    ) -> Took {
        let line = self
            .lines
            .entry(address >> LINE_LOG2)
            .or_insert(Line { holders: Holders::Nobody, free_at_ps: 0 });
        let domain = self.domains[worker];
        let distance = |domains: u64| {
            if domains & !(1 << domain) == 0 { costs.near_ps } else { costs.far_ps }
        };
        let (moved_ps, busy_ps) = match (&line.holders, how) {
            (Holders::One(holder), _) if *holder == worker => return Took::default(),
            (Holders::Many(readers), Use::Load) if readers.has(worker) => return Took::default(),
            (Holders::Nobody, _) => (costs.memory_ps, costs.memory_ps),
            (Holders::One(holder), _) => {
                let moved_ps = distance(1 << self.domains[*holder]);
                (moved_ps, moved_ps)
            }
            (Holders::Many(readers), Use::Load) => {
                let is_near = readers.domains >> domain & 1 == 1;
                (if is_near { costs.near_ps } else { costs.far_ps }, costs.share_ps)
            }
            (Holders::Many(readers), _) => {
                let moved_ps = distance(readers.domains);
                (moved_ps, moved_ps)
            }
        };
        let queued_ps = line.free_at_ps.saturating_sub(now_ps);
        line.free_at_ps = now_ps + queued_ps + busy_ps;
        line.hold(how, worker, &self.domains);
        Took { queued_ps, moved_ps }
    }
}

impl Line {
    fn hold(&mut self, how: Use, worker: usize, domains: &[u32]) {
        match (&mut self.holders, how) {
            (Holders::Many(readers), Use::Load) => readers.add(worker, domains[worker]),
            (Holders::One(holder), Use::Load) => {
                let words = domains.len().div_ceil(64);
                let mut readers = Readers { workers: vec![0; words], domains: 0 };
                readers.add(*holder, domains[*holder]);
                readers.add(worker, domains[worker]);
                self.holders = Holders::Many(readers);
            }
            _ => self.holders = Holders::One(worker),
        }
    }
}

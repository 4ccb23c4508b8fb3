//! The last access to each address among the children of a task.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use super::ranges::{Piece, RangeAccess, Ranges};
use super::{Access, Accesses, Link, Then};
use crate::sync::prefetch;

/// Addresses, and the last access to each.
///
/// An access stays here after its end, and its block with the access. Accesses that have ended are
/// released before the table would grow: so the table is never larger than twice the accesses in
/// use, and the cost of an access does not depend on how many came before.
pub(crate) struct Table {
    last: HashMap<usize, *const Link, FxBuildHasher>,
    ranges: Ranges,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { last: HashMap::default(), ranges: Ranges::default() }
    }

    /// The last access to an address.
    pub(super) fn last(&self, address: usize) -> Option<&Link> {
        // SAFETY: the table holds its accesses, so `access` is alive.
        self.last.get(&address).map(|&access| unsafe { &*access })
    }

    /// Begins to fetch the last access to each of these addresses, whose cache line the worker of
    /// its task has.
    pub(super) fn fetch(&self, addresses: impl Iterator<Item = usize>) {
        addresses.filter_map(|address| self.last.get(&address)).for_each(|&last| prefetch(last));
    }

    /// The addresses whose last access has not passed everything on.
    pub(crate) fn addresses(&self) -> Vec<usize> {
        // SAFETY: the table holds its accesses, so `access` is alive.
        let waits = |access: *const Link| unsafe { !(*access).has_passed() };
        self.last.iter().filter(|(_, last)| waits(**last)).map(|(&address, _)| address).collect()
    }

    /// Whether a task uses the data of any of these accesses, or will.
    pub(crate) fn uses(&self, accesses: &[Access]) -> bool {
        accesses
            .iter()
            .any(|access| self.last(access.address).is_some_and(|last| !last.has_passed()))
    }

    /// Whether a task has part of these ranges, or will.
    pub(crate) fn uses_ranges(&self, ranges: &[RangeAccess]) -> bool {
        ranges.iter().any(|range| self.ranges.uses(range))
    }

    /// Whether a task with these ranges could run and end now.
    pub(crate) fn are_ranges_free(&self, ranges: &[RangeAccess]) -> bool {
        ranges.iter().all(|range| self.ranges.is_free(range))
    }

    /// Finds the accesses that the next task has to follow in these ranges. Returns the parts of
    /// ranges that the task accesses, which must come after its other accesses.
    pub(crate) fn plan(
        &mut self,
        ranges: &[RangeAccess],
        then: &impl Then,
    ) -> impl ExactSizeIterator<Item = Access> {
        self.ranges.plan(ranges, then);
        let part = |piece: &Piece| Access::part(piece.range.start, piece.range.kind);
        self.ranges.pieces.iter().map(part)
    }

    /// How many parts were planned and not yet added.
    pub(super) fn pieces(&self) -> usize {
        self.ranges.pieces.len()
    }

    /// Adds the access to the last of the planned parts. Returns whether the access is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call this.
    pub(super) unsafe fn add_piece(&mut self, link: &Link, then: &impl Then) -> bool {
        let piece = self.ranges.pieces.pop().expect("a part that was planned");
        // SAFETY: this is the parent's worker.
        unsafe { self.ranges.add(piece, link, then) }
    }

    /// Puts an access into the place of the last one to its address, and returns that.
    pub(super) fn replace(
        &mut self,
        address: usize,
        link: &Link,
        then: &impl Then,
    ) -> Option<*const Link> {
        if self.last.len() == self.last.capacity() {
            self.sweep(then);
        }
        match self.last.entry(address) {
            Entry::Occupied(mut entry) => Some(entry.insert(link)),
            Entry::Vacant(entry) => {
                entry.insert(link);
                None
            }
        }
    }

    /// Releases accesses that have ended; makes room if few had.
    #[cold]
    fn sweep(&mut self, then: &impl Then) {
        self.last.retain(|_, access| {
            // SAFETY: the table holds the access until here, and forgets a passed one after `die`.
            unsafe {
                let passed = (**access).has_passed();
                if passed {
                    (**access).die(then);
                }
                !passed
            }
        });
        if self.last.len() * 2 >= self.last.capacity() {
            self.last.reserve(self.last.len().max(8));
        }
    }

    /// The task creates no more children: only the ends of the parent's own accesses `around`
    /// follow the accesses of the table.
    pub(crate) fn close(&mut self, around: Option<&Accesses>, then: &impl Then) {
        for (address, access) in self.last.drain() {
            let outer = around.and_then(|around| around.to(address));
            // SAFETY: the table held the access until now, and each is the last of its chain.
            unsafe { (*access).close(outer, then) };
        }
        self.ranges.close(then);
    }
}

//! The last access to each address among the children of a task.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use super::regions::{Piece, Region, Regions};
use super::{Access, Accesses, Link, Then};
use crate::sync::prefetch;

/// Addresses, and the last access to each.
///
/// An access stays here after it has ended, and its block with it. They are let go before the
/// table would grow: so it is never larger than twice what is in use, and an access costs the
/// same however many there were.
pub(crate) struct Table {
    last: HashMap<usize, *const Link, FxBuildHasher>,
    regions: Regions,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { last: HashMap::default(), regions: Regions::default() }
    }

    /// The last access to an address.
    pub(super) fn last(&self, address: usize) -> Option<&Link> {
        // SAFETY: what is in the table is held.
        self.last.get(&address).map(|&access| unsafe { &*access })
    }

    /// Begins to fetch the last access to each of these addresses, which is with whoever ran its
    /// task.
    pub(super) fn fetch(&self, addresses: impl Iterator<Item = usize>) {
        addresses.filter_map(|address| self.last.get(&address)).for_each(|&last| prefetch(last));
    }

    /// All that an access may still have to wait for.
    pub(crate) fn addresses(&self) -> Vec<usize> {
        // SAFETY: what is in the table is held.
        let waits = |access: *const Link| unsafe { !(*access).has_passed() };
        self.last.iter().filter(|(_, last)| waits(**last)).map(|(&address, _)| address).collect()
    }

    /// Whether a task has any of these, or will.
    pub(crate) fn uses(&self, accesses: &[Access]) -> bool {
        accesses
            .iter()
            .any(|access| self.last(access.address).is_some_and(|last| !last.has_passed()))
    }

    /// The same of regions.
    pub(crate) fn uses_regions(&self, regions: &[Region]) -> bool {
        regions.iter().any(|region| self.regions.uses(region))
    }

    /// Whether a task with these regions could run and end now.
    pub(crate) fn are_regions_free(&self, regions: &[Region]) -> bool {
        regions.iter().all(|region| self.regions.is_free(region))
    }

    /// Finds what the next task that is added has to follow, as it has these regions. Returns the
    /// parts of them that it has to access, which are to follow its other accesses.
    pub(crate) fn plan(
        &mut self,
        regions: &[Region],
        then: &impl Then,
    ) -> impl ExactSizeIterator<Item = Access> {
        self.regions.plan(regions, then);
        let part = |piece: &Piece| Access::part(piece.region.start, piece.region.kind);
        self.regions.pieces.iter().map(part)
    }

    /// How many parts were planned and not yet added.
    pub(super) fn pieces(&self) -> usize {
        self.regions.pieces.len()
    }

    /// Adds the access to the last of them. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it.
    pub(super) unsafe fn add_piece(&mut self, link: &Link, then: &impl Then) -> bool {
        let piece = self.regions.pieces.pop().expect("a part that was planned");
        // SAFETY: the caller's promise.
        unsafe { self.regions.add(piece, link, then) }
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

    /// Lets go what has ended; makes room if that was not much.
    #[cold]
    fn sweep(&mut self, then: &impl Then) {
        self.last.retain(|_, access| {
            // SAFETY: what is in the table is held, and after this not in it any more.
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

    /// No child will be created any more: nothing follows what is in the table, but the ends of the
    /// parent's own accesses `around` it.
    pub(crate) fn close(&mut self, around: Option<&Accesses>, then: &impl Then) {
        for (address, access) in self.last.drain() {
            let outer = around.and_then(|around| around.to(address));
            // SAFETY: what was in the table is held, and the last of its chain.
            unsafe { (*access).close(outer, then) };
        }
        self.regions.close(then);
    }
}

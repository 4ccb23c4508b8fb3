//! Regions: accesses to data of which others access only a part, or more.
//!
//! The [`Table`](super::Table) has, beside its addresses, parts of memory that do not overlap, each
//! with the last access to it. A region that is a part already is followed as an address is: one
//! look into a hash table. One that begins or ends inside a part *cuts* it: a [`Fork`] follows the
//! last access, and passes what it is given on to two accesses, one for each half, which are the
//! last ones then. A task has an access for each part of its region and each gap between them. What
//! has ended is forgotten where a region meets it, and its parts are one again.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;

use super::link::{ALLOWED, ENDED, FORK, IS_ALLOWED, LINKED, Link, PASSED, SHARES, bits_of_kind};
use super::{Access, Accesses, Flow, Kind, Room, Step, Then};

/// A part of memory, and how a task uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
}

impl Region {
    /// So many bytes from an address on. Tasks do not take turns with regions: who would, writes.
    #[must_use]
    pub fn new(address: usize, bytes: usize, kind: Kind) -> Self {
        let kind = if kind == Kind::Commutative { Kind::Write } else { kind };
        Self { start: address, end: address.saturating_add(bytes), kind }
    }

    /// # Panics
    /// Two of them overlap, and conflict: their task would wait for itself.
    #[track_caller]
    pub(crate) fn assert_distinct(all: &[Self]) {
        for (number, one) in all.iter().enumerate() {
            let twice = all[..number].iter().any(|other| {
                one.start < other.end
                    && other.start < one.end
                    && !(one.kind == other.kind && one.kind.shares())
            });
            assert!(!twice, "a task uses the same data twice, and not only to read it");
        }
    }

    /// The same memory in parts that do not overlap; who says two things of one writes it.
    pub(crate) fn disjoint(all: &[Self], disjoint: &mut Vec<Self>) {
        let mut borders: Vec<usize> = all.iter().flat_map(|one| [one.start, one.end]).collect();
        borders.sort_unstable();
        borders.dedup();
        for pair in borders.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            let over = all.iter().filter(|one| one.start <= start && end <= one.end);
            let both = |one, other| if one == other { one } else { Kind::Write };
            let Some(kind) = over.map(|one| one.kind).reduce(both) else { continue };
            match disjoint.last_mut() {
                Some(last) if last.end == start && last.kind == kind => last.end = end,
                _ => disjoint.push(Self { start, end, kind }),
            }
        }
    }
}

/// The last access to a part of memory.
struct Part {
    end: usize,
    last: *const Link,
}

/// What a task accesses of one region: a part, or a gap.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) region: Region,
    /// What it follows; null in a gap.
    after: *const Link,
}

/// Parts of memory, and the last access to each.
#[derive(Default)]
pub(super) struct Regions {
    /// By their starts.
    parts: HashMap<usize, Part, FxBuildHasher>,
    /// The same starts in order.
    starts: BTreeSet<usize>,
    /// Of the task that is being created.
    pub(super) pieces: Vec<Piece>,
    /// Of a region that is no part.
    inside: Vec<usize>,
    /// Regions of a task that overlapped.
    disjoint: Vec<Region>,
}

impl Regions {
    /// Finds what a task with these regions has to follow.
    pub(super) fn plan(&mut self, regions: &[Region], then: &impl Then) {
        self.pieces.clear();
        if self.parts.len() + 2 * regions.len() > self.parts.capacity() {
            self.sweep(2 * regions.len(), then);
        }
        match *regions {
            [region] => self.plan_one(region, then),
            _ => {
                let mut disjoint = std::mem::take(&mut self.disjoint);
                Region::disjoint(regions, &mut disjoint);
                disjoint.drain(..).for_each(|region| self.plan_one(region, then));
                self.disjoint = disjoint;
            }
        }
    }

    fn plan_one(&mut self, region: Region, then: &impl Then) {
        if let Some(part) = self.parts.get(&region.start)
            && part.end == region.end
        {
            self.pieces.push(Piece { region, after: part.last });
            return;
        }
        if region.start == region.end {
            return;
        }
        self.cut(region.start, then);
        self.cut(region.end, then);
        let mut inside = std::mem::take(&mut self.inside);
        inside.extend(self.starts.range(region.start..region.end));
        let mut at = region.start;
        for start in inside.drain(..) {
            let Part { end, last } = self.parts[&start];
            // SAFETY: what is in the table is held.
            if unsafe { (*last).has_passed() } {
                self.forget(start, then);
                continue;
            }
            self.plan_gap(at, start, region.kind);
            let region = Region { start, end, kind: region.kind };
            self.pieces.push(Piece { region, after: last });
            at = end;
        }
        self.plan_gap(at, region.end, region.kind);
        self.inside = inside;
    }

    fn plan_gap(&mut self, start: usize, end: usize, kind: Kind) {
        if start < end {
            let region = Region { start, end, kind };
            self.pieces.push(Piece { region, after: std::ptr::null() });
        }
    }

    /// Makes sure that no part goes across an address.
    fn cut(&mut self, at: usize, then: &impl Then) {
        let Some(&start) = self.starts.range(..at).next_back() else { return };
        let Part { end, last } = self.parts[&start];
        if end <= at {
            return;
        }
        // SAFETY: what is in the table is held; only this worker links what follows.
        let Some([low, high]) = (unsafe { fork(&*last, [start, at], then) }) else {
            // It was let go of.
            self.parts.remove(&start);
            self.starts.remove(&start);
            return;
        };
        self.put(start, at, low);
        self.put(at, end, high);
    }

    fn put(&mut self, start: usize, end: usize, last: *const Link) {
        if self.parts.insert(start, Part { end, last }).is_none() {
            self.starts.insert(start);
        }
    }

    /// Lets go of a part that is not waited for any more.
    fn forget(&mut self, start: usize, then: &impl Then) {
        self.starts.remove(&start);
        if let Some(part) = self.parts.remove(&start) {
            // SAFETY: what was in the table is held.
            unsafe { (*part.last).die(then) };
        }
    }

    /// Adds the access to a piece that was planned. Returns whether it is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call it.
    pub(super) unsafe fn add(&mut self, piece: Piece, link: &Link, then: &impl Then) -> bool {
        let Piece { region: Region { start, end, .. }, after } = piece;
        self.put(start, end, link);
        // SAFETY: what it follows was the last until now, and is held; the caller's promise.
        unsafe {
            match after.as_ref() {
                Some(last) => link.follow(last, then),
                None => link.begin(None),
            }
        }
    }

    /// Accesses that a region meets.
    fn across(&self, region: &Region) -> impl Iterator<Item = &Link> {
        let exact = self.parts.get(&region.start).filter(|part| part.end == region.end);
        let before = self.starts.range(..region.start).next_back();
        let others = before.into_iter().chain(self.starts.range(region.start..region.end));
        let others = others.map(|start| &self.parts[start]);
        let start = region.start;
        let others = others.filter(move |part| exact.is_none() && part.end > start);
        // SAFETY: what is in the table is held.
        exact.into_iter().chain(others).map(|part| unsafe { &*part.last })
    }

    /// Whether a task with this region could run and end now.
    pub(super) fn is_free(&self, region: &Region) -> bool {
        self.across(region).all(|last| last.lets_run(bits_of_kind(region.kind)))
    }

    /// Whether a task has part of this, or will.
    pub(super) fn uses(&self, region: &Region) -> bool {
        self.across(region).any(|last| !last.has_passed())
    }

    /// Lets go what has ended; makes room for so many more if that was not much.
    #[cold]
    fn sweep(&mut self, more: usize, then: &impl Then) {
        let starts = &mut self.starts;
        self.parts.retain(|start, part| {
            // SAFETY: what is in the table is held, and after this not in it any more.
            unsafe {
                let passed = (*part.last).has_passed();
                if passed {
                    (*part.last).die(then);
                    starts.remove(start);
                }
                !passed
            }
        });
        if self.parts.len() * 2 + more > self.parts.capacity() {
            self.parts.reserve(self.parts.len().max(8) + more);
        }
    }

    /// Nothing follows any more.
    pub(super) fn close(&mut self, then: &impl Then) {
        if self.starts.is_empty() {
            return;
        }
        self.starts.clear();
        for (_, part) in self.parts.drain() {
            // SAFETY: what was in the table is held, and the last of its chain.
            unsafe { (*part.last).close(None, then) };
        }
    }
}

/// What cuts a part in two, in a block of its own: it follows the last access as one that is weak
/// and has ended, and so do two others that it passes everything on to, at once.
type Fork = Room<3>;

/// Lets the two parts that begin at `starts` follow the last access to both. Returns their last
/// accesses; where nothing is to be waited for any more, lets go of it instead.
///
/// # Safety
/// Only the parent's worker may call it; `last` is held, and was the last.
unsafe fn fork(last: &Link, starts: [usize; 2], then: &impl Then) -> Option<[*const Link; 2]> {
    if last.has_passed() {
        // SAFETY: it was held by the table alone.
        unsafe { last.die(then) };
        return None;
    }
    let bytes = size_of::<Fork>();
    let place = then.block(bytes).cast::<Accesses>();
    let kind = last.kind();
    let shares = if kind.shares() { SHARES } else { 0 };
    let all = [starts[0], starts[0], starts[1]].map(|start| Access::cut(start, kind));
    // SAFETY: the block is large enough, aligned and ours. Nobody else links what follows `last`.
    unsafe {
        Accesses::write_fork(place.as_ptr(), &all, bytes);
        let fork = place.as_ref();
        let [begin, low, high] = [0, 1, 2].map(|number| fork.link(number));
        [begin, low, high].iter().for_each(|link| link.begins_with(ENDED));
        begin.begins_with(LINKED | FORK | shares);
        begin.begins_before(low);
        low.cold().child.set(high);
        // Pairs with `reaches` and `give`, as of `follow`.
        let state = last.add_next(begin, LINKED | shares);
        if state & PASSED == PASSED {
            // It passed just now, to nobody.
            last.die(then);
            then.free_block(place.cast(), bytes);
            return None;
        }
        let both = [low, high].map(std::ptr::from_ref);
        if shares != 0 && state & IS_ALLOWED != 0 {
            Flow::default().take(Step::Give(begin, ALLOWED), then);
        }
        Some(both)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn region(start: usize, end: usize, kind: Kind) -> Region {
        Region { start, end, kind }
    }

    fn disjoint(all: &[Region]) -> Vec<Region> {
        let mut disjoint = Vec::new();
        Region::disjoint(all, &mut disjoint);
        disjoint
    }

    #[test]
    fn who_says_two_things_of_a_part_writes_it() {
        let all = [region(0, 8, Kind::Read), region(4, 12, Kind::Concurrent)];
        let expected =
            [region(0, 4, Kind::Read), region(4, 8, Kind::Write), region(8, 12, Kind::Concurrent)];
        assert_eq!(disjoint(&all), expected);
    }

    #[test]
    fn neighbours_of_a_kind_are_one_and_empty_ones_none() {
        let all = [region(4, 8, Kind::Read), region(0, 4, Kind::Read), region(20, 20, Kind::Read)];
        assert_eq!(disjoint(&all), [region(0, 8, Kind::Read)]);
    }
}

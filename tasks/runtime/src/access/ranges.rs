//! Ranges: accesses to data of which other tasks access only a part, or more.
//!
//! Beside its addresses, the [`Table`](super::Table) has parts of memory that do not overlap, each
//! with the last access to the part. A range that is a part already is followed as an address is:
//! one look into a hash table. A range that begins or ends inside a part *cuts* that part: a
//! [`Split`] follows the last access, and passes its tokens on to two accesses, one for each half,
//! which are the last ones then. A task has an access for each part of its range and each gap
//! between them. Accesses that have ended are forgotten where a range meets them, and their parts
//! are one again.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;

use super::link::{ALLOWED, ENDED, IS_ALLOWED, LINKED, Link, PASSED, SHARES, SPLIT, bits_of_kind};
use super::{Access, Accesses, Flow, Kind, Room, Step, Then};

/// A range of memory, and how a task uses the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeAccess {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
}

impl RangeAccess {
    /// `bytes` bytes from an address on. Tasks cannot take turns with ranges: commutative ones
    /// write.
    #[must_use]
    pub fn new(address: usize, bytes: usize, kind: Kind) -> Self {
        let kind = if kind == Kind::Commutative { Kind::Write } else { kind };
        Self { start: address, end: address.saturating_add(bytes), kind }
    }

    /// # Panics
    /// Two ranges overlap, and conflict: their task would wait for itself.
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

    /// The memory of `all` in parts that do not overlap; a part declared in two ways is written.
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

/// An access of a task to one range: to a part, or to a gap.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) range: RangeAccess,
    /// The access that the piece follows; null in a gap.
    after: *const Link,
}

/// Parts of memory, and the last access to each.
#[derive(Default)]
pub(super) struct Ranges {
    /// By their starts.
    parts: HashMap<usize, Part, FxBuildHasher>,
    /// The keys of `parts` in order.
    starts: BTreeSet<usize>,
    /// Pieces of the task that is being created.
    pub(super) pieces: Vec<Piece>,
    /// Starts of the parts inside a range that is no part.
    inside: Vec<usize>,
    /// Ranges of a task that overlapped.
    disjoint: Vec<RangeAccess>,
}

impl Ranges {
    /// Finds the accesses that a task with these ranges has to follow.
    pub(super) fn plan(&mut self, ranges: &[RangeAccess], then: &impl Then) {
        self.pieces.clear();
        if self.parts.len() + 2 * ranges.len() > self.parts.capacity() {
            self.sweep(2 * ranges.len(), then);
        }
        match *ranges {
            [range] => self.plan_one(range, then),
            _ => {
                let mut disjoint = std::mem::take(&mut self.disjoint);
                RangeAccess::disjoint(ranges, &mut disjoint);
                disjoint.drain(..).for_each(|range| self.plan_one(range, then));
                self.disjoint = disjoint;
            }
        }
    }

    fn plan_one(&mut self, range: RangeAccess, then: &impl Then) {
        if let Some(part) = self.parts.get(&range.start)
            && part.end == range.end
        {
            self.pieces.push(Piece { range, after: part.last });
            return;
        }
        if range.start == range.end {
            return;
        }
        self.cut(range.start, then);
        self.cut(range.end, then);
        let mut inside = std::mem::take(&mut self.inside);
        inside.extend(self.starts.range(range.start..range.end));
        let mut at = range.start;
        for start in inside.drain(..) {
            let Part { end, last } = self.parts[&start];
            // SAFETY: the table holds its accesses, so `last` is alive.
            if unsafe { (*last).has_passed() } {
                self.forget(start, then);
                continue;
            }
            self.plan_gap(at, start, range.kind);
            let range = RangeAccess { start, end, kind: range.kind };
            self.pieces.push(Piece { range, after: last });
            at = end;
        }
        self.plan_gap(at, range.end, range.kind);
        self.inside = inside;
    }

    fn plan_gap(&mut self, start: usize, end: usize, kind: Kind) {
        if start < end {
            let range = RangeAccess { start, end, kind };
            self.pieces.push(Piece { range, after: std::ptr::null() });
        }
    }

    /// Makes sure that no part goes across an address.
    fn cut(&mut self, at: usize, then: &impl Then) {
        let Some(&start) = self.starts.range(..at).next_back() else { return };
        let Part { end, last } = self.parts[&start];
        if end <= at {
            return;
        }
        // SAFETY: the table holds its accesses, so `last` is alive; only this worker adds
        // successors.
        let Some([low, high]) = (unsafe { split(&*last, [start, at], then) }) else {
            // `split` has released `last`, which had passed everything on.
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

    /// Releases a part that no task waits for any more.
    fn forget(&mut self, start: usize, then: &impl Then) {
        self.starts.remove(&start);
        if let Some(part) = self.parts.remove(&start) {
            // SAFETY: the table held the access until now, and its task has ended.
            unsafe { (*part.last).die(then) };
        }
    }

    /// Adds the access to a piece that was planned. Returns whether the access is allowed.
    ///
    /// # Safety
    /// Only the parent's worker may call this.
    pub(super) unsafe fn add(&mut self, piece: Piece, link: &Link, then: &impl Then) -> bool {
        let Piece { range: RangeAccess { start, end, .. }, after } = piece;
        self.put(start, end, link);
        // SAFETY: `after` was the last access until now, and is held; this is the parent's worker.
        unsafe {
            match after.as_ref() {
                Some(last) => link.follow(last, then),
                None => link.begin(None),
            }
        }
    }

    /// Accesses that a range meets.
    fn across(&self, range: &RangeAccess) -> impl Iterator<Item = &Link> {
        let exact = self.parts.get(&range.start).filter(|part| part.end == range.end);
        let before = self.starts.range(..range.start).next_back();
        let others = before.into_iter().chain(self.starts.range(range.start..range.end));
        let others = others.map(|start| &self.parts[start]);
        let start = range.start;
        let others = others.filter(move |part| exact.is_none() && part.end > start);
        // SAFETY: the table holds its accesses, so `last` is alive.
        exact.into_iter().chain(others).map(|part| unsafe { &*part.last })
    }

    /// Whether a task with this range could run and end now.
    pub(super) fn is_free(&self, range: &RangeAccess) -> bool {
        self.across(range).all(|last| last.lets_run(bits_of_kind(range.kind)))
    }

    /// Whether a task uses part of the range, or will.
    pub(super) fn uses(&self, range: &RangeAccess) -> bool {
        self.across(range).any(|last| !last.has_passed())
    }

    /// Releases accesses that have ended; makes room for `more` parts if few had.
    #[cold]
    fn sweep(&mut self, more: usize, then: &impl Then) {
        let starts = &mut self.starts;
        self.parts.retain(|start, part| {
            // SAFETY: the table holds `last` until here, and forgets a passed access after `die`.
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

    /// No access follows any more.
    pub(super) fn close(&mut self, then: &impl Then) {
        if self.starts.is_empty() {
            return;
        }
        self.starts.clear();
        for (_, part) in self.parts.drain() {
            // SAFETY: the table held the access until now, and each is the last of its chain.
            unsafe { (*part.last).close(None, then) };
        }
    }
}

/// Cuts a part in two, in a block of its own: the first access follows the last one of the part, as
/// a weak access that has ended, and passes everything on to the two other accesses at once.
type Split = Room<3>;

/// Lets the two parts that begin at `starts` follow the last access to both. Returns their last
/// accesses; releases `last` instead if no task waits for that access any more.
///
/// # Safety
/// Only the parent's worker may call this; `last` is held, and was the last.
unsafe fn split(last: &Link, starts: [usize; 2], then: &impl Then) -> Option<[*const Link; 2]> {
    if last.has_passed() {
        // SAFETY: only the table held `last`, whose task has ended.
        unsafe { last.die(then) };
        return None;
    }
    let bytes = size_of::<Split>();
    let place = then.block(bytes).cast::<Accesses>();
    let kind = last.kind();
    let shares = if kind.shares() { SHARES } else { 0 };
    let all = [starts[0], starts[0], starts[1]].map(|start| Access::cut(start, kind));
    // SAFETY: the block is large enough, aligned and ours. No other worker adds a successor of
    // `last`.
    unsafe {
        Accesses::write_split(place.as_ptr(), &all, bytes);
        let split = place.as_ref();
        let [begin, low, high] = [0, 1, 2].map(|number| split.link(number));
        [begin, low, high].iter().for_each(|link| link.begins_with(ENDED));
        begin.begins_with(LINKED | SPLIT | shares);
        begin.begins_before(low);
        low.cold().child.set(high);
        // Pairs with `reaches` and `give`, as in `follow`.
        let state = last.add_next(begin, LINKED | shares);
        if state & PASSED == PASSED {
            // `last` passed everything on just now, to no access.
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

    fn range(start: usize, end: usize, kind: Kind) -> RangeAccess {
        RangeAccess { start, end, kind }
    }

    fn disjoint(all: &[RangeAccess]) -> Vec<RangeAccess> {
        let mut disjoint = Vec::new();
        RangeAccess::disjoint(all, &mut disjoint);
        disjoint
    }

    #[test]
    fn two_kinds_of_access_to_one_part_are_a_write() {
        let all = [range(0, 8, Kind::Read), range(4, 12, Kind::Concurrent)];
        let expected =
            [range(0, 4, Kind::Read), range(4, 8, Kind::Write), range(8, 12, Kind::Concurrent)];
        assert_eq!(disjoint(&all), expected);
    }

    #[test]
    fn neighbours_of_a_kind_are_one_and_empty_ones_none() {
        let all = [range(4, 8, Kind::Read), range(0, 4, Kind::Read), range(20, 20, Kind::Read)];
        assert_eq!(disjoint(&all), [range(0, 8, Kind::Read)]);
    }
}

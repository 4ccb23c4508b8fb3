//! Which timer fires next: a tree of winners with one slot a timer.
//!
//! A scheduler simulation has a bounded set of timers and moves most of them
//! whenever a frequency changes. A slot each means no dead entries and no
//! allocation, and equal times are ordered by slot, which decides every tie.
//!
//! Eight children a node: most timers move without being the first of their node, and then the
//! nodes above stay as they are (docs/measurements/simulator-speed.md).

/// A timer that is not set.
pub(crate) const NEVER: u64 = u64::MAX;

/// Children of a node: as many keys as a cache line has.
const CHILDREN: usize = 8;

/// The earliest of a fixed set of keys.
#[derive(Clone, Debug)]
pub(crate) struct WinnerTree {
    /// By node: the least key of its children. Node 0 is the root, node i has the children from
    /// 8i+8 on, the slots are the nodes from `leaves` on; nodes 1 to 7 are not used.
    keys: Vec<u64>,
    /// By node: the lowest slot with that key.
    slots: Vec<u32>,
    leaves: usize,
}

impl WinnerTree {
    pub(crate) fn new(slots: usize) -> Self {
        let (mut leaves, mut room) = (CHILDREN, CHILDREN);
        while room < slots {
            leaves = first_child(leaves);
            room *= CHILDREN;
        }
        let nodes = leaves + slots.next_multiple_of(CHILDREN).max(CHILDREN);
        let mut tree = Self { keys: vec![NEVER; nodes], slots: vec![0; nodes], leaves };
        for (slot, of_leaf) in tree.slots[leaves..].iter_mut().enumerate() {
            *of_leaf = slot as u32;
        }
        for node in (CHILDREN..leaves).rev().chain([0]) {
            tree.slots[node] = tree.slots.get(first_child(node)).copied().unwrap_or(0);
        }
        tree
    }

    /// Sets a slot's key; [`NEVER`] disarms the slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, key: u64) {
        let leaf = self.leaves + slot;
        let old = self.keys[leaf];
        // Half of all calls change nothing.
        if key != old {
            self.keys[leaf] = key;
            if key < old {
                self.move_forward(leaf, slot as u32, key);
            } else {
                self.move_back(leaf, slot as u32);
            }
        }
    }

    /// The key of a slot fell: the slot wins every node above until another one is before it.
    fn move_forward(&mut self, mut node: usize, slot: u32, key: u64) {
        while node > 0 {
            node = parent(node);
            let (best, best_slot) = (self.keys[node], self.slots[node]);
            if best < key || best == key && best_slot < slot {
                return;
            }
            self.keys[node] = key;
            self.slots[node] = slot;
        }
    }

    /// The key of a slot rose: every node that the slot won finds its winner anew.
    fn move_back(&mut self, mut node: usize, slot: u32) {
        while node > 0 {
            node = parent(node);
            if self.slots[node] != slot {
                return;
            }
            let first = first_child(node);
            let (children, _) = self.keys[first..].split_first_chunk().expect("a whole node");
            let (at, best) = least(children);
            self.slots[node] = self.slots[first + at];
            self.keys[node] = best;
        }
    }

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.keys[self.leaves + slot]
    }

    /// The smallest key and the lowest slot with that key; [`NEVER`] when all are disarmed.
    #[inline]
    pub(crate) fn first(&self) -> (u64, usize) {
        (self.keys[0], self.slots[0] as usize)
    }

    /// The first slot of a range whose key is below a limit.
    pub(crate) fn first_below(&self, slots: std::ops::Range<usize>, limit: u64) -> Option<usize> {
        if slots.is_empty() {
            return None;
        }
        let mut node = self.leaves + slots.start;
        while self.keys[node] >= limit {
            // The next subtree to the right.
            while node % CHILDREN == CHILDREN - 1 {
                node = parent(node);
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < self.leaves {
            node = first_child(node);
            while self.keys[node] >= limit {
                node += 1;
            }
        }
        let slot = node - self.leaves;
        (slot < slots.end).then_some(slot)
    }
}

/// The first of the least keys, and where it is; in pairs, which the CPU compares in parallel.
#[inline]
fn least(keys: &[u64; CHILDREN]) -> (usize, u64) {
    let of = |child: usize| (child, keys[child]);
    let lesser = |a: (usize, u64), b: (usize, u64)| if b.1 < a.1 { b } else { a };
    let half =
        |from: usize| lesser(lesser(of(from), of(from + 1)), lesser(of(from + 2), of(from + 3)));
    lesser(half(0), half(CHILDREN / 2))
}

fn first_child(node: usize) -> usize {
    CHILDREN * node + CHILDREN
}

fn parent(node: usize) -> usize {
    node / CHILDREN - 1
}

/// Timers by kind; at equal times the lower slot fires first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    cpus: usize,
    domains: usize,
    tasks: usize,
}

/// A timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    StepEnd(usize),
    License(usize),
    TaskWakes(usize),
    SliceEnd(usize),
    Tick(usize),
    /// The scheduler's own timer.
    Scheduler,
    /// The operator acts.
    Operator,
}

impl Slots {
    pub(crate) fn new(cpus: usize, domains: usize, tasks: usize) -> Self {
        Self { cpus, domains, tasks }
    }

    pub(crate) fn count(&self) -> usize {
        3 * self.cpus + self.domains + self.tasks + 2
    }

    pub(crate) fn slot(&self, timer: Timer) -> usize {
        match timer {
            Timer::StepEnd(cpu) => cpu,
            Timer::License(domain) => self.cpus + domain,
            Timer::TaskWakes(task) => self.cpus + self.domains + task,
            Timer::SliceEnd(cpu) => self.cpus + self.domains + self.tasks + cpu,
            Timer::Tick(cpu) => 2 * self.cpus + self.domains + self.tasks + cpu,
            Timer::Scheduler => 3 * self.cpus + self.domains + self.tasks,
            Timer::Operator => 3 * self.cpus + self.domains + self.tasks + 1,
        }
    }

    #[inline]
    pub(crate) fn timer(&self, slot: usize) -> Timer {
        let Some(slot) = slot.checked_sub(self.cpus) else { return Timer::StepEnd(slot) };
        let Some(slot) = slot.checked_sub(self.domains) else { return Timer::License(slot) };
        let Some(slot) = slot.checked_sub(self.tasks) else { return Timer::TaskWakes(slot) };
        let Some(slot) = slot.checked_sub(self.cpus) else { return Timer::SliceEnd(slot) };
        match slot.checked_sub(self.cpus) {
            None => Timer::Tick(slot),
            Some(0) => Timer::Scheduler,
            Some(_) => Timer::Operator,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_is_the_lowest_slot_of_the_smallest_key(
            slots in 1_usize..70,
            changes in prop::collection::vec((0_usize..70, 0_u64..20), 1..200),
        ) {
            let mut tree = WinnerTree::new(slots);
            let mut keys = vec![NEVER; slots];
            for (slot, key) in changes {
                let slot = slot % slots;
                let key = if key == 0 { NEVER } else { key };
                tree.set(slot, key);
                keys[slot] = key;
                let smallest = *keys.iter().min().unwrap();
                let (first, at) = tree.first();
                prop_assert_eq!(first, smallest);
                for limit in [0, 5, 10, NEVER] {
                    for start in 0..slots {
                        let found = tree.first_below(start..slots, limit);
                        let expected = (start..slots).find(|&slot| keys[slot] < limit);
                        prop_assert_eq!(found, expected);
                        let (end, none) = (expected.unwrap_or(slots), None);
                        prop_assert_eq!(tree.first_below(start..end, limit), none);
                    }
                }
                if smallest != NEVER {
                    prop_assert_eq!(Some(at), keys.iter().position(|&k| k == smallest));
                }
            }
        }
    }
}

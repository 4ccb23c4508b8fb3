//! Which timer fires next: a winner tree with one slot a timer.
//!
//! A scheduler simulation has a bounded set of timers and moves most of them
//! whenever a frequency changes. A slot each means no dead entries and no
//! allocation, and equal times are ordered by slot, which decides every tie.

/// A timer that is not set.
pub(crate) const NEVER: u64 = u64::MAX;

/// The earliest of a fixed set of keys.
#[derive(Clone, Debug)]
pub(crate) struct WinnerTree {
    /// Node 1 is the root, node i has children 2i and 2i+1, the slots are the last
    /// half. Each node holds the better of its children.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    key: u64,
    slot: u32,
}

impl WinnerTree {
    pub(crate) fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut nodes = vec![Node { key: NEVER, slot: 0 }; 2 * leaves];
        for slot in 0..leaves {
            nodes[leaves + slot].slot = slot as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes }
    }

    /// Sets a slot's key; [`NEVER`] disarms the slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, key: u64) {
        let mut node = self.nodes.len() / 2 + slot;
        if self.nodes[node].key == key {
            return;
        }
        self.nodes[node].key = key;
        while node > 1 {
            node /= 2;
            let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
            let winner = if left.key <= right.key { left } else { right };
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }

    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + slot].key
    }

    /// The smallest key and the lowest slot with that key; [`NEVER`] when all are disarmed.
    #[inline]
    pub(crate) fn first(&self) -> (u64, usize) {
        (self.nodes[1].key, self.nodes[1].slot as usize)
    }

    /// The first slot of a range whose key is below a limit.
    pub(crate) fn first_below(&self, slots: std::ops::Range<usize>, limit: u64) -> Option<usize> {
        let leaves = self.nodes.len() / 2;
        if slots.is_empty() {
            return None;
        }
        let mut node = leaves + slots.start;
        while self.nodes[node].key >= limit {
            // The next subtree to the right.
            while node & 1 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < leaves {
            node *= 2;
            if self.nodes[node].key >= limit {
                node += 1;
            }
        }
        let slot = node - leaves;
        (slot < slots.end).then_some(slot)
    }
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
}

impl Slots {
    pub(crate) fn new(cpus: usize, domains: usize, tasks: usize) -> Self {
        Self { cpus, domains, tasks }
    }

    pub(crate) fn count(&self) -> usize {
        3 * self.cpus + self.domains + self.tasks + 1
    }

    pub(crate) fn slot(&self, timer: Timer) -> usize {
        match timer {
            Timer::StepEnd(cpu) => cpu,
            Timer::License(domain) => self.cpus + domain,
            Timer::TaskWakes(task) => self.cpus + self.domains + task,
            Timer::SliceEnd(cpu) => self.cpus + self.domains + self.tasks + cpu,
            Timer::Tick(cpu) => 2 * self.cpus + self.domains + self.tasks + cpu,
            Timer::Scheduler => 3 * self.cpus + self.domains + self.tasks,
        }
    }

    pub(crate) fn timer(&self, mut slot: usize) -> Timer {
        for (size, make) in [
            (self.cpus, Timer::StepEnd as fn(usize) -> Timer),
            (self.domains, Timer::License),
            (self.tasks, Timer::TaskWakes),
            (self.cpus, Timer::SliceEnd),
            (self.cpus, Timer::Tick),
        ] {
            if slot < size {
                return make(slot);
            }
            slot -= size;
        }
        Timer::Scheduler
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

//! Which CPUs idle, and which idle CPU does a waking task get? The kernel's built-in choice.
//!
//! kernel/sched/ext_idle.c, Linux 7.0, on a machine of one NUMA node.

use crate::abi;
use crate::cpus::CpuMask;
use crate::topology::Topology;

/// Masks of idle CPUs and of CPUs whose whole core idles.
pub(crate) struct Idle {
    pub cpus: CpuMask,
    pub cores: CpuMask,
    /// By CPU that searches: where its next search begins (`cpumask_any_and_distribute`).
    from: Vec<usize>,
    /// By CPU: its cache domain; empty on a machine with one.
    caches: Vec<CpuMask>,
}

/// A search for an idle CPU for a waking task.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// CPUs that the task may use.
    pub allowed: &'a [u64],
    /// Whether the task may use all CPUs.
    pub anywhere: bool,
    /// The CPU that the task ran on last.
    pub prev: usize,
    /// The CPU that the search runs on.
    pub this_cpu: usize,
    pub wake_flags: u64,
    /// For `SCX_WAKE_SYNC`: no task waits in the local queue of the waker's CPU, and the waker is
    /// not exiting.
    pub waker_is_free: bool,
    /// Only a CPU whose whole core idles will do (`SCX_PICK_IDLE_CORE`).
    pub whole_core: bool,
}

impl Idle {
    pub(crate) fn new(topology: &Topology) -> Self {
        let cpus = topology.cpus();
        let of_cache = |cpu| {
            let same = |other: &usize| topology.cache_of[*other] == topology.cache_of[cpu];
            CpuMask::of((0..cpus).filter(same))
        };
        let several = topology.cache_of.iter().any(|&cache| cache != topology.cache_of[0]);
        Self {
            cpus: CpuMask::empty(),
            cores: CpuMask::empty(),
            from: vec![0; cpus],
            caches: if several { (0..cpus).map(of_cache).collect() } else { Vec::new() },
        }
    }

    pub(crate) fn set(&mut self, topology: &Topology, cpu: usize, idle: bool) {
        if idle {
            self.cpus.insert(cpu);
            if topology.siblings(cpu).all(|sibling| self.cpus.contains(sibling)) {
                topology.siblings(cpu).for_each(|sibling| self.cores.insert(sibling));
            }
        } else {
            self.cpus.remove(cpu);
            topology.siblings(cpu).for_each(|sibling| self.cores.remove(sibling));
        }
    }

    /// Claims a CPU; false if the CPU is not idle.
    pub(crate) fn claim(&mut self, topology: &Topology, cpu: usize) -> bool {
        topology.siblings(cpu).for_each(|sibling| self.cores.remove(sibling));
        let was_idle = self.cpus.contains(cpu);
        self.cpus.remove(cpu);
        was_idle
    }

    /// Claims any idle CPU of a set, whole cores first.
    pub(crate) fn pick(
        &mut self,
        topology: &Topology,
        allowed: &[u64],
        this_cpu: usize,
        flags: u64,
    ) -> Option<usize> {
        let cpus = topology.cpus();
        loop {
            let start = self.from[this_cpu];
            let whole = self.cores.first_common(allowed, start, cpus);
            let found = match whole {
                None if flags & abi::PICK_IDLE_CORE != 0 => None,
                None => self.cpus.first_common(allowed, start, cpus),
                whole => whole,
            }?;
            self.from[this_cpu] = (found + 1) % cpus;
            if self.claim(topology, found) {
                return Some(found);
            }
        }
    }

    /// `scx_select_cpu_dfl`: claims an idle CPU for a waking task; `None` if no allowed CPU idles.
    pub(crate) fn select(&mut self, topology: &Topology, wanted: Wanted) -> Option<usize> {
        let Wanted { allowed, prev, this_cpu, .. } = wanted;
        let may = |cpu: usize| allowed[cpu / 64] >> (cpu % 64) & 1 == 1;
        let near = self.near(&wanted);
        if wanted.wake_flags & abi::WAKE_SYNC != 0 {
            let shares = topology.cache_of[this_cpu] == topology.cache_of[prev];
            if may(prev) && shares && self.claim(topology, prev) {
                return Some(prev);
            }
            if wanted.waker_is_free && self.cpus.count() > 0 && may(this_cpu) {
                self.claim(topology, this_cpu);
                return Some(this_cpu);
            }
        }
        if topology.has_siblings() {
            if may(prev) && self.cores.contains(prev) && self.claim(topology, prev) {
                return Some(prev);
            }
            let core = near
                .as_deref()
                .and_then(|near| self.pick(topology, near, this_cpu, abi::PICK_IDLE_CORE));
            let core = core.or_else(|| self.pick(topology, allowed, this_cpu, abi::PICK_IDLE_CORE));
            if core.is_some() || wanted.whole_core {
                return core;
            }
        }
        if may(prev) && self.claim(topology, prev) {
            return Some(prev);
        }
        for sibling in topology.siblings(prev) {
            if sibling != prev && may(sibling) && self.claim(topology, sibling) {
                return Some(sibling);
            }
        }
        let found = near.as_deref().and_then(|near| self.pick(topology, near, this_cpu, 0));
        found.or_else(|| self.pick(topology, allowed, this_cpu, 0))
    }

    /// The allowed CPUs in the cache domain of the task's last CPU; `None` on a machine with one
    /// cache domain, and where the task may use none of these CPUs.
    fn near(&self, wanted: &Wanted) -> Option<Vec<u64>> {
        let cache = self.caches.get(wanted.prev)?.words();
        let near: Vec<u64> =
            cache.iter().zip(wanted.allowed).map(|(cache, allowed)| cache & allowed).collect();
        let is_empty = near.iter().all(|&word| word == 0);
        (wanted.anywhere || !is_empty).then_some(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two caches of two cores with two threads.
    fn machine() -> Topology {
        Topology::regular(2, 2, 2)
    }

    fn idle(cpus: &[usize]) -> Idle {
        let mut idle = Idle::new(&machine());
        cpus.iter().for_each(|&cpu| idle.set(&machine(), cpu, true));
        idle
    }

    fn select(idle: &mut Idle, prev: usize, allowed: &[usize]) -> Option<usize> {
        let allowed = CpuMask::of(allowed.iter().copied());
        let wanted = Wanted {
            allowed: allowed.words(),
            anywhere: allowed.count() == 8,
            prev,
            this_cpu: 0,
            wake_flags: 0,
            waker_is_free: false,
            whole_core: false,
        };
        idle.select(&machine(), wanted)
    }

    const ALL: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn a_whole_core_of_the_cache_comes_before_the_own_half_of_one() {
        let mut idle = idle(&[1, 2, 3, 4, 5]);
        assert_eq!(select(&mut idle, 1, &ALL), Some(2));
        assert_eq!(select(&mut idle, 1, &ALL), Some(4), "then one of the other cache");
        assert_eq!(select(&mut idle, 1, &ALL), Some(1), "then the own CPU");
        assert_eq!(select(&mut idle, 2, &ALL), Some(3), "then its sibling");
        assert_eq!(select(&mut idle, 2, &ALL), Some(5), "then any");
        assert_eq!(select(&mut idle, 2, &ALL), None);
    }

    #[test]
    fn only_allowed_cpus_are_taken() {
        let mut idle = idle(&ALL);
        assert_eq!(select(&mut idle, 0, &[5]), Some(5));
        assert_eq!(select(&mut idle, 0, &[5]), None);
        assert!(!idle.cores.contains(4), "its core no longer idles");
        assert!(idle.cpus.contains(4));
    }
}

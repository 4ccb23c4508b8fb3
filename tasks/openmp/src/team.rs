//! The threads of a region as one team: the tree of their tasks, their barriers, and the shared
//! state of their loops. A team stays from region to region.

mod barrier;
pub(crate) mod share;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use evenkeel_runtime::internal;

pub(crate) use barrier::Barrier;

use crate::processors;
use crate::settings::{machine, patience, placement, settings, watch};
use crate::task::header::OmpTask;
use crate::wait::oversubscription::oversubscribed;
use share::Ring;

/// The state of one thread that the other threads of the team read.
#[derive(Default)]
#[repr(align(128))]
struct Shown {
    /// `single` constructs that are behind the thread, where its region is cancelled.
    past: AtomicU64,
}

/// The CPUs on which threads of a team began their last region: [`processors::current`]; 0 before
/// the first. All threads read them at each barrier, and changes are rare: so the words lie
/// together, apart from fields that change.
#[derive(Default)]
#[repr(align(128))]
struct LastCpus([AtomicU32; CPUS_A_LINE]);

/// As many words as fit into the two cache lines that CPUs fetch together.
const CPUS_A_LINE: usize = 32;

/// A number of threads, and the tree of their tasks.
pub(crate) struct Team {
    tasks: internal::Team,
    /// Of barriers inside a region.
    pub(crate) inner: Barrier,
    /// At the end of a region.
    pub(crate) end: Barrier,
    /// The shared state of the threads' loops.
    ring: UnsafeCell<Ring>,
    /// By number in the team.
    shown: Box<[Shown]>,
    last_cpus: Box<[LastCpus]>,
}

// SAFETY: `ring` is changed by `forget_cancelled` alone, while no other thread is in a region of
// the team; the rest is atomic or constant.
unsafe impl Sync for Team {}
// SAFETY: no part of a team belongs to the thread that made it.
unsafe impl Send for Team {}

impl Team {
    /// A team of `size` threads.
    pub(crate) fn new(size: u32) -> Self {
        Self {
            tasks: internal::Team::new(
                machine(),
                size as usize,
                settings().rules,
                OmpTask::function_of,
                oversubscribed().is_some(),
                (watch(), placement()),
            ),
            inner: Barrier::default(),
            end: Barrier::default(),
            ring: UnsafeCell::default(),
            shown: (0..size).map(|_| Shown::default()).collect(),
            last_cpus: (0..(size as usize).div_ceil(CPUS_A_LINE))
                .map(|_| LastCpus::default())
                .collect(),
        }
    }

    /// The tree of the threads' tasks.
    pub(crate) fn tasks(&self) -> &internal::Team {
        &self.tasks
    }

    /// The number of threads.
    pub(crate) fn size(&self) -> u32 {
        self.shown.len() as u32
    }

    /// The shared state of the threads' loops.
    #[inline]
    pub(crate) fn ring(&self) -> &Ring {
        // SAFETY: the ring is changed between regions alone.
        unsafe { &*self.ring.get() }
    }

    /// Forgets how far threads came in a region that was cancelled.
    ///
    /// # Safety
    /// The region has ended, and no other thread is inside a region of this team.
    pub(crate) unsafe fn forget_cancelled(&self) {
        // SAFETY: no other thread reads the ring now.
        unsafe { (*self.ring.get()).reset() };
        self.shown.iter().for_each(|shown| shown.past.store(0, Ordering::Relaxed));
    }

    /// The number of `single` constructs behind a thread of a cancelled region.
    pub(crate) fn past(&self, number: u32) -> &AtomicU64 {
        &self.shown[number as usize].past
    }

    /// The calling thread, of this number, begins a region: publishes its CPU.
    pub(crate) fn show_cpu(&self, number: u32) {
        let number = number as usize;
        let shown = &self.last_cpus[number / CPUS_A_LINE].0[number % CPUS_A_LINE];
        let cpu = processors::current();
        if shown.load(Ordering::Relaxed) != cpu {
            shown.store(cpu, Ordering::Relaxed);
        }
    }

    /// Whether another thread of the team began its last region on the CPU of the caller, which has
    /// this number.
    ///
    /// That thread then runs as soon as the caller yields the CPU; and if the caller sleeps, the
    /// kernel looks for another CPU when it wakes the caller. Of two threads that yield to each
    /// other the kernel moves neither: each has run within its `sched_migration_cost_ns`.
    pub(crate) fn shares_cpu(&self, number: u32) -> bool {
        let here = processors::current();
        let cpus = self.last_cpus.iter().flat_map(|line| &line.0);
        let is_beside = |cpu: &AtomicU32| here != 0 && cpu.load(Ordering::Relaxed) == here;
        (0..).zip(cpus).any(|(other, cpu)| other != number && is_beside(cpu))
    }

    /// Whether a thread that waits yields to the other threads of its team, instead of looking
    /// for what it waits for: not where the user has chosen how threads wait.
    pub(crate) fn yields_to_itself(&self, number: u32) -> bool {
        !patience().is_asked && self.shares_cpu(number)
    }
}

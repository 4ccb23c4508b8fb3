//! The threads of a region as one team: the tree of their tasks, their barriers, and what they
//! share of loops. A team stays from region to region.

mod barrier;
pub(crate) mod share;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use evenkeel_runtime::raw;

pub(crate) use barrier::Barrier;

use crate::processors;
use crate::settings::{machine, placement, settings, watch};
use crate::task::header::OmpTask;
use crate::wait::crowd::crowd;
use share::Ring;

/// What the other threads of a team read of one thread.
#[derive(Default)]
#[repr(align(128))]
struct Shown {
    cpu: LastCpu,
    /// `single` constructs that are behind the thread, where its region is cancelled.
    past: AtomicU64,
}

/// Where a thread began its last region: [`processors::current`]; 0 before the first. Other threads
/// read it after each region, and it seldom changes: so it has a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct LastCpu(AtomicU32);

/// A number of threads, and the tree of their tasks.
pub(crate) struct Team {
    tasks: raw::Team,
    /// Of barriers inside a region.
    pub(crate) inner: Barrier,
    /// At the end of a region.
    pub(crate) end: Barrier,
    /// What the threads share of loops.
    ring: UnsafeCell<Ring>,
    /// By number in the team.
    shown: Box<[Shown]>,
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
            tasks: raw::Team::new(
                machine(),
                size as usize,
                settings().rules,
                OmpTask::kind_of,
                crowd().is_some(),
                (watch(), placement()),
            ),
            inner: Barrier::default(),
            end: Barrier::default(),
            ring: UnsafeCell::default(),
            shown: (0..size).map(|_| Shown::default()).collect(),
        }
    }

    /// The tree of the threads' tasks.
    pub(crate) fn tasks(&self) -> &raw::Team {
        &self.tasks
    }

    /// The number of threads.
    pub(crate) fn size(&self) -> u32 {
        self.shown.len() as u32
    }

    /// What the threads share of loops.
    #[inline]
    pub(crate) fn ring(&self) -> &Ring {
        // SAFETY: it is changed between regions alone.
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

    /// How many `single` constructs are behind a thread, where it says so.
    pub(crate) fn past(&self, number: u32) -> &AtomicU64 {
        &self.shown[number as usize].past
    }

    /// The calling thread, of this number, begins a region: the others see on which CPU.
    pub(crate) fn show_cpu(&self, number: u32) {
        let (cpu, shown) = (processors::current(), &self.shown[number as usize].cpu.0);
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
        let is_beside = |shown: &Shown| shown.cpu.0.load(Ordering::Relaxed) == here;
        (0..).zip(&self.shown).any(|(other, shown)| other != number && is_beside(shown))
    }
}

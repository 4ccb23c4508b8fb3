//! A team of a thread pool: the description of its region, and each thread's slot.

use std::cell::{OnceCell, UnsafeCell};
use std::ptr;
use std::sync::atomic::Ordering;

use evenkeel_runtime::internal::Worker;

use super::job::Job;
use super::{Member, Region};
use crate::affinity_format;
use crate::icv::Icvs;
use crate::place::Binding;
use crate::settings::patience;
use crate::team::Team;
use crate::thread::Thread;

/// A region, written by its primary thread before the other threads come.
///
/// Each of them waits for every cache line to come from the primary thread's cache: the fields that
/// all threads need lie first.
#[repr(C, align(128))]
pub(super) struct RegionDescriptor {
    /// The ICVs of the implicit tasks.
    pub icvs: &'static Icvs,
    /// Work-sharing constructs that the team's threads have met before.
    pub met: u64,
    pub job: Job,
    pub region: Region,
    /// Where the threads are bound; `None` if they may be anywhere.
    pub binding: Option<Binding>,
    /// Whether each thread prints its place (`OMP_DISPLAY_AFFINITY`).
    pub shows: bool,
}

/// The state of one thread in one team, kept from region to region.
#[derive(Default)]
#[repr(align(128))]
struct TeamSlot {
    worker: OnceCell<Box<Worker>>,
    /// The thread's part in its region of this team.
    member: UnsafeCell<Option<Member>>,
}

/// A team whose threads are of one pool, the primary thread beside.
pub(super) struct PooledTeam {
    pub team: Team,
    descriptor: UnsafeCell<Option<RegionDescriptor>>,
    slots: Box<[TeamSlot]>,
}

// SAFETY: each thread uses its own slot. The descriptor is written while no other thread is inside
// a region of the team, or only waits for the end of the last one, where it reads it no more.
unsafe impl Sync for PooledTeam {}
// SAFETY: workers end with the team, when no thread uses them; no other part belongs to a thread.
unsafe impl Send for PooledTeam {}

impl PooledTeam {
    /// A team of `size` threads.
    pub(super) fn new(size: u32) -> Self {
        Self {
            team: Team::new(size),
            descriptor: UnsafeCell::new(None),
            slots: (0..size).map(|_| TeamSlot::default()).collect(),
        }
    }

    /// Makes the team ready for its next region.
    ///
    /// # Safety
    /// The team's last region has ended.
    pub(super) unsafe fn reset(&self) {
        self.team.inner.reset();
        // SAFETY: the last region has ended, so no other thread reads its descriptor or is inside.
        unsafe {
            let last = (*self.descriptor.get()).as_ref();
            if last.is_some_and(|last| last.region.is_cancelled.load(Ordering::Relaxed)) {
                self.team.forget_cancelled();
            }
        }
    }

    /// Describes the next region, before the threads are called.
    ///
    /// # Safety
    /// The team's last region has ended.
    pub(super) unsafe fn describe(&self, descriptor: RegionDescriptor) {
        // SAFETY: the last region has ended, so no other thread reads its descriptor.
        unsafe { *self.descriptor.get() = Some(descriptor) };
    }

    fn descriptor(&self) -> &RegionDescriptor {
        // SAFETY: `describe` was called before this thread.
        unsafe { (*self.descriptor.get()).as_ref() }.expect("a region was described")
    }

    /// A thread takes its part in the region that was described.
    ///
    /// # Safety
    /// No other thread has this number in the team, and the thread is in no region of the team.
    pub(super) unsafe fn join<'a>(&self, number: u32, thread: &'a Thread) -> &'a Member {
        let slot = &self.slots[number as usize];
        // SAFETY: the leaf of this number is the calling thread's alone.
        let worker = || Box::new(unsafe { self.team.tasks().worker(number as usize) });
        let worker = slot.worker.get_or_init(worker);
        worker.set_patience(patience());
        self.team.show_cpu(number);
        let worker = &raw const **worker;
        let RegionDescriptor { region, job, icvs, binding, shows, met } = self.descriptor();
        let partition = match binding {
            None => region.partition_around(),
            Some(binding) => {
                let (place, partition) = binding.of(number);
                thread.go(place);
                partition
            }
        };
        let place = (ptr::from_ref(self.team.tasks()), worker);
        // SAFETY: team, region and worker outlive the part; the slot is this thread's alone, and
        // the thread has left the part that was there.
        let member = unsafe {
            let member = Member::new(region, number, place, icvs, partition, *met);
            (*slot.member.get()).insert(member)
        };
        member.enter();
        if *shows {
            affinity_format::show(job.style(), member);
        }
        member
    }

    /// Runs the code of the region.
    pub(super) fn run(&self, member: &Member) {
        // SAFETY: the thread that began the region promised that each of its threads can run this.
        unsafe { self.descriptor().job.run(member) };
    }
}

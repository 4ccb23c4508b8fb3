//! The threads that help another in the regions that it begins, and the teams that they form.
//!
//! They stay between regions, and a team of each size stays with its tree: to begin a region is to
//! hand every thread a pointer.

use std::cell::{Cell, OnceCell, UnsafeCell};
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use evenkeel_runtime::Topology;
use evenkeel_runtime::raw::{self, Parker, Pause, Worker};

use super::share::Ring;
use super::{Barrier, Member, Region};
use crate::affinity_format::{self, Style};
use crate::icv::{self, Icvs};
use crate::ompt;
use crate::place::{self, Binding};
use crate::processors;
use crate::task::OmpTask;
use crate::thread::Thread;
use crate::unsupported::abort_with;

/// The machine as this process may use it, or as it was declared.
pub(crate) fn machine() -> &'static Topology {
    static MACHINE: OnceLock<Topology> = OnceLock::new();
    MACHINE.get_or_init(|| {
        processors::available();
        icv::settings().topology.clone().unwrap_or_else(Topology::of_machine)
    })
}

/// What the threads of a region run.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    /// Called by each thread, with `data`.
    pub run: unsafe fn(*const (), &Member),
    /// Of whoever began the region, which waits for all.
    pub data: *const (),
    /// Whose program it is of.
    pub style: Style,
}

/// What is written by whoever begins a region, before the others come.
struct Begun {
    region: Region,
    job: Job,
    /// Of the implicit tasks.
    icvs: &'static Icvs,
    /// Where the threads go; nothing if they may be anywhere.
    binding: Option<Binding>,
    /// Whether each of them says where it is.
    shows: bool,
}

/// So many threads, and the tree of their tasks.
pub(crate) struct Team {
    tasks: raw::Team,
    begun: UnsafeCell<Option<Begun>>,
    /// Of barriers inside a region.
    pub(crate) inner: Barrier,
    /// At the end of a region.
    end: Barrier,
    /// What its threads share of loops.
    ring: UnsafeCell<Ring>,
    workers: Box<[OnceCell<Box<Worker>>]>,
}

// SAFETY: each thread uses its own worker. What was begun is written while no other thread is
// inside, or only waits for the end of the last region, which it does not look at any more.
unsafe impl Sync for Team {}
// SAFETY: as above; workers end with the team, when no thread uses them.
unsafe impl Send for Team {}

impl Team {
    fn new(size: u32) -> Self {
        Self {
            tasks: raw::Team::new(
                machine(),
                size as usize,
                icv::settings().rules,
                icv::patience(size),
                OmpTask::kind_of,
                (icv::watch(), icv::placement()),
            ),
            begun: UnsafeCell::new(None),
            inner: Barrier::default(),
            end: Barrier::default(),
            ring: UnsafeCell::default(),
            workers: (0..size).map(|_| OnceCell::new()).collect(),
        }
    }

    /// The tree of its tasks.
    pub(crate) fn tasks(&self) -> &raw::Team {
        &self.tasks
    }

    /// What its threads share of loops.
    #[inline]
    pub(crate) fn ring(&self) -> &Ring {
        // SAFETY: it is changed between regions alone.
        unsafe { &*self.ring.get() }
    }

    /// Makes it ready for the next region.
    ///
    /// # Safety
    /// The last has ended.
    unsafe fn reset(&self) {
        self.inner.reset();
        // SAFETY: no other thread is inside.
        unsafe {
            let begun = (*self.begun.get()).as_ref();
            if begun.is_some_and(|begun| begun.region.is_cancelled.load(Ordering::Relaxed)) {
                (*self.ring.get()).reset();
            }
        }
    }

    fn begun(&self) -> &Begun {
        // SAFETY: it was written before this thread was called.
        unsafe { (*self.begun.get()).as_ref() }.expect("a region was begun")
    }

    /// A thread takes its part in the region that was begun.
    ///
    /// # Safety
    /// Nobody else has this number.
    unsafe fn join<'a>(&self, number: u32, thread: &'a Thread) -> &'a Member {
        // SAFETY: the leaf is this thread's.
        let worker = || Box::new(unsafe { self.tasks.worker(number as usize) });
        let worker = self.workers[number as usize].get_or_init(worker);
        let Begun { region, job, icvs, binding, shows } = self.begun();
        let partition = match binding {
            None => region.partition_around(),
            Some(binding) => {
                let (place, partition) = binding.of(number);
                place::go(thread, place);
                partition
            }
        };
        // SAFETY: team, region and worker outlive the part.
        let member = unsafe {
            Member::new(region, number, (&self.tasks, &raw const **worker), icvs, partition)
        };
        let member = Box::leak(Box::new(member));
        member.enter();
        if *shows {
            affinity_format::show(job.style);
        }
        member
    }

    /// Runs what the region is to run.
    pub(crate) fn run(&self, member: &Member) {
        let job = self.begun().job;
        // SAFETY: the promise of whoever began the region.
        unsafe { (job.run)(job.data, member) };
    }

    /// Waits for the others at the end of the region, and leaves it.
    pub(crate) fn leave(&self, member: &Member) {
        member.leave_constructs();
        let wait = || self.end.wait(member, self, || false);
        if ompt::is_on() {
            ompt::region_barrier(member, wait)
        } else {
            wait()
        }
        if member.number == 0 {
            self.ring().met.set(member.work.met.get());
        }
        member.leave();
        // SAFETY: `join` made it, and nobody has it any more.
        drop(unsafe { Box::from_raw(ptr::from_ref(member).cast_mut()) });
    }
}

/// Where a thread waits for regions.
struct Post {
    /// Null while there is none.
    team: AtomicPtr<Team>,
    parker: Parker,
    /// How long a thread looks before it sleeps there.
    patience: Duration,
}

/// In the place of a team: there will be no more.
const GO: *mut Team = ptr::without_provenance_mut(1);

impl Post {
    fn send(&self, team: *const Team) {
        self.team.store(team.cast_mut(), Ordering::Release);
        self.parker.unpark();
    }

    /// Waits for the next; nothing when there will be none.
    fn receive(&self) -> Option<&Team> {
        let mut pause = Pause::new(self.patience);
        loop {
            if !self.team.load(Ordering::Relaxed).is_null() {
                // Pairs with `send`.
                let team = self.team.swap(ptr::null_mut(), Ordering::Acquire);
                // SAFETY: a team lives as long as the crew, which says so before it goes.
                return if team == GO { None } else { Some(unsafe { &*team }) };
            }
            if !pause.lasts(|| !self.team.load(Ordering::Relaxed).is_null()) {
                self.parker.park();
            }
        }
    }
}

/// The threads that help one thread, and the teams that they form with it.
#[derive(Default)]
pub(crate) struct Crew {
    threads: Vec<(Arc<Post>, JoinHandle<()>)>,
    teams: HashMap<u32, Box<Team>>,
    /// Of the last region whose threads said where they are: how many, the level, the binding.
    shown: Cell<Option<(u32, i32, Option<Binding>)>>,
}

impl Crew {
    /// A team of so many threads, of which the caller is the first.
    fn team(&mut self, size: u32) -> &Team {
        while self.threads.len() + 1 < size as usize {
            self.threads.push(hire(self.threads.len() as u32 + 1));
        }
        self.teams.entry(size).or_insert_with(|| Box::new(Team::new(size)))
    }

    /// Begins a region of so many threads, of which the caller is the first.
    ///
    /// # Safety
    /// The last region of this crew has ended; `job` is as it says.
    pub(crate) unsafe fn begin<'a>(
        &mut self,
        size: u32,
        binding: Option<Binding>,
        job: Job,
        thread: &'a Thread,
    ) -> &'a Member {
        let team: *const Team = self.team(size);
        // SAFETY: it is in a box of this crew.
        let team = unsafe { &*team };
        let around = thread.member();
        let region = Region::inside(around, size, team);
        region.counted.set(if around.thread_limit().is_some() { size - 1 } else { 0 });
        if ompt::is_on() {
            region.tool.set(ompt::region_begins(size));
        }
        let icvs = Icvs::inside(
            around.task().icvs.get(),
            region.level,
            binding.map(|binding| binding.how),
        );
        // SAFETY: nobody looks at what was begun before.
        unsafe { team.reset() };
        let shows = icv::settings().show_affinity && {
            let now = Some((size, region.level, binding));
            self.shown.replace(now) != now
        };
        // SAFETY: as above.
        unsafe { *team.begun.get() = Some(Begun { region, job, icvs, binding, shows }) };
        for (post, _) in &self.threads[..size as usize - 1] {
            post.send(team);
        }
        // SAFETY: the others count from 1.
        unsafe { team.join(0, thread) }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for (post, _) in &self.threads {
            post.send(GO);
        }
        for (_, thread) in self.threads.drain(..) {
            // A panic was told when it happened, and cannot be mended here.
            let _ = thread.join();
        }
    }
}

/// A thread that takes the same number in every team.
fn hire(number: u32) -> (Arc<Post>, JoinHandle<()>) {
    let post = Arc::new(Post {
        team: AtomicPtr::new(ptr::null_mut()),
        parker: Parker::new(),
        patience: icv::patience(number + 1),
    });
    let own = post.clone();
    let builder = std::thread::Builder::new().name(format!("evenkeel omp {number}"));
    let spawned = builder.stack_size(icv::stack_bytes()).spawn(move || {
        ompt::becomes_worker();
        let thread = Thread::current();
        while let Some(team) = own.receive() {
            // SAFETY: the number is this thread's in all teams of its crew.
            let member = unsafe { team.join(number, thread) };
            team.run(member);
            team.leave(member);
        }
    });
    match spawned {
        Ok(thread) => (post, thread),
        Err(error) => {
            abort_with(format!("evenkeel: starting a thread of a team: {error}\n").as_bytes())
        }
    }
}

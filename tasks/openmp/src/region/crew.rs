//! The threads that help another in the regions that it begins, and the teams that they form.
//!
//! They stay between regions, and a team of each size stays with its tree: to begin a region is to
//! hand every thread a pointer.

use std::cell::{Cell, OnceCell, UnsafeCell};
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use std::thread::JoinHandle;

use evenkeel_runtime::internal::{self, Parker, Pause, Worker};

use super::share::Ring;
use super::{Barrier, Job, Member, Region};
use crate::affinity_format;
use crate::icv::Icvs;
use crate::ompt;
use crate::place::{self, Binding};
use crate::processors;
use crate::settings::{machine, patience, placement, settings, stack_bytes, watch};
use crate::task::OmpTask;
use crate::thread::Thread;
use crate::unsupported::say;
use crate::wait::crowd::{Awake, crowd};
use crate::wait::turns::Turns;

/// What is written by whoever begins a region, before the others come.
///
/// The others wait for each line of it to come from that thread's cache: what all need lies first.
#[repr(C, align(128))]
struct Begun {
    /// Of the implicit tasks.
    icvs: &'static Icvs,
    /// Constructs with a share that its threads have met before.
    met: u64,
    job: Job,
    region: Region,
    /// Where the threads go; nothing if they may be anywhere.
    binding: Option<Binding>,
    /// Whether each of them says where it is.
    shows: bool,
}

/// Where one thread of a team is, region after region.
#[derive(Default)]
#[repr(align(128))]
struct Seat {
    worker: OnceCell<Box<Worker>>,
    /// Its part in the region that it is in.
    member: UnsafeCell<Option<Member>>,
    /// `single` constructs that are behind it, where its region is cancelled.
    past: AtomicU64,
}

/// Where threads of a team began their last region: [`processors::current`]; 0 before the first.
/// All threads read them at each barrier, and they seldom change: so they lie together, apart from
/// the fields that change.
#[derive(Default)]
#[repr(align(128))]
struct LastCpus([AtomicU32; CPUS_A_LINE]);

/// As many CPUs as two cache lines have room for, which CPUs fetch together.
const CPUS_A_LINE: usize = 32;

/// So many threads, and the tree of their tasks.
pub(crate) struct Team {
    tasks: internal::Team,
    begun: UnsafeCell<Option<Begun>>,
    /// Of barriers inside a region.
    pub(crate) inner: Barrier,
    /// At the end of a region.
    end: Barrier,
    /// What its threads share of loops.
    ring: UnsafeCell<Ring>,
    seats: Box<[Seat]>,
    last_cpus: Box<[LastCpus]>,
}

// SAFETY: each thread uses its own seat. What was begun is written while no other thread is
// inside, or only waits for the end of the last region, which it does not look at any more.
unsafe impl Sync for Team {}
// SAFETY: as above; workers end with the team, when no thread uses them.
unsafe impl Send for Team {}

impl Team {
    /// Of `size` threads.
    fn new(size: u32) -> Self {
        Self {
            tasks: internal::Team::new(
                machine(),
                size as usize,
                settings().rules,
                OmpTask::kind_of,
                crowd().is_some(),
                (watch(), placement()),
            ),
            begun: UnsafeCell::new(None),
            inner: Barrier::default(),
            end: Barrier::default(),
            ring: UnsafeCell::default(),
            seats: (0..size).map(|_| Seat::default()).collect(),
            last_cpus: (0..(size as usize).div_ceil(CPUS_A_LINE))
                .map(|_| LastCpus::default())
                .collect(),
        }
    }

    /// The tree of its tasks.
    pub(crate) fn tasks(&self) -> &internal::Team {
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
                self.seats.iter().for_each(|seat| seat.past.store(0, Ordering::Relaxed));
            }
        }
    }

    /// How many `single` constructs are behind a thread, where it says so.
    pub(super) fn past(&self, number: u32) -> &AtomicU64 {
        &self.seats[number as usize].past
    }

    /// How many threads it has.
    fn size(&self) -> u32 {
        self.seats.len() as u32
    }

    /// Whether another thread of the team began its last region on the CPU of the caller, which has
    /// this number. Then that thread comes when the caller lets it have the CPU; and if the caller
    /// sleeps, the kernel looks for another CPU when it is woken. Of two threads that yield to each
    /// other it moves neither: each has run within its `sched_migration_cost_ns`.
    pub(crate) fn shares_cpu(&self, number: u32) -> bool {
        let here = processors::current();
        let cpus = self.last_cpus.iter().flat_map(|line| &line.0);
        let is_beside = |cpu: &AtomicU32| here != 0 && cpu.load(Ordering::Relaxed) == here;
        (0..).zip(cpus).any(|(other, cpu)| other != number && is_beside(cpu))
    }

    /// Whether a thread that waits yields to the others of its team, rather than looks for what
    /// it waits for: not where the user has said how to wait.
    pub(crate) fn yields_to_itself(&self, number: u32) -> bool {
        !patience().is_asked && self.shares_cpu(number)
    }

    fn last_cpu(&self, number: u32) -> &AtomicU32 {
        let number = number as usize;
        &self.last_cpus[number / CPUS_A_LINE].0[number % CPUS_A_LINE]
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
        let seat = &self.seats[number as usize];
        // SAFETY: the leaf is this thread's.
        let worker = || Box::new(unsafe { self.tasks.worker(number as usize) });
        let worker = seat.worker.get_or_init(worker);
        worker.set_patience(patience());
        let cpu = processors::current();
        let last_cpu = self.last_cpu(number);
        if last_cpu.load(Ordering::Relaxed) != cpu {
            last_cpu.store(cpu, Ordering::Relaxed);
        }
        let worker = &raw const **worker;
        let Begun { region, job, icvs, binding, shows, met } = self.begun();
        let partition = match binding {
            None => region.partition_around(),
            Some(binding) => {
                let (place, partition) = binding.of(number);
                place::go(thread, place);
                partition
            }
        };
        let place = (&raw const self.tasks, worker);
        // SAFETY: team, region and worker outlive the part; the seat is this thread's, who has left
        // it before.
        let member = unsafe {
            let member = Member::new(region, number, place, icvs, partition, *met);
            (*seat.member.get()).insert(member)
        };
        member.enter();
        if *shows {
            affinity_format::show(job.style());
        }
        member
    }

    /// Runs what the region is to run.
    pub(crate) fn run(&self, member: &Member) {
        // SAFETY: the promise of whoever began the region.
        unsafe { self.begun().job.run(member) };
    }

    /// Waits for the others at the end of the region, and leaves it.
    pub(crate) fn leave(&self, member: &Member) {
        member.leave_constructs();
        member.has_left();
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
    }
}

/// A thread that shares its CPU with another of its team sleeps after the first region and then
/// after one of so many: the kernel gives a woken thread an idle CPU, and moves none that yields.
const SHARED: u64 = 8;

/// Where a thread waits for regions.
#[repr(align(128))]
struct Post {
    /// Regions that its crew had begun, the last for this thread counted.
    begun: AtomicU64,
    /// Whose team is to run that; null if there will be none any more.
    team: AtomicPtr<Team>,
    awake: Awake,
    parker: Parker,
    turns: Turns,
}

impl Post {
    /// Calls a thread that looks here; whoever does so calls [`Post::wake`] behind a fence.
    fn send(&self, team: *const Team, begun: u64) {
        // Pairs with `team`.
        self.team.store(team.cast_mut(), Ordering::Release);
        // Pairs with `receive`.
        self.begun.store(begun, Ordering::Release);
    }

    fn wake(&self) {
        if self.awake.wakes() {
            self.parker.unpark();
        }
    }

    fn sleep_until(&self, is_called: impl Fn() -> bool) {
        self.awake.sleeps();
        // Pairs with that of `call`: either we see what was sent, or they that we sleep.
        fence(Ordering::SeqCst);
        while !is_called() {
            self.parker.park();
        }
        self.awake.wakes();
    }

    /// Waits for the next after so many, the last one of which this thread left by this number;
    /// nothing when there will be none.
    fn receive(&self, known: &mut u64, number: u32) -> Option<&Team> {
        // Pairs with `send`.
        let is_called = || self.begun.load(Ordering::Acquire) != *known;
        let sharing = || self.team().filter(|team| team.yields_to_itself(number)).map(Team::size);
        if let Some(crowd) = crowd() {
            self.turns.wait(crowd, is_called, || self.sleep_until(is_called));
        } else if let Some(size) = sharing() {
            if *known % SHARED == 1 {
                self.sleep_until(is_called);
            } else {
                self.turns.wait(size, is_called, || self.sleep_until(is_called));
            }
        } else {
            let mut pause = Pause::new(patience());
            while !is_called() {
                if !pause.lasts(is_called) {
                    self.sleep_until(is_called);
                }
            }
        }
        *known = self.begun.load(Ordering::Relaxed);
        self.team()
    }

    /// The last that was sent here. A thread may see it before the region that it was sent for.
    fn team(&self) -> Option<&Team> {
        // Pairs with `send`.
        // SAFETY: a team lives as long as the crew, which sends null here before it goes.
        unsafe { self.team.load(Ordering::Acquire).as_ref() }
    }
}

/// Calls threads into a region of the team, or away if it is null.
fn call(threads: &[Hired], team: *const Team, begun: u64) {
    threads.iter().for_each(|(post, _)| post.send(team, begun));
    // Pairs with that of `Post::sleep_until`.
    fence(Ordering::SeqCst);
    threads.iter().for_each(|(post, _)| post.wake());
}

/// A thread, and where it waits.
type Hired = (Arc<Post>, JoinHandle<()>);

/// The threads that help one thread, and the teams that they form with it.
#[derive(Default)]
pub(crate) struct Crew {
    threads: Vec<Hired>,
    /// One of each size that was asked for.
    #[expect(clippy::vec_box, reason = "its threads have pointers to a team")]
    teams: Vec<Box<Team>>,
    /// Regions that it has begun.
    begun: u64,
    /// Of the last region whose threads said where they are: how many, the level, the binding.
    shown: Cell<Option<(u32, i32, Option<Binding>)>>,
}

impl Crew {
    /// A team of so many threads, of which the caller is the first, and so many regions deep.
    fn team(&mut self, size: u32, around: i32, binding: Option<Binding>) -> &Team {
        while self.threads.len() + 1 < size as usize {
            let number = self.threads.len() as u32 + 1;
            // The caller too is awake as long as the first of them.
            let counts = if number == 1 && around == 0 { 2 } else { 1 };
            let (post, thread) = hire(number, counts);
            if let Some(binding) = binding {
                processors::send(&thread, place::cpus(binding.of(number).0));
            }
            self.threads.push((post, thread));
        }
        let has_size = |place: &usize| self.teams[*place].seats.len() == size as usize;
        let place = (0..self.teams.len()).find(has_size).unwrap_or_else(|| {
            self.teams.push(Box::new(Team::new(size)));
            self.teams.len() - 1
        });
        &self.teams[place]
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
        let around = thread.member();
        let team: *const Team = self.team(size, around.region().level, binding);
        // SAFETY: it is in a box of this crew.
        let team = unsafe { &*team };
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
        let shows = settings().show_affinity && {
            let now = Some((size, region.level, binding));
            self.shown.replace(now) != now
        };
        // SAFETY: as above.
        unsafe {
            let met = team.ring().met.get();
            *team.begun.get() = Some(Begun { region, job, icvs, binding, shows, met });
        }
        self.begun += 1;
        call(&self.threads[..size as usize - 1], team, self.begun);
        // SAFETY: the others count from 1.
        unsafe { team.join(0, thread) }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        call(&self.threads, ptr::null(), self.begun + 1);
        for (_, thread) in self.threads.drain(..) {
            // A panic was told when it happened, and cannot be mended here.
            let _ = thread.join();
        }
    }
}

/// A thread that takes the same number in every team, and is counted for so many.
fn hire(number: u32, counts: u32) -> Hired {
    let post = Arc::new(Post {
        begun: AtomicU64::new(0),
        team: AtomicPtr::new(ptr::null_mut()),
        awake: Awake::new(counts),
        parker: Parker::new(),
        turns: Turns::default(),
    });
    let own = post.clone();
    let builder = std::thread::Builder::new().name(format!("evenkeel omp {number}"));
    let spawned = builder.stack_size(stack_bytes()).spawn(move || {
        ompt::becomes_worker();
        let thread = Thread::current();
        let mut known = 0;
        while let Some(team) = own.receive(&mut known, number) {
            // SAFETY: the number is this thread's in all teams of its crew.
            let member = unsafe { team.join(number, thread) };
            team.run(member);
            team.leave(member);
        }
        own.awake.ends();
    });
    (post, spawned.unwrap_or_else(|error| end_without(number, &error)))
}

/// Ends the program, as libgomp and libomp do: it counts on as many threads as it was promised.
fn end_without(number: u32, error: &io::Error) -> ! {
    say(format!(
        "evenkeel: the system gives a team only {number} threads: {error}; the program ends here, \
         and may run with fewer, as by OMP_NUM_THREADS\n"
    )
    .as_bytes());
    // SAFETY: a program may end anywhere.
    unsafe { libc::exit(libc::EXIT_FAILURE) }
}

//! Thread pools: the threads that help another one in its regions, and the teams that they form.
//!
//! They stay between regions, and a team of each size stays with the tree of its tasks: to begin a
//! region is to hand every thread a pointer.

use std::cell::Cell;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread::JoinHandle;

use super::job::Job;
use super::mailbox::Mailbox;
use super::pooled_team::{PooledTeam, RegionDescriptor};
use super::{Member, Region};
use crate::icv::Icvs;
use crate::ompt;
use crate::place::{self, Binding};
use crate::processors;
use crate::settings::{settings, stack_bytes};
use crate::thread::Thread;
use crate::unsupported::say;

/// A thread, and the mailbox where it waits for regions.
struct PooledThread {
    mailbox: Arc<Mailbox>,
    handle: JoinHandle<()>,
}

/// The threads that help one thread, and the teams that they form with it.
pub(crate) struct ThreadPool {
    /// Registers a new thread of the pool, which calls it first.
    register: fn() -> &'static Thread,
    threads: Vec<PooledThread>,
    /// One of each size that was asked for.
    #[expect(clippy::vec_box, reason = "its threads have pointers to a team")]
    teams: Vec<Box<PooledTeam>>,
    /// Regions that the pool has begun.
    begun: u64,
    /// The size, the level and the binding of the last region whose threads printed where they are.
    shown: Cell<Option<(u32, i32, Option<Binding>)>>,
}

/// Calls threads into a region of the team, or ends them if it is null.
fn call(threads: &[PooledThread], team: *const PooledTeam, begun: u64) {
    threads.iter().for_each(|thread| thread.mailbox.send(team, begun));
    // Pairs with that of `Mailbox::sleep_until`.
    fence(Ordering::SeqCst);
    threads.iter().for_each(|thread| thread.mailbox.wake());
}

impl ThreadPool {
    /// A pool without threads. `register` registers each thread that the pool starts.
    pub(crate) fn new(register: fn() -> &'static Thread) -> Self {
        let (threads, teams) = (Vec::new(), Vec::new());
        Self { register, threads, teams, begun: 0, shown: Cell::new(None) }
    }

    /// A team of `size` threads, of which the caller is the first, in a region of level `around`.
    fn team(&mut self, size: u32, around: i32, binding: Option<Binding>) -> &PooledTeam {
        while self.threads.len() + 1 < size as usize {
            let number = self.threads.len() as u32 + 1;
            // The caller is counted with the first thread of its pool: both want a CPU for the same
            // time.
            let counts = if number == 1 && around == 0 { 2 } else { 1 };
            let thread = start(number, counts, self.register);
            if let Some(binding) = binding {
                processors::send(&thread.handle, place::cpus(binding.of(number).0));
            }
            self.threads.push(thread);
        }
        let has_size = |place: &usize| self.teams[*place].team.size() == size;
        let place = (0..self.teams.len()).find(has_size).unwrap_or_else(|| {
            self.teams.push(Box::new(PooledTeam::new(size)));
            self.teams.len() - 1
        });
        &self.teams[place]
    }

    /// Begins a region of `size` threads, of which the caller is the primary one. The pool's
    /// threads run `job`.
    ///
    /// # Safety
    /// The last region of this pool has ended; each thread may run `job` until this one ends.
    pub(crate) unsafe fn begin<'a>(
        &mut self,
        size: u32,
        binding: Option<Binding>,
        job: Job,
        thread: &'a Thread,
    ) -> &'a Member {
        let around = Member::of(thread);
        let pooled: *const PooledTeam = self.team(size, around.region().level, binding);
        // SAFETY: the team is in a box of this pool, which keeps its teams.
        let pooled = unsafe { &*pooled };
        let region = Region::inside(around, size, &raw const pooled.team);
        region.counted.set(if around.thread_limit().is_some() { size - 1 } else { 0 });
        if ompt::is_on() {
            region.tool.set(ompt::region_begins(size));
        }
        let icvs = Icvs::inside(
            around.task().icvs.get(),
            region.level,
            binding.map(|binding| binding.how),
        );
        // SAFETY: the team's last region was one of this pool, all of which have ended.
        unsafe { pooled.reset() };
        let shows = settings().show_affinity && {
            let now = Some((size, region.level, binding));
            self.shown.replace(now) != now
        };
        let met = pooled.team.ring().met.get();
        // SAFETY: the team's last region was one of this pool, all of which have ended.
        unsafe { pooled.describe(RegionDescriptor { region, job, icvs, binding, shows, met }) };
        self.begun += 1;
        call(&self.threads[..size as usize - 1], pooled, self.begun);
        // SAFETY: the pool's threads have the numbers from 1.
        unsafe { pooled.join(0, thread) }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        call(&self.threads, ptr::null(), self.begun + 1);
        for PooledThread { handle, .. } in self.threads.drain(..) {
            // A panic of the thread was reported right then.
            let _ = handle.join();
        }
    }
}

/// Starts a thread that takes the same number in every team, and counts for `counts` threads that
/// want a CPU.
fn start(number: u32, counts: u32, register: fn() -> &'static Thread) -> PooledThread {
    let mailbox = Arc::new(Mailbox::new(counts));
    let own = mailbox.clone();
    let builder = std::thread::Builder::new().name(format!("evenkeel omp {number}"));
    let spawned = builder.stack_size(stack_bytes()).spawn(move || {
        ompt::becomes_worker();
        let thread = register();
        let mut known = 0;
        while let Some(team) = own.receive(&mut known, number) {
            // SAFETY: the number is this thread's in all teams of its pool, and the thread has left
            // the last region.
            let member = unsafe { team.join(number, thread) };
            team.run(member);
            member.leave_team(&team.team);
        }
        own.ends();
    });
    let handle = spawned.unwrap_or_else(|error| end_without(number, &error));
    PooledThread { mailbox, handle }
}

/// Ends the program, as libgomp and libomp do, since a program relies on the number of threads that
/// it asked for.
fn end_without(number: u32, error: &io::Error) -> ! {
    say(format!(
        "evenkeel: the system gives a team only {number} threads: {error}; the program ends here, \
         and may run with fewer, as by OMP_NUM_THREADS\n"
    )
    .as_bytes());
    // SAFETY: a program may end anywhere.
    unsafe { libc::exit(libc::EXIT_FAILURE) }
}

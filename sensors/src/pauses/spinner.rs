//! A real-time thread that keeps the tasks of one CPU from running, for 2 ms at most.
//!
//! It sleeps until it gets an order. Its end depends on nothing but its own stamps: the order's
//! deadline and, if the stamps of two CPUs should disagree, 2 ms after its own start.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use nix::unistd::{Pid, gettid};

use super::chain::Chain;
use super::look::{AGAIN, ALONE, Block, Blocks, Course, PAUSE_MAX, Times, Verdict, Why};

/// Every task of an ordinary policy gives way to any real-time priority, so the lowest suffices:
/// interrupt threads (50, kernel/sched/syscalls.c, `sched_set_fifo`, Linux 6.18), the kernel's
/// stop and migration threads, and real-time applications run as if nobody paused anything.
const PRIORITY: libc::c_int = 1;

/// One name for all, so that they are one program of a profile.
const THREAD_NAME: &str = "evenkeel-pause";

/// The blocks that fit into the longest pause, twice over: a chain takes less time at a clock above
/// that of the calibration.
const BLOCKS_MAX: usize = 1024;

/// A pause that several spinners take part in.
#[derive(Debug)]
pub(super) struct Meeting {
    /// The spinners that came; incremented by each.
    came: AtomicU32,
    /// The number of spinners needed.
    needed: u32,
    /// Set by the spinner of the sampled CPU: all go on.
    has_ended: AtomicBool,
    answer: Mutex<Option<Answer>>,
    answered: Condvar,
}

/// The result of the sampled CPU's spinner.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) blocks: Blocks,
    pub(super) ended: Result<(), Why>,
}

impl Meeting {
    pub(super) fn new(needed: u32) -> Self {
        Self {
            came: AtomicU32::new(0),
            needed,
            has_ended: AtomicBool::new(false),
            answer: Mutex::new(None),
            answered: Condvar::new(),
        }
    }

    /// Waits for the answer; `None`: it did not come in time, and no spinner takes up the order
    /// any more.
    pub(super) fn wait(&self, patience: Duration) -> Option<Answer> {
        let guard = lock(&self.answer);
        let waited = self.answered.wait_timeout_while(guard, patience, |answer| answer.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    fn end(&self, answer: Answer) {
        self.has_ended.store(true, Ordering::Release);
        *lock(&self.answer) = Some(answer);
        self.answered.notify_one();
    }
}

/// What a spinner is to do.
#[derive(Debug)]
pub(super) enum Order {
    /// Spin beside the sampled CPU until the meeting ends.
    Accompany { meeting: Arc<Meeting>, asked: u64 },
    /// Spin on the sampled CPU, and look at its clock.
    Look { meeting: Arc<Meeting>, asked: u64, course: Course, again: bool, blocks: Blocks },
    /// End the thread.
    End,
}

impl Order {
    pub(super) fn look(meeting: Arc<Meeting>, asked: u64, course: Course, again: bool) -> Self {
        let room = || Vec::with_capacity(BLOCKS_MAX);
        let again_room = if again { room() } else { Vec::new() };
        let blocks = Blocks { first: room(), again: again_room, times: Times::default() };
        Self::Look { meeting, asked, course, again, blocks }
    }
}

/// The place of an order: a newer one replaces one that was not taken up.
#[derive(Debug, Default)]
struct Inbox {
    order: Mutex<Option<Order>>,
    arrived: Condvar,
}

/// The thread of a CPU.
#[derive(Debug)]
pub(super) struct Spinner {
    pub(super) cpu: u32,
    pub(super) tid: i32,
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

/// The step that the kernel refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Thread,
    Cpu(Errno),
    Priority(Errno),
}

impl Spinner {
    /// Starts a spinner that sleeps.
    pub(super) fn start(cpu: u32, chain: Chain) -> Result<Self, Refused> {
        let inbox = Arc::<Inbox>::default();
        let (sender, receiver) = std::sync::mpsc::channel();
        let its = Arc::clone(&inbox);
        let thread = std::thread::Builder::new()
            .name(THREAD_NAME.to_owned())
            .spawn(move || live(cpu, &chain, &its, &sender))
            .map_err(|_| Refused::Thread)?;
        match receiver.recv().unwrap_or(Err(Refused::Thread)) {
            Ok(tid) => Ok(Self { cpu, tid, inbox, thread: Some(thread) }),
            Err(refused) => {
                let _ = thread.join();
                Err(refused)
            }
        }
    }

    pub(super) fn order(&self, order: Order) {
        *lock(&self.inbox.order) = Some(order);
        // The order is complete and its lock free: a spinner on this CPU runs at once.
        self.inbox.arrived.notify_one();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.order(Order::End);
        if let Some(thread) = self.thread.take() {
            // A panic of this thread carries no value that the owner needs.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live(cpu: u32, chain: &Chain, inbox: &Inbox, started: &Sender<Result<i32, Refused>>) {
    let ready = prepare(cpu);
    let is_ready = ready.is_ok();
    if started.send(ready).is_err() || !is_ready {
        return;
    }
    loop {
        let guard = lock(&inbox.order);
        let waited = inbox.arrived.wait_while(guard, |order| order.is_none());
        let order = waited.unwrap_or_else(PoisonError::into_inner).take();
        match order {
            Some(Order::Accompany { meeting, asked }) => {
                sleep_until(chain, asked);
                accompany(cpu, chain, &meeting, asked);
            }
            Some(Order::Look { meeting, asked, course, again, mut blocks }) => {
                sleep_until(chain, asked);
                let pause = Pause { cpu, chain, asked, own: chain.tsc().now() };
                let ended = pause.look(&meeting, &course, again, &mut blocks);
                meeting.end(Answer { blocks, ended });
            }
            Some(Order::End) => return,
            None => {}
        }
    }
}

/// Makes this thread a real-time one of the lowest priority.
pub(super) fn become_real_time() -> Result<(), Errno> {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the kernel reads one struct from the address given; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    Errno::result(result).map(drop)
}

/// Pins this thread and makes it a real-time one.
fn prepare(cpu: u32) -> Result<i32, Refused> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu as usize).map_err(Refused::Cpu)?;
    sched_setaffinity(Pid::from_raw(0), &cpus).map_err(Refused::Cpu)?;
    become_real_time().map_err(Refused::Priority)?;
    Ok(gettid().as_raw())
}

/// Sleeps until a time in ticks. The kernel gives timers of real-time tasks no slack.
fn sleep_until(chain: &Chain, time: u64) {
    let tsc = chain.tsc();
    let left_ns = tsc.ns(time.saturating_sub(tsc.now())) as u64;
    if left_ns > 0 {
        sleep(Duration::from_nanos(left_ns));
    }
}

/// The clock that the kernel's records have.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    now.as_nanos() as u64
}

fn sleep(duration: Duration) {
    // An early end makes a look early, which its blocks show.
    let _ =
        clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::empty(), &duration.into());
}

fn is_on(cpu: u32) -> bool {
    sched_getcpu() == Ok(cpu as usize)
}

fn accompany(cpu: u32, chain: &Chain, meeting: &Meeting, asked: u64) {
    let pause = Pause { cpu, chain, asked, own: chain.tsc().now() };
    if !is_on(cpu) || pause.is_over() {
        return;
    }
    meeting.came.fetch_add(1, Ordering::AcqRel);
    // The chain, not PAUSE: hypervisors take CPUs away that execute PAUSE in a loop.
    while !meeting.has_ended.load(Ordering::Acquire) && !pause.is_over() && is_on(cpu) {
        chain.run(asked);
    }
}

/// One pause of one CPU.
struct Pause<'c> {
    cpu: u32,
    chain: &'c Chain,
    /// When the pause was asked for, in ticks of the requester's CPU.
    asked: u64,
    /// When this spinner began, in ticks of its own CPU.
    own: u64,
}

impl Pause<'_> {
    /// Since the request.
    fn now_ns(&self) -> u64 {
        let tsc = self.chain.tsc();
        tsc.ns(tsc.now().saturating_sub(self.asked)) as u64
    }

    /// Whether the longest pause is over, by the request's stamp or by this CPU's own.
    fn is_over(&self) -> bool {
        let tsc = self.chain.tsc();
        let now = tsc.now();
        let most = tsc.ticks(PAUSE_MAX);
        now.saturating_sub(self.asked) >= most || now.saturating_sub(self.own) >= most
    }

    fn look(
        &self,
        meeting: &Meeting,
        course: &Course,
        again: bool,
        blocks: &mut Blocks,
    ) -> Result<(), Why> {
        if !is_on(self.cpu) {
            return Err(Why::CpuLost);
        }
        if self.is_over() {
            return Err(Why::Late);
        }
        meeting.came.fetch_add(1, Ordering::AcqRel);
        blocks.times.first_ns = monotonic_ns();
        self.first_look(meeting, course, &mut blocks.first)?;
        blocks.times.again_ns = monotonic_ns();
        if again {
            // The sampled CPU's task runs, the siblings' spinners stay.
            sleep(ALONE);
            blocks.times.again_ns = monotonic_ns();
            self.second_look(&mut blocks.again)?;
        }
        blocks.times.end_ns = monotonic_ns();
        Ok(())
    }

    fn first_look(
        &self,
        meeting: &Meeting,
        course: &Course,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Why> {
        let mut together_ns = None;
        loop {
            let is_complete = meeting.came.load(Ordering::Acquire) >= meeting.needed;
            if together_ns.is_none() && is_complete {
                together_ns = Some(self.now_ns());
            }
            self.block(blocks)?;
            match course.verdict(self.now_ns(), together_ns, blocks) {
                Verdict::GoOn if self.is_over() => return Err(Why::Held),
                Verdict::GoOn => {}
                Verdict::Complete => return Ok(()),
                Verdict::Ended(why) => return Err(why),
            }
        }
    }

    fn second_look(&self, blocks: &mut Vec<Block>) -> Result<(), Why> {
        let start_ns = self.now_ns();
        while self.now_ns().saturating_sub(start_ns) < AGAIN.as_nanos() as u64 {
            if self.is_over() {
                return Err(Why::Late);
            }
            self.block(blocks)?;
        }
        Ok(())
    }

    /// One more block, if the spinner still has its CPU.
    fn block(&self, blocks: &mut Vec<Block>) -> Result<(), Why> {
        let block = self.chain.run(self.asked);
        if !is_on(self.cpu) {
            return Err(Why::CpuLost);
        }
        // Never allocates in a pause: the room is for twice the longest one.
        if blocks.len() < blocks.capacity() {
            blocks.push(block);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Tsc;

    #[test]
    fn a_companion_ends_its_pause_itself_and_refuses_an_old_order() {
        let tsc = Tsc::calibrate().unwrap();
        let chain = Chain::calibrate(tsc);
        let cpu = sched_getcpu().unwrap() as u32;
        let meeting = Meeting::new(2);
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut cpus = CpuSet::new();
            cpus.set(cpu as usize).unwrap();
            sched_setaffinity(Pid::from_raw(0), &cpus).unwrap();
            // Nobody ever ends this meeting.
            accompany(cpu, &chain, &meeting, tsc.now());
            let came = meeting.came.load(Ordering::Acquire);
            let old = tsc.now() - tsc.ticks(PAUSE_MAX);
            accompany(cpu, &chain, &meeting, old);
            sender.send((came, meeting.came.load(Ordering::Acquire))).unwrap();
        });
        assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Ok((1, 1)));
    }

    #[test]
    fn a_spinner_on_another_cpu_does_not_spin() {
        let chain = Chain::calibrate(Tsc::calibrate().unwrap());
        let meeting = Meeting::new(1);
        let course = Course::new(100_000, false).unwrap();
        let mut blocks = Blocks { first: Vec::with_capacity(BLOCKS_MAX), ..Blocks::default() };
        // No machine has this CPU, so the thread is on another one.
        let pause = Pause {
            cpu: u32::MAX,
            chain: &chain,
            asked: chain.tsc().now(),
            own: chain.tsc().now(),
        };
        assert_eq!(pause.look(&meeting, &course, false, &mut blocks), Err(Why::CpuLost));
        assert!(blocks.first.is_empty());
    }
}

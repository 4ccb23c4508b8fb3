//! Waiting: which task runs on which stack of a worker.

use std::io;
use std::panic::Location;
use std::ptr;
use std::time::Duration;

use super::{CURRENT, PAUSE_MAX, PAUSE_MIN, Pause, Worker, comes_soon};
use crate::children::Until;
use crate::inbox::Linked;
use crate::instrument::{OpenSlice, What};
use crate::queued::Queued;
use crate::sync::Ordering;
use crate::task::Task;
use crate::wait::{Fibre, Go, Leaver, Left, Reason, Waiting, leave, stack_address};

/// How long a waiting task polls whether other workers end its wait, before the worker leaves the
/// stack for other tasks: leaving a stack and coming back takes half as long.
const SOON: Duration = Duration::from_micros(1);

/// The next task of a worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A child of the waiting task; the child has run.
    Child,
    Other,
    Nothing,
}

impl Worker {
    /// Waits for children of a task that this worker runs.
    #[track_caller]
    #[inline]
    pub fn wait_for_children(&self, task: &Task, until: Until) {
        self.wait_for_children_at(task, until, Location::caller());
    }

    /// Waits for children of a task, at a line of the program that the caller passes.
    pub(crate) fn wait_for_children_at(
        &self,
        task: &Task,
        until: Until,
        location: &'static Location<'static>,
    ) {
        self.settle(task);
        if task.children.have_reached(until) {
            return;
        }
        loop {
            self.settle(task);
            if task.children.have_reached(until) {
                return self.hand_on();
            }
            if self.is_low() {
                break;
            }
            match self.run_own_child(task) {
                Next::Child => {}
                Next::Other => break,
                Next::Nothing => {
                    if self.comes_soon(|| task.children.have_reached(until)) {
                        return self.hand_on();
                    }
                    break;
                }
            }
        }
        let waiting = Waiting::at(self.leaf, Reason::Tasks, location);
        waiting.is_of(task);
        if task.children.wait(until) {
            self.block(&waiting);
            task.children.woke(until);
        }
    }

    /// Waits for children of a tied task: meanwhile only descendants of the task run here, on top
    /// of the task. Any other task might wait for a lock that the tied one holds, which cannot go
    /// on before the task above ends.
    #[inline(always)]
    pub fn wait_tied(&self, task: &Task, until: Until) {
        self.settle(task);
        // Mostly the youngest child is the youngest task here. Few calls between one task and the
        // next inside that task keep the CPU's return stack buffer from overflowing.
        while !task.children.have_reached(until) {
            if self.run_own_child(task) != Next::Child {
                return self.wait_tied_below(task, until);
            }
            self.settle(task);
        }
    }

    /// Whether a condition that other workers bring about holds soon.
    pub(crate) fn comes_soon(&self, holds: impl Fn() -> bool) -> bool {
        let is_alone = self.shared.present.load(Ordering::Relaxed) == 1;
        if is_alone { holds() } else { comes_soon(SOON, holds) }
    }

    /// Runs this worker's next task, if that is a child of `task`.
    #[inline(always)]
    fn run_own_child(&self, task: &Task) -> Next {
        let Some(next) = self.take() else { return Next::Nothing };
        // SAFETY: a task that was taken is alive, and may run on any worker.
        unsafe {
            if ptr::eq(Task::parent_of(&*next), task) {
                self.run(next);
                return Next::Child;
            }
            self.add_by_priority(next);
            Next::Other
        }
    }

    /// Waits for children of a tied task, when the next task of this worker is no child.
    #[cold]
    #[inline(never)]
    fn wait_tied_below(&self, task: &Task, until: Until) {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin(&slice, What::Waits, 0);
        if !self.run_below(task, &|| task.children.have_reached(until)) {
            self.sleep_tied(task, until);
        }
    }

    /// Runs descendants of a task until `stop` holds; the thread that makes `stop` hold need not
    /// wake this worker.
    pub fn run_descendants_until(&self, task: &Task, stop: impl Fn() -> bool) {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin(&slice, What::Waits, 0);
        let mut pause = PAUSE_MIN;
        while !self.run_below(task, &stop) {
            self.nap(&mut pause);
        }
        // The last descendant may end another task's wait, while this task goes on for long.
        self.notify();
    }

    /// Runs descendants of a task until `stop` holds, or until none was found for a while. Returns
    /// whether `stop` holds.
    fn run_below(&self, task: &Task, stop: &impl Fn() -> bool) -> bool {
        let mut pause = Pause::new(self.patience.get());
        while !stop() {
            if self.run_descendant(task) {
                self.settle(task);
                pause = Pause::new(self.patience.get());
            } else if !pause.lasts(stop) {
                return false;
            }
        }
        true
    }

    /// Sleeps for a while, longer each time: the creator of a descendant does not know that this
    /// worker would run the new task.
    fn nap(&self, pause: &mut Duration) {
        self.asleep(|| self.at().parker.park_for(Some(*pause)));
        if *pause >= PAUSE_MAX {
            // A descendant may lie below other tasks in the queue of a worker that waits likewise.
            // SAFETY: this thread is the leaf's worker.
            unsafe { self.scheduler().expose(self.leaf) };
        }
        *pause = (*pause * 2).min(PAUSE_MAX);
    }

    /// Waits for children of a tied task, after the patience has passed without a descendant to
    /// run.
    fn sleep_tied(&self, task: &Task, until: Until) {
        let waiting = Waiting::on(self.leaf, Reason::Tasks);
        waiting.is_of(task);
        if !task.children.wait(until) {
            return;
        }
        let mut pause = PAUSE_MIN;
        while !waiting.may_go_on() {
            if let Some(resumed) = self.next_resumed() {
                // That stack runs nothing else when its task has ended, because `hosts` is null:
                // anything else would lie above this task.
                let hosts = self.hosts.replace(ptr::null());
                // SAFETY: `resumed` was in the resume box of this leaf.
                unsafe { self.go_back(resumed) };
                self.hosts.set(hosts);
            } else if self.run_descendant(task) {
                pause = PAUSE_MIN;
            } else {
                self.nap(&mut pause);
            }
        }
        task.children.woke(until);
    }

    /// Runs a descendant of a task, if a queue has one.
    fn run_descendant(&self, task: &Task) -> bool {
        // SAFETY: a ready task is alive, and so are the tasks above.
        let is_below =
            |queued: *mut Queued| unsafe { Task::is_below(Task::parent_of(&*queued), task) };
        // SAFETY: this thread is the leaf's worker.
        let ordinary = || unsafe { self.scheduler().take_if(self.leaf, is_below) };
        let waited = || self.take_waited_if(is_below);
        let Some(found) = self.take_wide_if(is_below).or_else(ordinary).or_else(waited) else {
            self.notify();
            return false;
        };
        // SAFETY: this worker took the task, so no other worker runs `found`.
        unsafe { self.run(found) };
        self.hand_on();
        true
    }

    /// This worker begins on the stack of another runtime's worker of this thread, inside `border`.
    pub(crate) fn is_inside(&self, around: &Self, border: &Task) {
        self.current.set(border);
        around.current.set(border);
        self.low.set(around.low.get());
    }

    /// Runs other tasks until another thread resumes `waiting`.
    pub(crate) fn block(&self, waiting: &Waiting) {
        self.shared.begins_to_wait(waiting);
        // The waiting task may be inside another runtime's scope; tasks that run meanwhile are not.
        let entered = CURRENT.get();
        let current = self.current.get();
        let leaver = self.leaver.get();
        let slices = self.instrument.leaves_stack();
        if leaver.is_null() {
            self.host(waiting);
        } else {
            let low = self.low.get();
            // SAFETY: `leaver` belongs to the fibre that runs here, and a leaver is valid on its
            // own fibre.
            unsafe { leave(&*leaver, Left::Waits(waiting)) };
            self.leaver.set(leaver);
            self.low.set(low);
        }
        CURRENT.set(entered);
        self.current.set(current);
        self.instrument.comes_back(slices);
        self.shared.goes_on(waiting);
    }

    /// A fibre without a task.
    pub(super) fn free_fibre(&self) -> io::Result<Fibre> {
        let free = self.free.borrow_mut().pop();
        free.map_or_else(|| self.new_fibre(), Ok)
    }

    fn new_fibre(&self) -> io::Result<Fibre> {
        let worker: *const Self = self;
        Fibre::new(move |leaver, go| {
            // SAFETY: the worker keeps its fibres, and goes to each on its own thread alone.
            let worker = unsafe { &*worker };
            match go {
                Go::On => worker.on_fibre(leaver),
                Go::Help(parent, how) => worker.help_on_fibre(leaver, parent, how),
            }
        })
    }

    /// Whether the stack has no room for tasks that may wait in turn.
    pub(crate) fn is_low(&self) -> bool {
        stack_address() < self.low.get()
    }

    /// Runs on the thread's own stack, which waits: resumes other stacks until `waiting` may go on.
    fn host(&self, waiting: &Waiting) {
        let around = self.hosts.replace(waiting);
        while !waiting.may_go_on() {
            if let Some(resumed) = self.next_resumed() {
                // SAFETY: `resumed` was in the resume box of this leaf.
                unsafe { self.go_back(resumed) };
                continue;
            }
            if self.rests() {
                self.rest();
                continue;
            }
            match self.free_fibre() {
                Ok(fibre) => self.go(fibre, Go::On),
                // No memory for another stack: a task that runs now delays the task that waits
                // below.
                Err(_) => {
                    self.run_until(|| self.has_resumed() || waiting.may_go_on() || self.rests())
                }
            }
        }
        self.hosts.set(around);
    }

    /// Goes to a fibre until the fibre gives the thread back.
    pub(super) fn go(&self, mut fibre: Fibre, go: Go) {
        let (leaver, current) = (self.leaver.get(), self.current.get());
        let helps = self.helps.replace(ptr::null());
        let low = self.low.replace(fibre.low());
        let slices = self.instrument.changes_stack(ptr::null());
        let entered = CURRENT.replace(self);
        let left = fibre.resume(go);
        CURRENT.set(entered);
        self.instrument.changes_stack(slices);
        self.leaver.set(leaver);
        self.current.set(current);
        self.helps.set(helps);
        self.low.set(low);
        match left {
            // SAFETY: the waiting task lies on the stack that was just left, so `waiting` is alive.
            // The resume box may have `waiting` already; only this thread takes entries from there,
            // later.
            Left::Waits(waiting) => unsafe {
                (*waiting).keep(fibre);
                self.left.set(self.left.get() + 1);
            },
            Left::Free => self.free.borrow_mut().push(fibre),
        }
    }

    /// Resumes a stack that was left.
    ///
    /// # Safety
    /// `resumed` was in the resume box of this leaf.
    unsafe fn go_back(&self, resumed: *const Waiting) {
        // SAFETY: `resumed` lies on a stack that was left and stays whole until resumed.
        if let Some(fibre) = unsafe { (*resumed).go_on() } {
            self.left.set(self.left.get() - 1);
            self.go(fibre, Go::On);
        }
    }

    /// Resumes all stacks that may go on, with nothing waiting below on this stack.
    pub(super) fn go_on(&self) {
        while let Some(resumed) = self.next_resumed() {
            // SAFETY: `resumed` was in the resume box of this leaf.
            unsafe { self.go_back(resumed) };
        }
    }

    /// The loop of a fibre while no task on the fibre waits.
    pub(crate) fn on_fibre(&self, leaver: &Leaver) {
        self.leaver.set(leaver);
        self.run_until(|| self.has_resumed() || !self.is_hosted() || self.rests());
    }

    /// Whether a task waits on the thread's own stack and was not resumed: code that waits on a
    /// fibre may have taken that task from the resume box.
    fn is_hosted(&self) -> bool {
        // SAFETY: the waiting task on that stack is alive until resumed, and then `hosts` is
        // replaced.
        unsafe { self.hosts.get().as_ref() }.is_some_and(|host| !host.may_go_on())
    }

    pub(super) fn has_resumed(&self) -> bool {
        !self.resumed.get().is_null() || !self.shared.resume_box(self.leaf).is_empty()
    }

    fn next_resumed(&self) -> Option<*const Waiting> {
        let mut first = self.resumed.get();
        if first.is_null() {
            first = self.shared.resume_box(self.leaf).take_all();
        }
        // SAFETY: an entry of the box lies on a stack that is not resumed until this loop takes the
        // entry.
        self.resumed.set(unsafe { first.as_ref()? }.next().get());
        Some(first)
    }

    /// A thread from outside stops being a worker: its queued tasks go to the other workers, but
    /// stacks on which tasks wait can only be resumed here.
    pub(crate) fn leaves(&self) {
        loop {
            self.notify();
            // SAFETY: this thread is the leaf's worker.
            unsafe { self.shared.scheduler.disable(self.leaf) };
            if self.left.get() == 0 {
                return;
            }
            while !self.has_resumed() {
                self.asleep(|| self.at().parker.park());
            }
            self.go_on();
        }
    }
}

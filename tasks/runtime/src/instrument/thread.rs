//! The instrument of one worker: records slices on its thread's lane, or nothing.

use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use super::functions::{Name, Role};
use super::lane::Lane;
use super::open::{Open, OpenSlice, What};
use super::recorder::Recorder;
use crate::class::Why;

/// Ends a slice when dropped.
pub(crate) struct Ends<'a> {
    lane: &'a Lane,
    frame: &'a Open,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.lane.end(self.frame);
    }
}

/// Where a worker records its slices: on its thread's lane, or nowhere.
pub(crate) struct ThreadInstrument(*const Lane);

impl ThreadInstrument {
    /// The instrument of the calling thread.
    pub(crate) fn of_thread(recorder: Option<&Arc<Recorder>>) -> Self {
        Self(recorder.map_or(ptr::null(), Lane::of_thread))
    }

    #[inline(always)]
    fn lane(&self) -> Option<&Lane> {
        // SAFETY: the worker's runtime owns the recorder, and the recorder owns the lane.
        unsafe { self.0.as_ref() }
    }

    /// Whether the runtime is watched.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !self.0.is_null()
    }

    /// Begins a slice, which ends when the guard that is returned is dropped.
    #[inline(always)]
    pub(crate) fn begin<'a>(
        &'a self,
        frame: &'a OpenSlice,
        what: What,
        key: usize,
    ) -> Option<Ends<'a>> {
        Some(begin(self.lane()?, frame, (what, key, 0), false))
    }

    /// Begins the slice of a task that was taken from a queue.
    pub(crate) fn begin_task<'a>(
        &'a self,
        frame: &'a OpenSlice,
        key: usize,
        task: usize,
    ) -> Option<Ends<'a>> {
        Some(begin(self.lane()?, frame, (What::Task, key, task), false))
    }

    /// Begins the slice of an inlined task.
    #[inline(always)]
    pub(crate) fn begin_inlined<'a>(
        &'a self,
        frame: &'a OpenSlice,
        key: usize,
    ) -> Option<Ends<'a>> {
        Some(begin(self.lane()?, frame, (What::Task, key, 0), true))
    }

    /// The next task that begins was inlined.
    #[inline(always)]
    pub(crate) fn inlines_next(&self) {
        if let Some(lane) = self.lane() {
            lane.inlines_next();
        }
    }

    /// The next task that is inlined was declared wide.
    #[inline(always)]
    pub(crate) fn declares_wide(&self) {
        if let Some(lane) = self.lane() {
            lane.next_wide.set(true);
        }
    }

    /// Whether the inlined task that begins was declared wide.
    pub(crate) fn was_declared_wide(&self) -> bool {
        self.lane().is_some_and(|lane| lane.next_wide.replace(false))
    }

    /// The task that begins is wide.
    pub(crate) fn is_wide(&self, why: Why, is_there: bool) {
        if let Some(lane) = self.lane() {
            lane.is_wide(why, is_there);
        }
    }

    /// A task of this type is created, at this line of the program.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn creates<F>(&self, key: usize) {
        if let Some(lane) = self.lane() {
            name::<F>(lane, Role::Task, key, Some(Location::caller()));
        }
    }

    /// The tasks that something runs are of this type.
    #[inline(always)]
    pub(crate) fn is_called<F>(&self, key: usize) {
        if let Some(lane) = self.lane() {
            name::<F>(lane, Role::Task, key, None);
        }
    }

    /// Code of this type, at this line of the program, is about to create tasks.
    #[inline(always)]
    pub(crate) fn scopes<F>(&self, key: usize, location: &'static Location<'static>) {
        if let Some(lane) = self.lane() {
            name::<F>(lane, Role::Code, key, Some(location));
        }
    }

    /// The innermost slice runs no code after all, and is not counted.
    pub(crate) fn runs_nothing(&self) {
        if let Some(lane) = self.lane() {
            lane.runs_nothing();
        }
    }

    /// Names a function, if the sister crate knows a name.
    #[inline(always)]
    pub(crate) fn calls(&self, key: usize, role: Role, name: impl FnOnce() -> Option<Name>) {
        if let Some(lane) = self.lane() {
            lane.calls(key, role, name);
        }
    }

    /// The end of a task has made another one ready.
    #[inline(always)]
    pub(crate) fn released(&self, task: usize) {
        if let Some(lane) = self.lane() {
            lane.released(task);
        }
    }

    /// Records the threshold and the number of ready tasks, if a sample is due.
    #[inline(always)]
    pub(crate) fn sample(&self, read: impl FnOnce() -> (usize, usize)) {
        if let Some(lane) = self.lane() {
            lane.sample(read);
        }
    }

    /// A thread of the runtime begins to work.
    pub(crate) fn begins_to_serve(&self) {
        if let Some(lane) = self.lane() {
            lane.begins_to_serve();
        }
        self.enters();
    }

    /// An external thread enters the runtime, or leaves.
    pub(crate) fn uses(&self, begins: bool) {
        if let Some(lane) = self.lane() {
            lane.uses(begins);
        }
    }

    /// The thread begins to be a worker.
    pub(crate) fn enters(&self) {
        if let Some(lane) = self.lane() {
            lane.goes_inside(1);
        }
    }

    /// The thread ends being a worker.
    pub(crate) fn exits(&self) {
        if let Some(lane) = self.lane() {
            lane.goes_inside(u32::MAX);
        }
    }

    /// The stack that runs is left. Its innermost slice is returned, for
    /// [`ThreadInstrument::comes_back`].
    pub(crate) fn leaves_stack(&self) -> *const Open {
        self.lane().map_or(ptr::null(), Lane::leaves_stack)
    }

    /// A stack that was left runs again.
    pub(crate) fn comes_back(&self, top: *const Open) {
        if let Some(lane) = self.lane() {
            lane.comes_back(top);
        }
    }

    /// Another stack runs, with this innermost slice. Returns the innermost slice of the old one.
    pub(crate) fn changes_stack(&self, top: *const Open) -> *const Open {
        self.lane().map_or(ptr::null(), |lane| lane.changes_stack(top))
    }
}

#[cold]
#[inline(never)]
fn begin<'a>(
    lane: &'a Lane,
    frame: &'a OpenSlice,
    (what, key, task): (What, usize, usize),
    is_inlined: bool,
) -> Ends<'a> {
    // SAFETY: each call has a frame of its own.
    let frame = unsafe { frame.begin(Open::new(what, key, task, is_inlined)) };
    lane.begin(frame);
    Ends { lane, frame }
}

#[cold]
fn name<F>(lane: &Lane, role: Role, key: usize, location: Option<&'static Location<'static>>) {
    let tally = lane.tally(key, role);
    lane.name(tally, || Name {
        text: std::any::type_name::<F>().to_owned(),
        location: location.map(|location| (location.file().to_owned(), location.line())),
    });
}

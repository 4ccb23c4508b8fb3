//! Waits of a task that no task ends: its events, and its pauses.

use super::Scope;
use crate::event::{Event, Resume};

impl Scope<'_> {
    /// An event that this task waits for after its code has ended. Until the event has happened,
    /// the task is not finished, and tasks that wait for its data do not begin.
    ///
    /// ```
    /// use evenkeel_runtime::{Data, scope};
    ///
    /// let (sent, answer) = (Data::new(0), Data::new(0));
    /// scope(|s| {
    ///     s.task().inout(&sent).spawn_with(|s, sent| {
    ///         *sent = 6;
    ///         let answered = s.event();
    ///         std::thread::spawn(move || drop(answered)); // a device says that it is done
    ///     });
    ///     s.task().input(&sent).inout(&answer).spawn(|sent, answer| *answer = *sent * 7);
    /// });
    /// assert_eq!(answer.into_inner(), 42);
    /// ```
    pub fn event(&self) -> Event {
        // SAFETY: this is the task's own code, or that of a task that runs as part of the task.
        unsafe { self.worker().event(self.part().unwrap_or(self.task_of())) }
    }

    /// Stops this task until the [`Resume`] that `start` is given is used, here or on any thread.
    /// Meanwhile other tasks run on this one.
    ///
    /// # Panics
    /// With the panic of `start`, once the [`Resume`] was used or dropped. Or in a task of
    /// [`Scope::spawn`], which may have been run at once: then its creator would stop.
    /// One that may pause is created by [`spawn_with`](crate::TaskBuilder::spawn_with).
    #[track_caller]
    pub fn pause(&self, start: impl FnOnce(Resume)) {
        assert!(self.may_pause(), "only a task of `spawn_with` may pause");
        self.worker().pause(start);
    }
}

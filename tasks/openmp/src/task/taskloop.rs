//! Loops whose iterations are put into tasks.

mod gomp;
mod kmp;

use std::ops::Range;

use super::header::{Code, OmpTask};
use super::{Dependences, Plan, When};
use crate::iterations;
use crate::ompt::{self, At, Work};
use crate::region::{Member, known_member};

/// Tasks a thread, where the program does not say how many.
const TASKS_PER_THREAD: u64 = 10;
/// So many tasks are made by one task; of more, half are left to another.
const MADE_AT_ONCE: u64 = 16;

/// The clauses `grainsize` and `num_tasks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Anything,
    /// `grainsize`: each task has at least this number of iterations, and less than twice.
    Grain(u64),
    /// `grainsize` with `strict`: each task but the last has exactly this number of iterations.
    StrictGrain(u64),
    /// `num_tasks`.
    Tasks(u64),
}

/// How iterations are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    trips: u64,
    tasks: u64,
    /// Iterations of a task, if that was said strictly.
    size: Option<u64>,
}

impl Cut {
    fn new(trips: u64, wanted: Wanted, threads: u32) -> Self {
        let (tasks, size) = match wanted {
            Wanted::StrictGrain(size) => (trips.div_ceil(size.max(1)), Some(size.max(1))),
            Wanted::Grain(size) => ((trips / size.max(1)).max(1), None),
            Wanted::Tasks(tasks) => (tasks.max(1), None),
            Wanted::Anything => (u64::from(threads) * TASKS_PER_THREAD, None),
        };
        Self { trips, tasks: tasks.min(trips), size }
    }

    /// The iterations of a task.
    fn part(&self, task: u64) -> Range<u64> {
        match self.size {
            Some(size) => iterations::chunk(self.trips, size, task),
            None => iterations::block(self.trips, self.tasks, task),
        }
    }
}

/// The function that makes a task of a loop, with its data.
struct Maker {
    /// Makes and adds the task of this number.
    make: unsafe fn(*const (), &Member, u64),
    /// Lives until all are made.
    data: *const (),
}

/// Some of the tasks of a loop, which a task makes.
struct Part {
    maker: *const Maker,
    tasks: Range<u64>,
}

impl Part {
    /// Makes them, or leaves some to other tasks.
    ///
    /// # Safety
    /// The maker lives until the descendants of this task have ended.
    unsafe fn make(&self, member: &Member) {
        let mut tasks = self.tasks.clone();
        // SAFETY: the maker lives until the descendants of this task have ended.
        unsafe {
            while tasks.end - tasks.start > MADE_AT_ONCE {
                let middle = tasks.start + (tasks.end - tasks.start) / 2;
                let rest = Self { maker: self.maker, tasks: middle..tasks.end };
                tasks.end = middle;
                let plan = Plan { bytes: size_of::<Self>(), is_final: false };
                let task = OmpTask::create(member, &plan);
                let place = task.add(1).cast::<Self>();
                place.write(rest);
                (*task).code.set(Code::MakesTasks(make_part, place.cast()));
                OmpTask::submit(task, member, Dependences::NONE, When::Any);
            }
            let Maker { make, data } = *self.maker;
            for task in tasks {
                make(data, member, task);
            }
        }
    }
}

/// Runs a task that makes a [`Part`] of the tasks of a loop.
///
/// # Safety
/// `part` is such a part; its maker lives until the descendants of this task have ended.
unsafe fn make_part(part: *const ()) {
    let member = known_member().expect("a thread that runs a task is in a region");
    // SAFETY: `part` is a part, whose maker lives long enough.
    unsafe { (*part.cast::<Part>()).make(member) };
}

/// Makes all tasks of a loop. Where a group waits for all descendants, and only there, these may
/// be made by other tasks.
///
/// # Safety
/// `maker.make` may be called with `maker.data`.
unsafe fn make_all(member: &Member, maker: &Maker, tasks: u64, may_spread: bool) {
    ompt::works(At::Begin, || (Work::Taskloop, tasks));
    // SAFETY: `maker.make` may be called with `maker.data`; the end of the group waits for all
    // tasks that use the maker.
    unsafe {
        if may_spread && !ompt::is_on() && member.team().is_some() && !member.task().is_final.get()
        {
            Part { maker, tasks: 0..tasks }.make(member);
        } else {
            (0..tasks).for_each(|task| (maker.make)(maker.data, member, task));
        }
    }
    ompt::works(At::End, || (Work::Taskloop, tasks));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(trips: u64, wanted: Wanted) -> Vec<u64> {
        let cut = Cut::new(trips, wanted, 2);
        let mut at = 0;
        let all = (0..cut.tasks).map(|task| {
            let part = cut.part(task);
            assert_eq!(part.start, at);
            at = part.end;
            part.end - part.start
        });
        let all: Vec<u64> = all.collect();
        assert_eq!(at, trips);
        all
    }

    #[test]
    fn a_grain_is_the_least_and_half_of_the_most() {
        assert_eq!(sizes(10, Wanted::Grain(3)), [4, 3, 3]);
        assert_eq!(sizes(11, Wanted::Grain(4)), [6, 5]);
        assert_eq!(sizes(3, Wanted::Grain(4)), [3]);
        assert_eq!(sizes(10, Wanted::StrictGrain(4)), [4, 4, 2]);
    }

    #[test]
    fn there_are_as_many_tasks_as_wanted_but_no_empty_ones() {
        assert_eq!(sizes(10, Wanted::Tasks(4)), [3, 3, 2, 2]);
        assert_eq!(sizes(3, Wanted::Tasks(4)), [1, 1, 1]);
        assert_eq!(sizes(100, Wanted::Anything), [5; 20]);
        assert!(sizes(0, Wanted::Anything).is_empty());
    }
}

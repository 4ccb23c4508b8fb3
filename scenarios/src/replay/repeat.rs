//! The same work at the recorded speed, to validate a model of the recording's scheduler.

use cpu_model::Class;
use trace::{History, TaskInfo};

use super::timeline::{Clock, Timeline, Track};
use super::{
    NS_PER_HOUR, PIECE_HOURS_MAX, ReplayError, add_thread, machine, number_forks, pinned_cpu,
    too_long,
};
use crate::scenario::THREADS_MAX;
use crate::workload::{Application, CpuSet, Role, Workload};

/// A recording as work whose times are those recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetition {
    /// The work.
    pub workload: Workload,
    /// By thread of the workload: the recorded task.
    pub tids: Vec<u32>,
    /// Waits for other tasks that stayed dependencies.
    pub dependencies: u64,
    /// Waits that became sleeps of the recorded length.
    pub sleeps: u64,
    /// Sleeps that may have been waits for a task of another process.
    pub unclear: u64,
}

/// The workload that repeats the work of a recording on a machine that runs at `khz` throughout.
///
/// Unlike [`super::from_recording`] this keeps the recorded times, which contain the effects of
/// frequencies, stolen time and switches. A task that was runnable when the recording ended
/// computes for as long as the recording was, since its share would not depend on the scheduler
/// otherwise.
///
/// # Errors
/// When the recording holds no work or does not fit the limits.
pub fn repeat(history: &History, khz: u32) -> Result<Repetition, ReplayError> {
    let header = &history.header;
    let machine = machine(history, header.cpus, 1)?;
    let tids = header.tasks.iter().map(|task| task.tid).filter(|&tid| tid != 0);
    let timeline = Timeline::follow(history, tids, Clock::Constant(khz), header.cpus);
    let application =
        Application { name: String::new(), role: Role::Foreground, class: Class::Scalar };
    let mut repetition = Repetition {
        tids: Vec::new(),
        dependencies: timeline.dependencies,
        sleeps: timeline.sleeps,
        unclear: timeline.unclear,
        workload: Workload {
            machine,
            applications: vec![application],
            threads: Vec::new(),
            barriers: Vec::new(),
            locks: 0,
            semaphores: timeline.semaphores(),
            channels: timeline.channels(),
        },
    };
    let length_ns = header.end_ns.saturating_sub(header.start_ns);
    let mut tracks = timeline.tracks;
    let ran: Vec<(&TaskInfo, Track)> = (header.tasks.iter())
        .filter_map(|task| Some((task, tracks.remove(&task.tid)?)))
        .filter(|(_, track)| !track.program.is_empty())
        .collect();
    if ran.is_empty() {
        return Err(ReplayError::Empty);
    }
    if ran.len() > THREADS_MAX as usize {
        return Err(ReplayError::TooManyTasks(ran.len()));
    }
    for (task, mut track) in ran {
        if let Some(hours) = too_long(&track) {
            return Err(ReplayError::TooLong { tid: task.tid, hours });
        }
        track.go_on(length_ns.min(PIECE_HOURS_MAX * NS_PER_HOUR), khz);
        let cpus = pinned_cpu(task).filter(|&cpu| cpu < header.cpus).into_iter().collect();
        add_thread(&mut repetition.workload, 0, task, track, CpuSet { cpus });
        repetition.tids.push(task.tid);
    }
    number_forks(&mut repetition.workload, &repetition.tids);
    Ok(repetition)
}

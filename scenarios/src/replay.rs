//! Turns a recording into a workload that runs in a closed loop.
//!
//! Each thread becomes compute pieces and sleeps. A preemption is no wait: the pieces around it
//! are one. A wake-up by another thread stays a dependency, so that a thread that is slowed
//! slows its dependents; any other wake-up becomes a sleep as long as the recorded one,
//! counted from the moment the thread blocks; [`trace::Wakers`] distinguishes the two.
//!
//! Because every wait is paired with a wake that was recorded earlier, and each semaphore has one
//! waiting thread, no order of execution can deadlock, however incomplete the recording is.

mod answers;
mod messages;
mod repeat;
mod timeline;

use std::collections::{BTreeMap, BTreeSet};

use cpu_model::Class;
use trace::{History, TaskInfo};

use crate::scenario::{CPUS_MAX, THREADS_MAX};
use crate::workload::{Application, CpuSet, Machine, Role, Step, Thread, Workload};
pub use repeat::{Repetition, repeat};
use timeline::{Clock, Timeline, Track};

/// An application with less than one in so many of the CPU time of all is a minor one; our choice.
const MINOR_ONE_IN: u64 = 200;

/// Longest work without a wait; the simulator counts work in units of 2^-20 ns.
const PIECE_HOURS_MAX: u64 = 1;
const NS_PER_HOUR: u64 = 3_600_000_000_000;

/// How to read a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Frequency at which the recorded work was done, where the recording does not tell.
    pub recorded_khz: u32,
    /// Logical CPUs to run on instead of those recorded.
    pub cpus: Option<u32>,
    /// Hardware threads of a core where the recording does not say.
    pub threads_per_core: u32,
    /// Active cores that decide the turbo row, instead of those active in the replay.
    pub turbo_cores: Option<u32>,
    /// Whether threads of the kernel run too; otherwise they count as devices.
    pub kernel_threads: bool,
}

/// Figures of the conversion of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Length of the recording.
    pub recorded_ns: u64,
    /// Time that the replayed tasks were on a CPU.
    pub ran_ns: u64,
    /// Part of that time that a hypervisor stole, which is not replayed as work. 0 where the kernel
    /// did not account for stolen time.
    pub stolen_ns: u64,
    /// Part of that time at a frequency that the recording contains.
    pub known_khz_ns: u64,
    /// Waits for other tasks that stayed dependencies.
    pub dependencies: u64,
    /// Waits that became sleeps of the recorded length: for timers and devices, and unclear ones.
    pub sleeps: u64,
    /// Sleeps that may have been waits for a task of another process.
    pub unclear: u64,
    /// Threads of the kernel that stay on the CPU that their name tells.
    pub pinned: u64,
    /// Switches whose outgoing task was not the one that had come.
    pub broken_switches: u64,
    /// Threads of the kernel that were left out.
    pub kernel_threads_dropped: u64,
}

/// Why a recording cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The recording has no classes and no task was given one.
    #[error("the recording does not say which tasks use wide instructions")]
    NoClasses,
    /// A task works longer without waiting than a run can hold.
    #[error("task {tid} works {hours} hours without waiting, expected at most {PIECE_HOURS_MAX}")]
    TooLong {
        /// Its id.
        tid: u32,
        /// How long.
        hours: u64,
    },
    /// No task ran.
    #[error("no task runs in the recording")]
    Empty,
    /// More tasks than a workload holds.
    #[error("{0} tasks run in the recording, expected at most {THREADS_MAX}")]
    TooManyTasks(usize),
    /// A number of CPUs that cannot be.
    #[error("{0} logical CPUs, expected 1 to {CPUS_MAX}")]
    Cpus(u32),
}

impl Workload {
    /// The same work with every class scalar: the control, without wide instructions.
    #[must_use]
    pub fn scalar(&self) -> Self {
        let mut control = self.clone();
        for application in &mut control.applications {
            application.class = Class::Scalar;
        }
        for thread in &mut control.threads {
            thread.ruled_class = None;
            for step in &mut thread.program {
                if let Some(work) = step.work_mut() {
                    work.class = Class::Scalar;
                }
            }
        }
        control
    }
}

/// The workload that repeats the work of a recording.
///
/// Applications without wide instructions are the foreground, except for minor ones that hardly
/// ran (grouped as `others`); those with wide instructions are the background;
/// when every application has them, all are the foreground. Threads of the kernel are background.
/// Classes are those of the history's phases ([`trace::annotate`] adds them); a task is scalar
/// before its first phase.
///
/// # Errors
/// When the recording names no class, holds no work, or does not fit the limits.
pub fn from_recording(
    history: &History,
    options: &ReplayOptions,
) -> Result<(Workload, ReplayReport), ReplayError> {
    let cpus = options.cpus.unwrap_or(history.header.cpus);
    let machine = Machine {
        turbo_cores: options.turbo_cores,
        ..machine(history, cpus, options.threads_per_core)?
    };
    let replayed: Vec<&TaskInfo> = (history.header.tasks.iter())
        .filter(|task| task.tid != 0 && (options.kernel_threads || !task.kernel))
        .collect();
    let tids = replayed.iter().map(|task| task.tid);
    let clock = Clock::Told { otherwise: options.recorded_khz };
    // The numbers of other CPUs would mean nothing.
    let same_cpus = if options.cpus.is_none() { history.header.cpus } else { 0 };
    let timeline = Timeline::follow(history, tids, clock, same_cpus);
    let mut report = ReplayReport {
        recorded_ns: history.header.end_ns.saturating_sub(history.header.start_ns),
        dependencies: timeline.dependencies,
        sleeps: timeline.sleeps,
        unclear: timeline.unclear,
        known_khz_ns: timeline.known_khz_ns,
        broken_switches: timeline.broken_switches,
        kernel_threads_dropped: (history.header.tasks.len() - replayed.len()) as u64,
        ..ReplayReport::default()
    };
    let ran = |task: &&&TaskInfo| !timeline.tracks[&task.tid].program.is_empty();
    let tasks: Vec<&TaskInfo> = replayed.iter().filter(ran).copied().collect();
    if tasks.len() > THREADS_MAX as usize {
        return Err(ReplayError::TooManyTasks(tasks.len()));
    }
    let (semaphores, channels) = (timeline.semaphores(), timeline.channels());
    let mut tracks = timeline.tracks;
    let mut workload = Workload {
        machine,
        applications: Vec::new(),
        threads: Vec::new(),
        barriers: Vec::new(),
        locks: 0,
        semaphores,
        channels,
    };
    let minor = minor_applications(&tasks, &tracks);
    let mut numbers = BTreeMap::new();
    let mut tids = Vec::new();
    for task in tasks {
        let Some(mut track) = tracks.remove(&task.tid) else { continue };
        tids.push(task.tid);
        report.ran_ns += track.ran_ns;
        if let Some(hours) = too_long(&track) {
            return Err(ReplayError::TooLong { tid: task.tid, hours });
        }
        report.stolen_ns += take_off_stolen(&mut track);
        let group = match task.app.as_str() {
            _ if task.kernel => (true, "kernel"),
            name if minor.contains(name) => (true, "others"),
            name => (false, name),
        };
        let application = application(&mut workload, &mut numbers, group);
        let is_there = |&cpu: &u32| cpu < same_cpus;
        let cpus: Vec<u32> = pinned_cpu(task).filter(is_there).into_iter().collect();
        report.pinned += cpus.len() as u64;
        add_thread(&mut workload, application, task, track, CpuSet { cpus });
    }
    number_forks(&mut workload, &tids);
    assign_roles(&mut workload, &numbers)?;
    Ok((workload, report))
}

/// The recorded machine with that many CPUs; `threads` of a core unless the recording says.
fn machine(history: &History, cpus: u32, threads: u32) -> Result<Machine, ReplayError> {
    let header = &history.header;
    if !(1..=CPUS_MAX).contains(&cpus) {
        return Err(ReplayError::Cpus(cpus));
    }
    let divides = |whole: u32| move |part: &u32| *part > 0 && whole.is_multiple_of(*part);
    let given = header.threads_per_core.unwrap_or(threads);
    let threads_per_core = Some(given).filter(divides(cpus)).unwrap_or(1);
    let cores = cpus / threads_per_core;
    let cores_per_package = header.cores_per_package.filter(divides(cores)).unwrap_or(cores);
    Ok(Machine {
        packages: cores / cores_per_package,
        cores_per_package,
        threads_per_core,
        turbo_cores: None,
        turbo: true,
    })
}

/// Takes off the work of time that was stolen; returns that time.
///
/// Where within a slice time was stolen is unknown: every piece of a task loses the same share.
fn take_off_stolen(track: &mut Track) -> u64 {
    let done_ns = track.accounted_ns.unwrap_or(track.ran_ns).min(track.ran_ns);
    let ran_ns = u128::from(track.ran_ns.max(1));
    for step in &mut track.program {
        if let Step::Compute(work) = step {
            let worked = u128::from(work.ref_cycles.mean) * u128::from(done_ns) / ran_ns;
            work.ref_cycles.mean = u64::try_from(worked).unwrap_or(u64::MAX).max(1);
        }
    }
    track.ran_ns - done_ns
}

/// Hours of the longest piece of work, if above the limit.
fn too_long(track: &Track) -> Option<u64> {
    let longest_ns = track.longest_ns;
    (longest_ns > PIECE_HOURS_MAX * NS_PER_HOUR).then(|| longest_ns.div_ceil(NS_PER_HOUR))
}

/// Applications without wide instructions that hardly ran: their slowdown would say nothing.
fn minor_applications<'h>(
    tasks: &[&'h TaskInfo],
    tracks: &BTreeMap<u32, Track>,
) -> BTreeSet<&'h str> {
    let mut ran_ns: BTreeMap<&str, u64> = BTreeMap::new();
    let mut is_wide: BTreeSet<&str> = BTreeSet::new();
    for task in tasks.iter().filter(|task| !task.kernel) {
        let track = &tracks[&task.tid];
        *ran_ns.entry(&task.app).or_default() += track.ran_ns;
        if track.most_demanding_class() != Class::Scalar {
            is_wide.insert(&task.app);
        }
    }
    let all_ns: u64 = ran_ns.values().sum();
    let is_minor = |ns: u64| ns.saturating_mul(MINOR_ONE_IN) < all_ns;
    let minor: BTreeSet<&str> = ran_ns
        .iter()
        .filter(|&(app, &ns)| is_minor(ns) && !is_wide.contains(app))
        .map(|(&app, _)| app)
        .collect();
    // Someone must be judged.
    if minor.len() + is_wide.len() == ran_ns.len() { BTreeSet::new() } else { minor }
}

/// By name, and whether the application is set apart and not judged: the kernel and minor ones.
type Numbers<'h> = BTreeMap<(bool, &'h str), u32>;

/// Index of the application of that group.
fn application<'h>(
    workload: &mut Workload,
    numbers: &mut Numbers<'h>,
    group: (bool, &'h str),
) -> u32 {
    *numbers.entry(group).or_insert_with(|| {
        let (name, role) = (group.1.to_owned(), Role::Background);
        workload.applications.push(Application { name, role, class: Class::Scalar });
        workload.applications.len() as u32 - 1
    })
}

/// Threads of the kernel that stay on the CPU whose number follows, at the end of the name or
/// before a colon (`kworker/3:1H`; unbound ones are called `kworker/u8:1`): the users of
/// `kthread_create_on_cpu` and `smpboot_register_percpu_thread`, and kernel/workqueue.c, 6.18.
const PINNED_NAMES: [&str; 8] = [
    "backlog_napi/",
    "cpuhp/",
    "idle_inject/",
    "ksoftirqd/",
    "ktimers/",
    "kworker/",
    "migration/",
    "rcuc/",
];

/// The CPU that a kernel thread is bound to, by its name.
fn pinned_cpu(task: &TaskInfo) -> Option<u32> {
    let after = PINNED_NAMES.iter().find_map(|name| task.comm.strip_prefix(name))?;
    let number = after.split_once(':').map_or(after, |(number, _)| number);
    number.parse().ok().filter(|_| task.kernel)
}

fn add_thread(
    workload: &mut Workload,
    application: u32,
    task: &TaskInfo,
    track: Track,
    affinity: CpuSet,
) {
    let most = track.most_demanding_class();
    let shown = &mut workload.applications[application as usize].class;
    *shown = most.max(*shown);
    workload.threads.push(Thread {
        application,
        name: format!("{}/{}", task.comm, task.tid),
        nice: task.nice.clamp(-20, 19),
        affinity,
        arrival_ns: track.arrival_ns,
        was_on: track.was_on,
        stream: workload.threads.len() as u64,
        enrolled: true,
        ruled_class: None,
        program: track.program,
    });
}

/// Replaces task ids in forks by thread numbers; tasks that never ran are not forked.
fn number_forks(workload: &mut Workload, tids: &[u32]) {
    let numbers: BTreeMap<u32, u32> = tids.iter().copied().zip(0..).collect();
    for thread in &mut workload.threads {
        thread.program.retain_mut(|step| match step {
            Step::Fork(task) => match numbers.get(task) {
                Some(&number) => {
                    *task = number;
                    true
                }
                None => false,
            },
            _ => true,
        });
    }
}

fn assign_roles(workload: &mut Workload, numbers: &Numbers) -> Result<(), ReplayError> {
    let user: BTreeSet<u32> =
        numbers.iter().filter(|((apart, _), _)| !apart).map(|(_, &number)| number).collect();
    if user.is_empty() {
        return Err(ReplayError::Empty);
    }
    let wide = |application: &Application| application.class != Class::Scalar;
    if !workload.applications.iter().any(wide) {
        return Err(ReplayError::NoClasses);
    }
    let all_wide = user.iter().all(|&number| wide(&workload.applications[number as usize]));
    for number in user {
        let application = &mut workload.applications[number as usize];
        if all_wide || !wide(application) {
            application.role = Role::Foreground;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

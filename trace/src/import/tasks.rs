//! Tasks by process number, which the kernel reuses, and the facts known of each task.

use std::collections::{HashMap, HashSet};

use super::entry::Named;
use crate::{COMM_MAX, TaskInfo, clean};

/// Index of the idle task of every CPU.
pub const IDLE: usize = 0;
/// First id given to a task whose number was used before: numbers of processes are
/// below it (`PID_MAX_LIMIT`, include/linux/threads.h, 6.18).
const REUSED_FROM: u32 = 1 << 22;
/// Priority of nice level 0 (`DEFAULT_PRIO`, include/linux/sched/prio.h, 6.18).
const PRIO_DEFAULT: i32 = 120;

/// Names that threads of the kernel have, followed by anything.
const KERNEL_NAMES: [&str; 36] = [
    "acpi_",
    "ata_",
    "backlog_napi/",
    "cpuhp/",
    "dm-",
    "edac-",
    "ext4-",
    "hwrng",
    "idle_inject/",
    "irq/",
    "jbd2/",
    "kauditd",
    "kblockd",
    "kcompactd",
    "kdamond",
    "kdevtmpfs",
    "khugepaged",
    "khungtaskd",
    "ksmd",
    "ksoftirqd/",
    "kswapd",
    "kthreadd",
    "kthrotld",
    "ktimers/",
    "kworker/",
    "md_",
    "migration/",
    "nvme",
    "oom_reaper",
    "pool_workqueue",
    "rcu",
    "scsi_",
    "watchdogd",
    "writeback",
    "xfs-",
    "xfsaild",
];

/// The facts known of a task.
#[derive(Debug, Default)]
pub struct Task {
    /// Id in the history.
    pub id: u32,
    /// Number of the task while it ran.
    pub pid: u32,
    /// Number of its process.
    pub process: Option<u32>,
    name: Vec<u8>,
    prio: Option<i32>,
    /// Whether the task ended; another task may get its number.
    pub dead: bool,
    /// Its registers were seen, which a thread of the kernel has none of.
    pub marked: bool,
    /// Whether the task waited in state `I`, as only kernel threads do.
    pub idle_wait: bool,
    /// CPU of the running task.
    pub cpu: Option<u32>,
    /// Time at which the task last left a CPU.
    pub left_ns: u64,
    /// Whether the task was woken and did not run since.
    pub woken: bool,
    /// Time accounted to the task and not given out yet.
    pub pending_ns: u64,
    /// Sum of the time accounted to the task.
    pub runtime_ns: u64,
    /// Sum of its slices, stolen time included.
    pub slices_ns: u64,
    /// Number of its slices.
    pub slices: u64,
}

/// Every task that appeared.
pub struct Tasks {
    tasks: Vec<Task>,
    by_pid: HashMap<u32, usize>,
    ids: HashSet<u32>,
    next_reused: u32,
}

impl Tasks {
    pub fn new() -> Self {
        Self {
            tasks: vec![Task::default()],
            by_pid: HashMap::from([(0, IDLE)]),
            ids: HashSet::new(),
            next_reused: REUSED_FROM,
        }
    }

    pub fn get(&mut self, index: usize) -> &mut Task {
        &mut self.tasks[index]
    }

    pub fn id(&self, index: usize) -> u32 {
        self.tasks[index].id
    }

    /// The task of that number, if known.
    pub fn known(&self, pid: u32) -> Option<usize> {
        self.by_pid.get(&pid).copied()
    }

    /// The task of that number, which has that name by now.
    pub fn find(&mut self, text: &[u8], named: Named) -> usize {
        let index = match self.known(named.pid) {
            Some(index) => index,
            None => self.begin(named.pid),
        };
        self.learn(index, text, named);
        index
    }

    /// As [`Self::find`], but a task that ended is not meant.
    pub fn find_alive(&mut self, text: &[u8], named: Named) -> usize {
        match self.known(named.pid) {
            Some(index) if self.tasks[index].dead => {
                let index = self.begin(named.pid);
                self.learn(index, text, named);
                index
            }
            _ => self.find(text, named),
        }
    }

    /// A task that begins now, whatever had its number before.
    pub fn begin(&mut self, pid: u32) -> usize {
        if pid == 0 {
            return IDLE;
        }
        let mut id = pid;
        while !self.ids.insert(id) {
            id = self.next_reused;
            self.next_reused = self.next_reused.checked_add(1).unwrap_or(REUSED_FROM);
        }
        let index = self.tasks.len();
        self.tasks.push(Task { id, pid, ..Task::default() });
        self.by_pid.insert(pid, index);
        index
    }

    pub fn learn(&mut self, index: usize, text: &[u8], named: Named) {
        if index == IDLE {
            return;
        }
        let task = &mut self.tasks[index];
        let name = named.name.of(text);
        let name = &name[..name.len().min(COMM_MAX)];
        if task.name != name {
            task.name.clear();
            task.name.extend_from_slice(name);
        }
        task.prio = named.prio.or(task.prio);
    }

    /// Every task but the idle one, in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().skip(1)
    }

    /// The tasks as a history lists them.
    pub fn infos(&self) -> Vec<TaskInfo> {
        // A leader that only waited has no event; its oldest thread takes its place.
        let mut eldest: HashMap<u32, &Task> = HashMap::new();
        for task in self.iter() {
            if let Some(process) = task.process {
                let eldest = eldest.entry(process).or_insert(task);
                *eldest = if task.pid < eldest.pid { task } else { *eldest };
            }
        }
        let mut infos: Vec<TaskInfo> = self.iter().map(|task| self.info(task, &eldest)).collect();
        infos.sort_unstable_by_key(|info| info.tid);
        infos
    }

    fn info(&self, task: &Task, eldest: &HashMap<u32, &Task>) -> TaskInfo {
        let comm = task.comm();
        let leader = task.process.and_then(|pid| self.known(pid)).map(|index| &self.tasks[index]);
        let eldest = task.process.and_then(|pid| eldest.get(&pid).copied());
        let kernel = !task.marked
            && (task.idle_wait || KERNEL_NAMES.iter().any(|name| comm.starts_with(name)));
        TaskInfo {
            tid: task.id,
            pid: leader.map(|leader| leader.id).or(task.process),
            app: leader.or(eldest).unwrap_or(task).comm(),
            comm,
            nice: task.nice(),
            kernel,
            control_group: None,
        }
    }
}

impl Task {
    /// Sets the process, and the name if none is known.
    pub fn tell(&mut self, process: u32, name: &[u8]) {
        self.process.get_or_insert(process);
        if self.name.is_empty() {
            self.name.extend_from_slice(name);
        }
    }

    /// Its name, fit to be shown.
    pub fn comm(&self) -> String {
        clean(&self.name)
    }

    /// Real-time priorities, which come first, count as the lowest nice level.
    fn nice(&self) -> i8 {
        let nice = self.prio.unwrap_or(PRIO_DEFAULT).saturating_sub(PRIO_DEFAULT);
        nice.clamp(-20, 19) as i8
    }
}

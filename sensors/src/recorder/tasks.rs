//! Tasks by number, and the known facts of each task.

use std::collections::{HashMap, HashSet};

use trace::{ControlGroup, TaskInfo, clean};

use super::record::{Description, Raw};

/// Index of the idle task of every CPU.
pub const IDLE: usize = 0;
/// First id given to a task whose number was used before: numbers of processes are
/// below it (`PID_MAX_LIMIT`, include/linux/threads.h, 6.18).
const REUSED_FROM: u32 = 1 << 22;
/// Priority of nice level 0 (`DEFAULT_PRIO`, include/linux/sched/prio.h, 6.18).
const PRIO_DEFAULT: i32 = 120;

/// The known facts of a task.
#[derive(Debug, Default)]
pub struct Task {
    /// Id in the history.
    pub id: u32,
    /// Index of the first thread of its process.
    leader: Option<usize>,
    description: Option<Description>,
    kernel: bool,
    /// Whether a record of the history names the task.
    pub seen: bool,
    /// The task has ended; its number may return as another task.
    pub dead: bool,
    /// The task's CPU and the start of its slice, while the task runs.
    pub running: Option<(u32, u64)>,
    /// When the task last left a CPU.
    pub left_ns: u64,
    /// Time accounted to the task up to its last record, where known.
    pub accounted_ns: Option<u64>,
    /// The last such account of a task that runs.
    pub accounted_last_ns: u64,
    /// Marked functions on the task's stack: the classes, outermost first.
    pub classes: Vec<u8>,
}

/// Every task that appeared.
pub struct Tasks {
    tasks: Vec<Task>,
    by_tid: HashMap<u32, usize>,
    ids: HashSet<u32>,
    next_reused: u32,
    /// Tasks that a record of the history names.
    pub seen: u64,
}

impl Tasks {
    pub fn new() -> Self {
        Self {
            tasks: vec![Task::default()],
            by_tid: HashMap::from([(0, IDLE)]),
            ids: HashSet::new(),
            next_reused: REUSED_FROM,
            seen: 0,
        }
    }

    pub fn get(&mut self, index: usize) -> &mut Task {
        &mut self.tasks[index]
    }

    /// The task that has this number now: one that ended is not meant.
    pub fn alive(&mut self, tid: u32) -> usize {
        match self.by_tid.get(&tid) {
            Some(&index) if !self.tasks[index].dead => index,
            _ => self.begin(tid),
        }
    }

    /// Whether the task of that index has that number.
    pub fn has_tid(&self, index: usize, tid: u32) -> bool {
        self.by_tid.get(&tid) == Some(&index)
    }

    /// A task that begins now, whatever had its number before.
    pub fn begin(&mut self, tid: u32) -> usize {
        if tid == 0 {
            return IDLE;
        }
        let mut id = tid;
        while !self.ids.insert(id) {
            id = self.next_reused;
            self.next_reused = self.next_reused.checked_add(1).unwrap_or(REUSED_FROM);
        }
        let index = self.tasks.len();
        self.tasks.push(Task { id, ..Task::default() });
        self.by_tid.insert(tid, index);
        index
    }

    /// The task of index `index` has the number `tid` from now on.
    pub fn rename(&mut self, index: usize, tid: u32) {
        if index != IDLE {
            self.by_tid.insert(tid, index);
        }
    }

    /// Stores the facts that a record states about its task.
    pub fn learn(&mut self, index: usize, raw: &Raw) {
        if index == IDLE || raw.description.is_none() {
            return;
        }
        let leader = if raw.pid == raw.tid {
            index
        } else {
            // An ended leader still gives its process the name.
            self.by_tid.get(&raw.pid).copied().unwrap_or_else(|| self.begin(raw.pid))
        };
        let task = &mut self.tasks[index];
        task.leader = Some(leader);
        task.description = raw.description;
        task.kernel = raw.kernel;
    }

    /// The id of a task in the history; from this call on the history lists the task.
    pub fn id(&mut self, index: usize) -> u32 {
        let task = &mut self.tasks[index];
        if index != IDLE && !task.seen {
            task.seen = true;
            self.seen += 1;
        }
        task.id
    }

    /// The tasks that the history names, as it lists them.
    pub fn infos(
        &self,
        control_group: &mut dyn FnMut(u64) -> Option<ControlGroup>,
    ) -> Vec<TaskInfo> {
        // Stands for a leader of which nothing is known.
        let mut eldest: HashMap<usize, &Task> = HashMap::new();
        for task in self.tasks.iter().filter(|task| task.description.is_some()) {
            if let Some(leader) = task.leader {
                let eldest = eldest.entry(leader).or_insert(task);
                *eldest = if task.id < eldest.id { task } else { *eldest };
            }
        }
        let mut infos: Vec<TaskInfo> = self
            .tasks
            .iter()
            .filter(|task| task.seen)
            .map(|task| {
                let leader = task.leader.map(|leader| &self.tasks[leader]);
                let named = leader.filter(|leader| leader.description.is_some());
                let eldest = task.leader.and_then(|leader| eldest.get(&leader).copied());
                TaskInfo {
                    tid: task.id,
                    pid: leader.map(|leader| leader.id),
                    comm: task.comm(),
                    app: named.or(eldest).unwrap_or(task).comm(),
                    nice: task.nice(),
                    kernel: task.kernel,
                    control_group: task.description.and_then(|it| control_group(it.control_group)),
                }
            })
            .collect();
        infos.sort_unstable_by_key(|info| info.tid);
        infos
    }
}

impl Task {
    /// Its name, fit to be shown; a number where none was recorded.
    fn comm(&self) -> String {
        let Some(description) = &self.description else { return format!("task {}", self.id) };
        let name = &description.comm;
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        clean(&name[..length])
    }

    /// Real-time priorities, which come first, count as the lowest nice level.
    fn nice(&self) -> i8 {
        let prio = self.description.map_or(PRIO_DEFAULT, |description| description.prio);
        prio.saturating_sub(PRIO_DEFAULT).clamp(-20, 19) as i8
    }
}

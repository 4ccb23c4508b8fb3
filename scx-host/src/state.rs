//! The state that a kernel keeps of tasks, CPUs and queues while a scheduler is loaded.
//!
//! kernel/sched/ext.c, Linux 7.0. Nothing here calls the scheduler.

use std::collections::{BTreeMap, VecDeque};

use crate::abi;
use crate::cpus::CpuMask;
use crate::dsq::{At, Dsq, Mixed};
use crate::exit::{Exit, ExitKind};
use crate::faults::Chance;
use crate::guard::{Guard, Left};
use crate::idle::Idle;
use crate::layout::{Field, Layout, TaskMemory};
use crate::maps::Maps;
use crate::objects::Objects;
use crate::ops::{Op, Program};
use crate::timers::Timer;
use crate::topology::Topology;

/// The owner of a task (`enum scx_ops_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Custody {
    /// The kernel: the task runs, sleeps, or is in a queue.
    None,
    /// The kernel, which is passing the task to the scheduler's `enqueue`.
    Queueing,
    /// The scheduler, which has inserted the task into no queue yet.
    Queued,
}

/// Whether a task exists for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Enabled,
    Gone,
}

pub(crate) struct Task {
    pub memory: TaskMemory,
    pub name: String,
    /// The first task of its process, which may be the task itself.
    pub process: usize,
    pub allowed: CpuMask,
    pub cpu: usize,
    /// On the run queue (`SCX_TASK_QUEUED`).
    pub is_queued: bool,
    pub custody: Custody,
    /// Number of enqueues: an insertion with an older number is too late and dropped.
    pub enqueues: u64,
    /// The queue that contains the task.
    pub dsq: Option<usize>,
    /// Queue and flags of an insertion by `select_cpu` or `enqueue`, until carried out.
    pub direct: Option<(u64, u64)>,
    /// Since when the task waits (`runnable_at`); set anew only after the task has run.
    pub runnable_since_ns: u64,
    pub has_run: bool,
    pub life: Life,
}

pub(crate) struct Cpu {
    pub current: Option<usize>,
    pub idle_task: TaskMemory,
    /// `cpu_active`: the CPU may get tasks.
    pub is_active: bool,
    pub is_dispatching: bool,
    pub needs_reschedule: bool,
}

/// A running operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub op: Op,
    pub cpu: usize,
    /// The task that `select_cpu` or `enqueue` may insert, once.
    pub subject: Option<usize>,
    pub was_inserted: bool,
}

impl Context {
    pub(crate) fn new(op: Op, cpu: usize, subject: Option<usize>) -> Self {
        Self { op, cpu, subject, was_inserted: false }
    }
}

/// An insertion by `dispatch`, carried out when `dispatch` returns or moves a task from a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub task: usize,
    pub enqueues: Option<u64>,
    pub dsq: u64,
    pub flags: u64,
}

/// Numbers of events, most of which no callback shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of the scheduler's operations and timer callbacks.
    pub callbacks: u64,
    /// A task kept its CPU since no other task was available.
    pub kept_last: u64,
    /// A task got the kernel's default slice.
    pub refilled: u64,
}

pub(crate) struct State {
    pub now_ns: u64,
    pub topology: Topology,
    pub layout: Layout,
    pub tasks: Vec<Task>,
    pub cpus: Vec<Cpu>,
    /// The local queues by CPU, then the global one, then those that the scheduler created.
    pub dsqs: Vec<Option<Dsq>>,
    by_id: BTreeMap<u64, usize>,
    pub idle: Idle,
    pub online: CpuMask,
    pub possible: CpuMask,
    pub maps: Maps,
    pub objects: Objects,
    /// By CPU: the number of its last-level cache, where the scheduler can read it.
    pub caches: Vec<i32>,
    pub timers: Vec<Timer>,
    pub contexts: Vec<Context>,
    pub pending: VecDeque<Pending>,
    /// Tasks that the current `dispatch` has inserted or moved.
    pub dispatched: usize,
    /// Tasks to insert into the local queue of another CPU, after the enqueue.
    pub deferred: VecDeque<usize>,
    pub kicks: Vec<(usize, u64)>,
    /// CPUs whose local queues are enqueued again when the operation has returned.
    pub emptied: Vec<usize>,
    pub ops_flags: u64,
    pub has_own_idle: bool,
    pub iterators: u64,
    pub counts: Counts,
    pub printed: Vec<String>,
    pub chance: Chance,
    /// `cpu_offline` and its CPU, to be called while the next callback of a timer runs.
    pub goes_beside_timer: Option<(Guard, Program, usize)>,
    pub exit: Option<Exit>,
    /// The scheduler's part of the dump.
    pub dump: String,
}

/// Why a task cannot migrate to a CPU.
enum Refusal {
    MigrationDisabled,
    NotAllowed,
    Offline,
}

impl State {
    pub(crate) fn global(&self) -> usize {
        self.cpus.len()
    }

    /// Frees the storage of a task that has ended; that of a process's first task stays while any
    /// task of the process lives.
    pub(crate) fn forget_gone(&mut self, task: usize) {
        let first = self.tasks[task].process;
        let lives = |other: &Task| other.process == first && other.life != Life::Gone;
        if !self.tasks.iter().any(lives) {
            self.maps.forget_task(first);
        }
        if task != first {
            self.maps.forget_task(task);
        }
    }

    pub(crate) fn context(&self) -> Option<&Context> {
        self.contexts.last()
    }

    /// The scheduler's code begins to run on a CPU, whose current task may not migrate meanwhile
    /// (`__bpf_prog_enter`).
    pub(crate) fn enter(&mut self, context: Context) {
        self.bind_current(context.cpu, 1);
        self.contexts.push(context);
    }

    /// A program has come back, or was left, which ends the scheduler.
    pub(crate) fn returned(&mut self, op: Op, returned: Result<u64, Left>) -> u64 {
        self.leave();
        returned.unwrap_or_else(|left| {
            self.error(format!("{op} {}", left.what()));
            0
        })
    }

    fn leave(&mut self) {
        if let Some(context) = self.contexts.pop() {
            self.bind_current(context.cpu, -1);
        }
        self.counts.callbacks += 1;
    }

    fn bind_current(&mut self, cpu: usize, by: i64) {
        if let Some(current) = self.cpus[cpu].current {
            let depth = self.get(current, Field::MigrationDisabled);
            self.set(current, Field::MigrationDisabled, depth.wrapping_add_signed(by));
        }
    }

    /// The CPU that runs the scheduler's code (`smp_processor_id`).
    pub(crate) fn this_cpu(&self) -> usize {
        self.context().map_or(0, |context| context.cpu)
    }

    pub(crate) fn fail(&mut self, kind: ExitKind, message: String) {
        if self.exit.is_none() {
            self.exit = Some(Exit { kind, code: 0, message, at_ns: self.now_ns });
        }
    }

    pub(crate) fn error(&mut self, message: String) {
        self.fail(ExitKind::Error, message);
    }

    // --- Fields of tasks ---

    pub(crate) fn get(&self, task: usize, field: Field) -> u64 {
        self.tasks[task].memory.get(&self.layout, field)
    }

    pub(crate) fn set(&mut self, task: usize, field: Field, value: u64) {
        self.tasks[task].memory.set(&self.layout, field, value);
    }

    /// Changes the affinity mask of a task (`set_cpus_allowed_common`).
    pub(crate) fn set_affinity(&mut self, task: usize, words: &[u64]) {
        let one = &mut self.tasks[task];
        one.allowed.set_words(words);
        one.memory.set_mask(&self.layout, words);
        let count = one.allowed.count() as u64;
        self.set(task, Field::AllowedCount, count);
    }

    pub(crate) fn save_registers(&mut self, task: usize, xfeatures: u64) {
        self.tasks[task].memory.save_registers(&self.layout, xfeatures);
    }

    pub(crate) fn set_queued(&mut self, task: usize, queued: bool) {
        self.tasks[task].is_queued = queued;
        let others = self.get(task, Field::Queued) & !abi::TASK_QUEUED;
        self.set(task, Field::Queued, others | u64::from(queued));
    }

    pub(crate) fn refill(&mut self, task: usize) {
        self.counts.refilled += 1;
        self.set(task, Field::Slice, abi::SLICE_DFL);
    }

    pub(crate) fn may_not_migrate(&self, task: usize) -> bool {
        let on_it = |context: &&Context| self.cpus[context.cpu].current == Some(task);
        let ours = self.contexts.iter().filter(on_it).count() as u64;
        self.get(task, Field::MigrationDisabled) > ours
    }

    // --- Queues ---

    pub(crate) fn create_dsq(&mut self, id: u64) -> i64 {
        if id & abi::DSQ_FLAG_BUILTIN != 0 {
            return abi::EINVAL;
        }
        if self.by_id.contains_key(&id) {
            return abi::EEXIST;
        }
        self.by_id.insert(id, self.dsqs.len());
        self.dsqs.push(Some(Dsq::new(id)));
        0
    }

    pub(crate) fn destroy_dsq(&mut self, id: u64) {
        let Some(&index) = self.by_id.get(&id) else { return };
        if self.dsqs[index].as_ref().is_some_and(|dsq| dsq.len() > 0) {
            return self.error(format!("attempting to destroy in-use dsq {id:#018x}"));
        }
        self.dsqs[index] = None;
        self.by_id.remove(&id);
    }

    pub(crate) fn user_dsq(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn dsq(&self, index: usize) -> &Dsq {
        self.dsqs[index].as_ref().expect("queues that tasks know are there")
    }

    pub(crate) fn dsq_mut(&mut self, index: usize) -> &mut Dsq {
        self.dsqs[index].as_mut().expect("queues that tasks know are there")
    }

    /// `find_dsq_for_dispatch`: the queue with an id, which may mean the local queue of `cpu`.
    pub(crate) fn find_dsq(&mut self, cpu: usize, id: u64) -> usize {
        if id == abi::DSQ_LOCAL {
            return cpu;
        }
        if id & abi::DSQ_LOCAL_ON == abi::DSQ_LOCAL_ON {
            let of = (id & abi::DSQ_LOCAL_CPU_MASK) as usize;
            if of < self.cpus.len() {
                return of;
            }
            self.error(format!("invalid CPU {of} in SCX_DSQ_LOCAL_ON dispatch verdict"));
            return self.global();
        }
        if id == abi::DSQ_GLOBAL {
            return self.global();
        }
        self.user_dsq(id).unwrap_or_else(|| {
            self.error(format!("non-existent DSQ {id:#x}"));
            self.global()
        })
    }

    /// `dispatch_enqueue`.
    pub(crate) fn insert(&mut self, task: usize, mut dsq: usize, flags: u64) {
        let is_builtin = dsq <= self.global();
        let mut at = if flags & abi::ENQ_DSQ_PRIQ != 0 {
            At::Vtime(self.get(task, Field::Vtime))
        } else if flags & (abi::ENQ_HEAD | abi::ENQ_PREEMPT) != 0 {
            At::Head
        } else {
            At::Tail
        };
        if is_builtin && matches!(at, At::Vtime(_)) {
            self.error("cannot use vtime ordering for built-in DSQs".into());
            at = At::Tail;
        }
        if self.dsqs[dsq].is_none() {
            self.error("attempting to dispatch to a destroyed dsq".into());
            dsq = self.global();
        }
        let id = self.dsq(dsq).id;
        match self.dsq_mut(dsq).insert(task, at) {
            Some(Mixed::HadFifo) => {
                self.error(format!("DSQ ID {id:#018x} already had FIFO-enqueued tasks"));
            }
            Some(Mixed::HadPriq) => {
                self.error(format!("DSQ ID {id:#018x} already had PRIQ-enqueued tasks"));
            }
            None => {}
        }
        self.tasks[task].dsq = Some(dsq);
        self.tasks[task].custody = Custody::None;
        if dsq < self.cpus.len() {
            self.came_to(dsq, task, flags);
        }
    }

    /// `local_dsq_post_enq`: a task was inserted into the local queue of a CPU.
    fn came_to(&mut self, cpu: usize, task: usize, flags: u64) {
        if self.cpus[cpu].is_dispatching {
            return;
        }
        match self.cpus[cpu].current {
            None => self.cpus[cpu].needs_reschedule = true,
            Some(current) if flags & abi::ENQ_PREEMPT != 0 && current != task => {
                self.set(current, Field::Slice, 0);
                self.cpus[cpu].needs_reschedule = true;
            }
            Some(_) => {}
        }
    }

    /// Takes a task out of its queue, if any.
    pub(crate) fn unlink(&mut self, task: usize) {
        if let Some(dsq) = self.tasks[task].dsq.take() {
            self.dsq_mut(dsq).remove(task);
        }
        self.deferred.retain(|&other| other != task);
    }

    // --- Moves between CPUs ---

    /// `task_can_run_on_remote_rq`.
    fn refusal(&self, task: usize, cpu: usize) -> Option<Refusal> {
        if self.may_not_migrate(task) {
            Some(Refusal::MigrationDisabled)
        } else if !self.tasks[task].allowed.contains(cpu) {
            Some(Refusal::NotAllowed)
        } else if !self.cpus[cpu].is_active {
            Some(Refusal::Offline)
        } else {
            None
        }
    }

    /// Whether the scheduler may move a task to a CPU; a move that the affinity mask or disabled
    /// migration forbids ends the scheduler.
    fn insists_on(&mut self, task: usize, cpu: usize) -> bool {
        if self.tasks[task].cpu == cpu {
            return true;
        }
        let (name, from) = (self.label(task), self.tasks[task].cpu);
        match self.refusal(task, cpu) {
            None => true,
            Some(Refusal::MigrationDisabled) => {
                self.error(format!(
                    "SCX_DSQ_LOCAL[_ON] cannot move migration disabled {name} from CPU {from} \
                     to {cpu}"
                ));
                false
            }
            Some(Refusal::NotAllowed) => {
                self.error(format!("SCX_DSQ_LOCAL[_ON] target CPU {cpu} not allowed for {name}"));
                false
            }
            Some(Refusal::Offline) => false,
        }
    }

    /// The name and id of a task, for messages.
    pub(crate) fn label(&self, task: usize) -> String {
        format!("{}[{}]", self.tasks[task].name, self.get(task, Field::Pid))
    }

    /// Inserts a task that is in no queue into one, and moves the task to the CPU of a local queue
    /// (`dispatch_to_local_dsq`, `move_task_between_dsqs`).
    pub(crate) fn bring(&mut self, task: usize, mut dsq: usize, flags: u64) {
        if dsq < self.cpus.len() {
            if self.insists_on(task, dsq) {
                self.tasks[task].cpu = dsq;
            } else {
                dsq = self.global();
            }
        }
        self.insert(task, dsq, flags);
    }

    /// `consume_dispatch_q`: moves the first task of a queue that may run on a CPU to that CPU.
    pub(crate) fn consume(&mut self, cpu: usize, dsq: usize) -> bool {
        let may = |&task: &usize| self.tasks[task].cpu == cpu || self.refusal(task, cpu).is_none();
        let Some(task) = self.dsq(dsq).tasks().find(may) else { return false };
        self.unlink(task);
        self.tasks[task].cpu = cpu;
        self.insert(task, cpu, 0);
        true
    }

    /// `flush_dispatch_buf`: carries out the insertions of `dispatch`.
    pub(crate) fn flush(&mut self, cpu: usize) {
        while let Some(Pending { task, enqueues, dsq, flags }) = self.pending.pop_front() {
            self.dispatched += 1;
            let claimed = self.tasks[task].custody == Custody::Queued
                && enqueues == Some(self.tasks[task].enqueues);
            if claimed {
                let dsq = self.find_dsq(cpu, dsq);
                self.bring(task, dsq, flags);
            }
        }
    }

    /// `process_ddsp_deferred_locals`.
    pub(crate) fn finish_deferred(&mut self) {
        while let Some(task) = self.deferred.pop_front() {
            if let Some((id, flags)) = self.tasks[task].direct.take() {
                let dsq = self.find_dsq(self.tasks[task].cpu, id);
                self.bring(task, dsq, flags);
            }
        }
    }

    /// Carries out the kicks of a callback that has returned (`kick_cpus_irq_workfn`).
    pub(crate) fn finish_kicks(&mut self) {
        for (cpu, flags) in std::mem::take(&mut self.kicks) {
            let current = self.cpus[cpu].current;
            if !self.online.contains(cpu) || (flags & abi::KICK_IDLE != 0 && current.is_some()) {
                continue;
            }
            if flags & abi::KICK_PREEMPT != 0
                && let Some(current) = current
            {
                self.set(current, Field::Slice, 0);
            }
            self.cpus[cpu].needs_reschedule = true;
        }
    }

    /// `update_curr_scx`: `runtime_ns` is the total CPU time of the running task.
    pub(crate) fn account(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.cpus[cpu].current else { return };
        let used_ns = runtime_ns.saturating_sub(self.get(task, Field::Runtime));
        if used_ns == 0 {
            return;
        }
        self.set(task, Field::Runtime, runtime_ns);
        let slice_ns = self.get(task, Field::Slice);
        if slice_ns != abi::SLICE_INF {
            self.set(task, Field::Slice, slice_ns.saturating_sub(used_ns));
        }
    }
}

/// The arguments of [`State::new`].
pub(crate) struct Parts {
    pub topology: Topology,
    pub layout: Layout,
    pub maps: Maps,
    pub ops_flags: u64,
    pub has_own_idle: bool,
    pub chance: Chance,
}

impl State {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { topology, layout, maps, ops_flags, has_own_idle, chance } = parts;
        let cpus = topology.cpus();
        let cpu = |cpu: usize| Cpu {
            current: None,
            idle_task: TaskMemory::new(&layout, abi::NO_TASK, &format!("swapper/{cpu}")),
            is_active: true,
            is_dispatching: false,
            needs_reschedule: false,
        };
        let local = (0..cpus).map(|_| Some(Dsq::new(abi::DSQ_LOCAL)));
        let mut idle = Idle::new(&topology);
        for cpu in 0..cpus {
            idle.set(&topology, cpu, true);
        }
        let caches = topology.cache_of.iter().map(|&cache| cache as i32).collect();
        Self {
            now_ns: 0,
            tasks: Vec::new(),
            cpus: (0..cpus).map(cpu).collect(),
            dsqs: local.chain([Some(Dsq::new(abi::DSQ_GLOBAL))]).collect(),
            by_id: BTreeMap::new(),
            idle,
            online: CpuMask::of(0..cpus),
            possible: CpuMask::of(0..cpus),
            maps,
            objects: Objects::default(),
            caches,
            timers: Vec::new(),
            contexts: Vec::new(),
            pending: VecDeque::new(),
            dispatched: 0,
            deferred: VecDeque::new(),
            kicks: Vec::new(),
            emptied: Vec::new(),
            ops_flags,
            has_own_idle,
            iterators: 0,
            counts: Counts::default(),
            printed: Vec::new(),
            chance,
            goes_beside_timer: None,
            exit: None,
            dump: String::new(),
            topology,
            layout,
        }
    }
}

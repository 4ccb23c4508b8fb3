//! Wake-ups, the choice of the next task of a CPU, and the order of the callbacks in both.
//!
//! kernel/sched/core.c and kernel/sched/ext.c, Linux 7.0.

use crate::abi;
use crate::host::Host;
use crate::idle::Wanted;
use crate::layout::Field;
use crate::ops::Op;
use crate::state::{Custody, State};

/// The circumstances of a wake-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waker {
    /// The CPU that the wake-up runs on.
    pub cpu: usize,
    /// The waker will sleep soon (`SCX_WAKE_SYNC`).
    pub is_sync: bool,
    /// The task was forked and wakes for the first time.
    pub is_fork: bool,
}

/// The choice of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `None`: the CPU idles.
    pub task: Option<usize>,
    /// Whether the task was already running on the CPU, and goes on.
    pub is_kept: bool,
}

/// The result of `balance_one`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Nothing,
    Local,
    Keep,
}

impl Host {
    /// A task becomes runnable; returns the CPU on whose run queue the task is then.
    pub fn wake(&mut self, task: usize, waker: Waker) -> usize {
        let (cpu, was_asked) = self.select(task, waker);
        self.state().tasks[task].cpu = cpu;
        // A new task is no wake-up, and is not said to have got its CPU by being asked
        // (`wake_up_new_task`, ENQUEUE_INITIAL).
        let flags = match (waker.is_fork, was_asked) {
            (true, _) => 0,
            (false, true) => abi::ENQ_WAKEUP | abi::ENQ_CPU_SELECTED,
            (false, false) => abi::ENQ_WAKEUP,
        };
        self.enqueue_task(task, flags, waker.cpu, false);
        self.settle();
        let mut state = self.state();
        // `wakeup_preempt`: any task preempts the idle task.
        let cpu = state.tasks[task].cpu;
        if state.cpus[cpu].current.is_none() {
            state.cpus[cpu].needs_reschedule = true;
        }
        cpu
    }

    /// `select_task_rq`: a CPU, and whether the scheduler was asked for it (`WF_RQ_SELECTED`).
    fn select(&self, task: usize, waker: Waker) -> (usize, bool) {
        let (prev, count, is_bound) = {
            let state = self.state();
            let count = state.get(task, Field::AllowedCount);
            (state.tasks[task].cpu, count, state.may_not_migrate(task))
        };
        if is_bound {
            // Its `cpus_ptr` has this CPU alone since the task was switched out
            // (`migrate_disable_switch`).
            return (prev, false);
        }
        let chosen = if count > 1 {
            self.select_cpu(task, prev, waker)
        } else {
            self.state().any_allowed(task)
        };
        let fits = {
            let state = self.state();
            state.tasks[task].allowed.contains(chosen) && state.cpus[chosen].is_active
        };
        (if fits { chosen } else { self.fallback(task, waker.cpu) }, count > 1)
    }

    /// `select_fallback_rq`: a task whose CPUs are all offline may use every CPU.
    fn fallback(&self, task: usize, at: usize) -> usize {
        if self.state().break_affinity(task) {
            let given = {
                let state = self.state();
                let one = &state.tasks[task];
                [one.memory.pointer(), one.allowed.address() as u64]
            };
            self.call(Op::SetCpumask, at, None, &given);
        }
        self.state().fallback(task)
    }

    /// `select_task_rq_scx`.
    fn select_cpu(&self, task: usize, prev: usize, waker: Waker) -> usize {
        let sync = if waker.is_sync { abi::WAKE_SYNC } else { 0 };
        let how = if waker.is_fork { abi::WAKE_FORK } else { abi::WAKE_TTWU };
        let flags = how | sync;
        if !self.ops.has(Op::SelectCpu) {
            let mut state = self.state();
            let Some(cpu) = state.select_default(task, prev, waker.cpu, flags) else {
                return prev;
            };
            state.refill(task);
            state.tasks[task].direct = Some((abi::DSQ_LOCAL, 0));
            return cpu;
        }
        let given = [self.pointer(task), prev as u64, flags];
        let Some(returned) = self.call(Op::SelectCpu, waker.cpu, Some(task), &given) else {
            return prev;
        };
        let returned = returned as i32;
        let mut state = self.state();
        match usize::try_from(returned) {
            Ok(cpu) if cpu < state.cpus.len() => cpu,
            _ => {
                state.error(format!("invalid CPU {returned} from ops.select_cpu()"));
                prev
            }
        }
    }

    /// `enqueue_task_scx`. A task that only moves between CPUs stays runnable.
    pub(crate) fn enqueue_task(&self, task: usize, flags: u64, at: usize, is_moving: bool) {
        {
            let mut state = self.state();
            if state.tasks[task].is_queued {
                return;
            }
            let now_ns = state.now_ns;
            let one = &mut state.tasks[task];
            if std::mem::take(&mut one.has_run) {
                one.runnable_since_ns = now_ns;
            }
            state.set_queued(task, true);
        }
        if !is_moving {
            self.call(Op::Runnable, at, None, &[self.pointer(task), flags]);
        }
        let goes_on = self.current(self.cpu_of(task)) == Some(task);
        if flags & abi::ENQ_RESTORE != 0 && goes_on {
            // The kernel sets the running task as current again, so `enqueue` is not called.
            return;
        }
        self.offer(task, flags, at);
    }

    /// `do_enqueue_task`: a runnable task to the scheduler, or into a queue.
    pub(crate) fn offer(&self, task: usize, flags: u64, at: usize) {
        let cpu = self.cpu_of(task);
        {
            let mut state = self.state();
            let is_exiting = state.get(task, Field::Flags) & abi::PF_EXITING != 0;
            let is_local = !state.cpus[cpu].is_active
                || state.tasks[task].direct.is_none()
                    && (is_exiting && state.ops_flags & abi::OPS_ENQ_EXITING == 0
                        || state.may_not_migrate(task)
                            && state.ops_flags & abi::OPS_ENQ_MIGRATION_DISABLED == 0);
            if is_local {
                return state.insert_refilled(task, cpu, flags);
            }
        }
        if self.state().tasks[task].direct.is_none() {
            if !self.ops.has(Op::Enqueue) || self.exit().is_some() {
                let mut state = self.state();
                let global = state.global();
                return state.insert_refilled(task, global, flags);
            }
            {
                let mut state = self.state();
                state.tasks[task].custody = Custody::Queueing;
                state.tasks[task].enqueues += 1;
            }
            self.call(Op::Enqueue, at, Some(task), &[self.pointer(task), flags]);
        }
        let mut state = self.state();
        match state.tasks[task].direct {
            Some((id, inserted)) => state.insert_directly(task, id, inserted | flags),
            None => state.tasks[task].custody = Custody::Queued,
        }
    }

    /// `dequeue_task_scx`: a task is no longer runnable, or its properties change.
    pub(crate) fn dequeue_task(&self, task: usize, flags: u64, at: usize, is_moving: bool) {
        let (pointer, was_theirs, runs) = {
            let mut state = self.state();
            if !state.tasks[task].is_queued {
                return;
            }
            let runs = state.cpus[state.tasks[task].cpu].current == Some(task);
            let one = &mut state.tasks[task];
            let was_theirs = std::mem::replace(&mut one.custody, Custody::None) == Custody::Queued;
            (one.memory.pointer(), was_theirs, runs)
        };
        if was_theirs {
            self.call(Op::Dequeue, at, None, &[pointer, flags]);
        }
        if runs {
            self.call(Op::Stopping, at, None, &[pointer, 0]);
        }
        if !is_moving {
            self.call(Op::Quiescent, at, None, &[pointer, flags]);
        }
        let mut state = self.state();
        state.set_queued(task, false);
        state.unlink(task);
        state.tasks[task].direct = None;
    }

    /// The running task of a CPU, whose total CPU time is `runtime_ns`, will sleep. The caller must
    /// let the CPU choose next.
    pub fn block(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        self.dequeue_task(task, abi::DEQ_SLEEP, cpu, false);
    }

    /// The timer's tick, while a task runs (`task_tick_scx`).
    pub fn tick(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        self.call(Op::Tick, cpu, None, &[self.pointer(task)]);
        self.settle();
        let mut state = self.state();
        if state.get(task, Field::Slice) == 0 {
            state.cpus[cpu].needs_reschedule = true;
        }
    }

    /// A CPU chooses (`__schedule`); the total CPU time of its running task is `runtime_ns`.
    pub fn schedule(&mut self, cpu: usize, runtime_ns: u64) -> Choice {
        self.schedule_beside(cpu, runtime_ns, |_| ())
    }

    /// As [`Host::schedule`]; `beside` lets other CPUs act after this CPU has chosen, and before
    /// the masks of idle CPUs show whether this CPU idles.
    pub fn schedule_beside(
        &mut self,
        cpu: usize,
        runtime_ns: u64,
        beside: impl FnOnce(&mut Self),
    ) -> Choice {
        let prev = {
            let mut state = self.state();
            state.account(cpu, runtime_ns);
            state.cpus[cpu].needs_reschedule = false;
            state.cpus[cpu].current
        };
        let mut next = self.pick(cpu, prev);
        beside(self);
        let is_kept = next.is_some() && next == prev;
        if !is_kept {
            self.switch(cpu, prev, next);
        }
        // A CPU that is going offline moves each chosen task to another CPU (`balance_push`).
        while let Some(task) = next
            && !self.stays_on(task, cpu)
        {
            self.push_away(cpu, task);
            next = self.pick(cpu, None);
            self.switch(cpu, None, next);
        }
        self.settle();
        Choice { task: next, is_kept: is_kept && next == prev }
    }

    /// `pick_task_scx`.
    fn pick(&self, cpu: usize, prev: Option<usize>) -> Option<usize> {
        self.state().cpus[cpu].is_dispatching = true;
        let verdict = self.balance(cpu, prev);
        let mut state = self.state();
        state.cpus[cpu].is_dispatching = false;
        let picked = match verdict {
            Verdict::Keep => prev,
            Verdict::Local => state.dsq(cpu).first(),
            Verdict::Nothing => None,
        }?;
        if state.get(picked, Field::Slice) == 0 {
            state.refill(picked);
        }
        Some(picked)
    }

    /// `balance_one`.
    fn balance(&self, cpu: usize, prev: Option<usize>) -> Verdict {
        let runnable = prev.filter(|&prev| self.state().tasks[prev].is_queued);
        let has_slice = |task: usize| self.state().get(task, Field::Slice) > 0;
        if runnable.is_some_and(has_slice) {
            return Verdict::Keep;
        }
        if self.state().has_local(cpu) {
            return Verdict::Local;
        }
        if self.ops.has(Op::Dispatch) && self.state().cpus[cpu].is_active {
            let pointer = prev.map_or(0, |prev| self.pointer(prev));
            for round in 1..=abi::DISPATCH_LOOPS_MAX {
                self.state().dispatched = 0;
                self.call(Op::Dispatch, cpu, None, &[cpu as u64, pointer]);
                self.state().flush(cpu);
                if runnable.is_some_and(has_slice) {
                    return Verdict::Keep;
                }
                let mut state = self.state();
                if state.has_local(cpu) {
                    return Verdict::Local;
                }
                if state.dispatched == 0 {
                    break;
                }
                if round == abi::DISPATCH_LOOPS_MAX {
                    // The number of rounds is limited; the kick makes this CPU choose again.
                    state.kicks.push((cpu, 0));
                }
            }
        }
        let mut state = self.state();
        if runnable.is_some() && state.ops_flags & abi::OPS_ENQ_LAST == 0 {
            state.counts.kept_last += 1;
            return Verdict::Keep;
        }
        Verdict::Nothing
    }

    /// `put_prev_set_next_task`.
    fn switch(&self, cpu: usize, prev: Option<usize>, next: Option<usize>) {
        if let Some(prev) = prev {
            self.put(cpu, prev, next.is_none());
        }
        let was_idle = prev.is_none();
        self.state().cpus[cpu].current = next;
        match next {
            Some(next) => {
                if was_idle {
                    self.update_idle(cpu, false, true);
                }
                self.set_running(cpu, next);
            }
            None => self.update_idle(cpu, true, !was_idle),
        }
    }

    /// `put_prev_task_scx`.
    fn put(&self, cpu: usize, task: usize, is_last: bool) {
        if !self.state().tasks[task].is_queued {
            return;
        }
        self.call(Op::Stopping, cpu, None, &[self.pointer(task), 1]);
        let has_slice = {
            let mut state = self.state();
            state.wait_from_now(task);
            state.get(task, Field::Slice) > 0
        };
        if has_slice {
            return self.state().insert(task, cpu, abi::ENQ_HEAD);
        }
        let flags = if is_last { abi::ENQ_LAST } else { 0 };
        self.offer(task, flags, cpu);
    }

    /// `set_next_task_scx`.
    pub(crate) fn set_running(&self, cpu: usize, task: usize) {
        {
            let mut state = self.state();
            state.unlink(task);
            state.tasks[task].custody = Custody::None;
            state.tasks[task].has_run = true;
        }
        self.call(Op::Running, cpu, None, &[self.pointer(task)]);
    }

    /// `__scx_update_idle`.
    fn update_idle(&self, cpu: usize, idle: bool, is_change: bool) {
        let is_builtin = {
            let mut state = self.state();
            let State { idle: masks, topology, has_own_idle, .. } = &mut *state;
            if !*has_own_idle {
                masks.set(topology, cpu, idle);
            }
            !*has_own_idle
        };
        if is_change || !is_builtin {
            self.call(Op::UpdateIdle, cpu, None, &[cpu as u64, idle.into()]);
        }
    }

    fn stays_on(&self, task: usize, cpu: usize) -> bool {
        self.state().stays_on(task, cpu)
    }

    /// The CPU on whose run queue a task is, or was last.
    pub(crate) fn cpu_of(&self, task: usize) -> usize {
        self.state().tasks[task].cpu
    }

    /// The stopper moves the running task of a CPU to another CPU (`__balance_push_cpu_stop`).
    fn push_away(&self, cpu: usize, task: usize) {
        self.put_back(cpu, task);
        self.move_to_allowed(task, cpu);
    }

    /// The stopper preempts the task of a CPU, which has to choose again.
    pub(crate) fn put_back(&self, cpu: usize, task: usize) {
        self.put(cpu, task, false);
        let mut state = self.state();
        state.cpus[cpu].current = None;
        state.cpus[cpu].needs_reschedule = true;
    }

    /// `move_queued_task`: moves a runnable task off a CPU on which the task may not stay.
    pub(crate) fn move_to_allowed(&self, task: usize, at: usize) {
        self.dequeue_task(task, abi::DEQ_SAVE, at, true);
        let to = self.fallback(task, at);
        self.state().tasks[task].cpu = to;
        self.enqueue_task(task, 0, at, true);
        let mut state = self.state();
        if state.cpus[to].current.is_none() {
            state.cpus[to].needs_reschedule = true;
        }
    }
}

impl State {
    fn has_local(&mut self, cpu: usize) -> bool {
        let global = self.global();
        self.dsq(cpu).len() > 0 || self.consume(cpu, global)
    }

    fn insert_refilled(&mut self, task: usize, dsq: usize, flags: u64) {
        self.refill(task);
        self.tasks[task].direct = None;
        self.insert(task, dsq, flags);
    }

    /// `direct_dispatch`: carries out an insertion by `select_cpu` or `enqueue`.
    fn insert_directly(&mut self, task: usize, id: u64, flags: u64) {
        let cpu = self.tasks[task].cpu;
        let dsq = self.find_dsq(cpu, id);
        if dsq < self.cpus.len() && dsq != cpu {
            // The kernel cannot lock the run queue of another CPU here, and defers the insertion.
            self.tasks[task].custody = Custody::None;
            self.tasks[task].direct = Some((id, flags));
            self.deferred.push_back(task);
            return;
        }
        self.tasks[task].direct = None;
        self.insert(task, dsq, flags);
    }

    fn wait_from_now(&mut self, task: usize) {
        let now_ns = self.now_ns;
        let one = &mut self.tasks[task];
        if std::mem::take(&mut one.has_run) {
            one.runnable_since_ns = now_ns;
        }
    }

    fn any_allowed(&self, task: usize) -> usize {
        self.tasks[task].allowed.iter(self.cpus.len()).next().unwrap_or(0)
    }

    /// The last CPU of a task if allowed, else any CPU that the task may use.
    fn fallback(&mut self, task: usize) -> usize {
        let one = &self.tasks[task];
        let fits = |&cpu: &usize| one.allowed.contains(cpu) && self.cpus[cpu].is_active;
        let own = Some(one.cpu).filter(fits);
        let active = (0..self.cpus.len()).find(|&cpu| self.cpus[cpu].is_active);
        own.or_else(|| (0..self.cpus.len()).find(fits)).or(active).unwrap_or(one.cpu)
    }

    /// Lets a task whose CPUs are all offline use every CPU (`cpuset_cpus_allowed_fallback`);
    /// returns whether the mask changed.
    fn break_affinity(&mut self, task: usize) -> bool {
        let cpus = self.cpus.len();
        let active = |cpu: usize| self.cpus[cpu].is_active;
        if self.tasks[task].allowed.iter(cpus).any(active) {
            return false;
        }
        let all = self.possible.words().to_vec();
        self.set_affinity(task, &all);
        true
    }

    /// Whether a CPU, which may be going offline, may run a task.
    fn stays_on(&self, task: usize, cpu: usize) -> bool {
        let one = &self.tasks[task];
        let is_bound = one.allowed.count() == 1 && one.allowed.contains(cpu);
        let is_its_kernel_thread = is_bound && self.get(task, Field::Flags) & abi::PF_KTHREAD != 0;
        self.may_not_migrate(task) || is_its_kernel_thread || self.cpus[cpu].is_active
    }

    /// `scx_select_cpu_dfl` for a task, by the kernel's own rules.
    pub(crate) fn select_default(
        &mut self,
        task: usize,
        prev: usize,
        this_cpu: usize,
        wake_flags: u64,
    ) -> Option<usize> {
        self.select_within(task, prev, this_cpu, wake_flags, None)
    }

    /// The same (`scx_bpf_select_cpu_and`) among the CPUs of a mask, and with the flags of such a
    /// search.
    pub(crate) fn select_within(
        &mut self,
        task: usize,
        prev: usize,
        this_cpu: usize,
        wake_flags: u64,
        within: Option<(&[u64], u64)>,
    ) -> Option<usize> {
        let is_bound = self.get(task, Field::AllowedCount) == 1 || self.may_not_migrate(task);
        let waker_is_free = self.dsq(this_cpu).len() == 0;
        let State { idle, topology, tasks, cpus, .. } = self;
        let allowed = &tasks[task].allowed;
        let both = within.map(|(mask, _)| {
            allowed.words().iter().zip(mask).map(|(a, b)| a & b).collect::<Vec<u64>>()
        });
        let usable = both.as_deref().unwrap_or(allowed.words());
        if is_bound {
            let is_usable = usable[prev / 64] >> (prev % 64) & 1 == 1;
            return (is_usable && idle.claim(topology, prev)).then_some(prev);
        }
        let wanted = Wanted {
            allowed: usable,
            anywhere: both.is_none() && allowed.count() >= cpus.len(),
            prev,
            this_cpu,
            wake_flags,
            waker_is_free,
            whole_core: within.is_some_and(|(_, flags)| flags & abi::PICK_IDLE_CORE != 0),
        };
        idle.select(topology, wanted)
    }
}

//! Changes of tasks' properties, CPUs going offline and online, and yields.
//!
//! A change dequeues the task and enqueues the task again (`sched_change`, kernel/sched/core.c,
//! Linux 7.0).

use crate::abi;
use crate::cpus::CpuMask;
use crate::exit::ExitKind;
use crate::host::{Host, weight};
use crate::layout::Field;
use crate::ops::Op;
use crate::state::Life;

impl Host {
    /// Changes a property of a task; a queued task is dequeued before and enqueued again after.
    fn change(&self, task: usize, at: usize, change: impl FnOnce(&Self)) {
        if self.state().tasks[task].life == Life::Gone {
            return;
        }
        let (was_queued, runs) = {
            let state = self.state();
            let one = &state.tasks[task];
            (one.is_queued, state.cpus[one.cpu].current == Some(task))
        };
        if was_queued {
            self.dequeue_task(task, abi::DEQ_SAVE, at, false);
        }
        change(self);
        if was_queued {
            self.enqueue_task(task, abi::ENQ_RESTORE, at, false);
            if runs {
                let cpu = self.state().tasks[task].cpu;
                self.set_running(cpu, task);
            }
        }
    }

    /// Gives a task another nice value; `at` is the CPU that the change runs on.
    pub fn set_nice(&mut self, task: usize, nice: i8, at: usize) {
        self.change(task, at, |host| {
            let prio = abi::DEFAULT_PRIO + i64::from(nice);
            {
                let mut state = host.state();
                state.set(task, Field::StaticPrio, prio.cast_unsigned());
                state.set(task, Field::Weight, weight(nice));
            }
            host.call(Op::SetWeight, at, None, &[host.pointer(task), weight(nice)]);
        });
        self.settle();
    }

    /// Sets the affinity mask of a task; a mask without a CPU of the machine changes nothing. A
    /// task that runs on a CPU outside of the mask is preempted, and that CPU has to choose; a task
    /// with migration disabled stays on its CPU until migration is enabled.
    pub fn set_cpus(&mut self, task: usize, cpus: &[usize], at: usize) {
        let mask = CpuMask::of(cpus.iter().copied().filter(|&cpu| cpu < self.state().cpus.len()));
        if mask.count() == 0 {
            return;
        }
        self.change(task, at, |host| {
            let address = {
                let mut state = host.state();
                state.set_affinity(task, mask.words());
                state.tasks[task].allowed.address() as u64
            };
            host.call(Op::SetCpumask, at, None, &[host.pointer(task), address]);
        });
        self.obey_affinity(task);
        self.settle();
    }

    /// A runnable task leaves a CPU that it may not use, unless it may not migrate
    /// (`affine_move_task`).
    fn obey_affinity(&self, task: usize) {
        let (cpu, must_leave) = {
            let state = self.state();
            let one = &state.tasks[task];
            let may_stay = one.allowed.contains(one.cpu) || state.may_not_migrate(task);
            (one.cpu, one.is_queued && !may_stay)
        };
        if must_leave {
            self.leave(task, cpu);
        }
    }

    /// The stopper moves a task off a CPU outside of its mask (`migration_cpu_stop`).
    fn leave(&self, task: usize, cpu: usize) {
        if self.current(cpu) == Some(task) {
            self.put_back(cpu, task);
        }
        self.move_to_allowed(task, cpu);
    }

    /// Disables or enables the migration of a task (`migrate_disable`).
    pub fn set_migration_disabled(&mut self, task: usize, disabled: bool) {
        self.state().set(task, Field::MigrationDisabled, disabled.into());
        self.obey_affinity(task);
        self.settle();
    }

    /// A task of a higher class, as a real-time task, preempts the running task of a CPU. The
    /// caller must not let the CPU choose before that class gives the CPU back.
    pub fn take_cpu(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        self.put_back(cpu, task);
        self.settle();
    }

    /// The running task of a CPU gives up the rest of its slice (`sched_yield`).
    pub fn yield_now(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        if self.call(Op::Yield, cpu, None, &[self.pointer(task), 0]).is_none() {
            self.state().set(task, Field::Slice, 0);
        }
        self.settle();
        self.state().cpus[cpu].needs_reschedule = true;
    }

    /// A CPU begins to go offline: the CPU gets no more tasks, and moves its tasks to other CPUs.
    pub fn take_offline(&mut self, cpu: usize) {
        {
            let mut state = self.state();
            if !state.cpus[cpu].is_active || state.cpus.iter().filter(|c| c.is_active).count() < 2 {
                return;
            }
            state.cpus[cpu].is_active = false;
        }
        self.hotplug(cpu, false);
        self.settle();
        self.state().cpus[cpu].needs_reschedule = true;
    }

    /// Whether a CPU that is going offline has no runnable task left.
    #[must_use]
    pub fn is_drained(&self, cpu: usize) -> bool {
        let state = self.state();
        let on_it = |task: &&crate::state::Task| task.is_queued && task.cpu == cpu;
        let is_there = state.tasks.iter().filter(on_it).count() > 0;
        !state.cpus[cpu].is_active && !is_there
    }

    /// A drained CPU is offline. As in the kernel, the masks of idle CPUs contain the CPU until a
    /// search claims it.
    pub fn finish_offline(&mut self, cpu: usize) {
        self.state().online.remove(cpu);
    }

    /// A CPU comes online.
    pub fn take_online(&mut self, cpu: usize) {
        {
            let mut state = self.state();
            if state.cpus[cpu].is_active {
                return;
            }
            state.online.insert(cpu);
        }
        self.hotplug(cpu, true);
        {
            let mut state = self.state();
            state.cpus[cpu].is_active = true;
            state.cpus[cpu].needs_reschedule = true;
        }
        self.settle();
    }

    /// Makes the host call `cpu_offline` for a CPU while the callback of the scheduler's next timer
    /// runs on another CPU, just before the callback starts the timer again. The CPU itself stays
    /// online.
    pub fn announce_offline_beside_timer(&mut self, cpu: usize) {
        let program = self.ops.get(Op::CpuOffline);
        self.state().goes_beside_timer = program.map(|program| (self.guard, program, cpu));
    }

    /// `handle_hotplug`.
    fn hotplug(&self, cpu: usize, online: bool) {
        let op = if online { Op::CpuOnline } else { Op::CpuOffline };
        if self.ops.has(op) {
            self.call(op, cpu, None, &[cpu as u64]);
            return;
        }
        let word = if online { "online" } else { "offline" };
        let message = format!("cpu {cpu} going {word}, exiting scheduler");
        self.state().fail(ExitKind::ByKernel, message);
    }
}

//! Properties of tasks change, CPUs go and come, tasks yield.
//!
//! A change takes the task out and puts it back (`sched_change`, kernel/sched/core.c, Linux 7.0).

use crate::abi;
use crate::cpus::CpuMask;
use crate::exit::ExitKind;
use crate::host::{Host, weight};
use crate::layout::Field;
use crate::ops::Op;
use crate::state::Life;

impl Host {
    /// Takes a task out, changes it, and puts it back where it was.
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

    /// Gives a task another nice value; `at` is the CPU on which somebody does.
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

    /// Binds a task to CPUs, at least one of which is there. A task that runs on another is taken
    /// off it, and that CPU is to choose; one that may not migrate stays there until it may.
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

    /// The stopper takes a task off a CPU that it may no longer use (`migration_cpu_stop`).
    fn leave(&self, task: usize, cpu: usize) {
        if self.current(cpu) == Some(task) {
            self.put_back(cpu, task);
        }
        self.move_to_allowed(task, cpu);
    }

    /// A task may not leave its CPU, or may again (`migrate_disable`).
    pub fn set_migration_disabled(&mut self, task: usize, disabled: bool) {
        self.state().set(task, Field::MigrationDisabled, disabled.into());
        self.obey_affinity(task);
        self.settle();
    }

    /// A task of a higher class, as a real-time task, takes a CPU from its running task. The
    /// machine does not let the CPU choose before that class gives it back.
    pub fn take_cpu(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        self.put_back(cpu, task);
        self.settle();
    }

    /// The running task of a CPU gives up the rest of its turn (`sched_yield`).
    pub fn yield_now(&mut self, cpu: usize, runtime_ns: u64) {
        let Some(task) = self.current(cpu) else { return };
        self.state().account(cpu, runtime_ns);
        if self.call(Op::Yield, cpu, None, &[self.pointer(task), 0]).is_none() {
            self.state().set(task, Field::Slice, 0);
        }
        self.settle();
        self.state().cpus[cpu].needs_reschedule = true;
    }

    /// A CPU begins to go: it gets no tasks any more, and hands on what it has.
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

    /// Whether a CPU that goes has nothing left to hand on.
    #[must_use]
    pub fn is_drained(&self, cpu: usize) -> bool {
        let state = self.state();
        let on_it = |task: &&crate::state::Task| task.is_queued && task.cpu == cpu;
        let is_there = state.tasks.iter().filter(on_it).count() > 0;
        !state.cpus[cpu].is_active && !is_there
    }

    /// A drained CPU is gone. The masks of idle CPUs go on to show it until somebody picks it, as
    /// in the kernel.
    pub fn finish_offline(&mut self, cpu: usize) {
        self.state().online.remove(cpu);
    }

    /// A CPU comes.
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

    /// The scheduler is told that a CPU goes while the callback of its next timer runs on another
    /// CPU, just before the callback starts the timer again. The CPU itself stays.
    pub fn announce_offline_beside_timer(&mut self, cpu: usize) {
        let program = self.ops.get(Op::CpuOffline);
        self.state().goes_beside_timer = program.map(|program| (program, cpu));
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

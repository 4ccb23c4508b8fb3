//! The interface between the engine and a scheduler model.

pub(crate) mod cfs;
pub(crate) mod custom;
mod delta;
mod domains;
pub(crate) mod eevdf;
pub(crate) mod fair;
pub(crate) mod fifo;
pub(crate) mod muqss;
mod pelt;
pub(crate) mod percpu;
#[cfg(feature = "scx")]
pub(crate) mod scx;
#[cfg(feature = "scx")]
mod scx_kinds;
#[cfg(feature = "scx")]
mod scx_sense;
mod specialize;

use trace::Event;

pub(crate) use crate::custom::Pick;
use crate::error::SimError;
use crate::outcome::{PolicyEvent, SpecializationCounts};
use crate::recorder::tid;
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// How a task became runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// For the first time; forked by the task on this CPU, if by a task.
    New { by_cpu: Option<usize> },
    /// The sleep or wait of the task ended.
    Woken(By),
}

impl Wake {
    /// Whether the waker promises to wait soon.
    pub(crate) fn is_sync(self) -> bool {
        matches!(self, Self::Woken(By::Task { sync: true, .. }))
    }
}

/// The cause of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The task's timer, which is assumed to fire on the CPU where the task slept.
    Timer,
    /// An interrupt on this CPU.
    Interrupt { cpu: usize },
    /// The task that runs on this CPU, which with `sync` promises to wait soon.
    Task { cpu: usize, sync: bool },
}

impl By {
    /// The CPU on which the wake-up happens, if not the task's own.
    pub(crate) fn cpu(self) -> Option<usize> {
        match self {
            Self::Timer => None,
            Self::Interrupt { cpu } | Self::Task { cpu, .. } => Some(cpu),
        }
    }
}

/// The CPU of a woken task, and the CPU that must choose again because of the wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub cpu: usize,
    pub reschedule: Option<usize>,
}

/// Refund and bill of one slice, for the totals of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charged {
    pub refund_ns: u64,
    pub bill_ns: u64,
    /// Further time lost, which idle compensation repays.
    pub idle_compensation_ns: u64,
    /// Task the refund is attributed to.
    pub culprit: Option<usize>,
}

impl Charged {
    /// The event of the history for this refund.
    pub(crate) fn decision(&self, cpu: usize, victim: usize, slice_ns: u64) -> Event {
        Event::Decision {
            cpu: cpu as u32,
            victim: tid(victim),
            culprit: self.culprit.map_or(0, tid),
            slice_ns,
            refund_ns: self.refund_ns,
            bill_ns: self.bill_ns,
        }
    }
}

/// A decision about a slice that another callback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    pub cpu: usize,
    pub victim: usize,
    pub slice_ns: u64,
    pub charged: Charged,
}

/// A scheduler model. The model keeps the queues; the engine keeps all other state.
pub(crate) trait Scheduler {
    /// Period of the timer tick on busy CPUs; `None`: no tick.
    fn tick_ns(&self) -> Option<u64>;

    /// Queues a task that became runnable.
    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed;

    /// The running task begins another program; whether the CPU must choose again, because the task
    /// is to go on elsewhere.
    fn exec(&mut self, _world: &World, _cpu: usize, _task: usize) -> bool {
        false
    }

    /// Accounts the task that leaves the CPU, and enqueues a preempted task again.
    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged;

    /// Takes the next task for the CPU out of its queue.
    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick>;

    /// The timer tick on a busy CPU; CPUs that must choose again are pushed.
    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>);

    /// The running task is about to use the widest registers. `true`: that faults, and the task has
    /// not used them yet; where it must leave the CPU, [`Scheduler::reschedules`] names the CPU.
    fn uses_widest(&mut self, _world: &World, _cpu: usize, _task: usize) -> bool {
        false
    }

    /// The running task called the kernel, which a compute step never does.
    fn system_call(&mut self, _world: &World, _cpu: usize, _task: usize) {}

    /// Switches core specialization off or on again; `false`: the scheduler has none. While it is
    /// off every task may run on every core, and no task changes its kind.
    fn switch_specialization(&mut self, _world: &World, _is_on: bool) -> bool {
        false
    }

    /// Counts of core specialization so far, if the scheduler has it.
    fn specialization(&self, _now_ns: u64) -> Option<SpecializationCounts> {
        None
    }

    /// Sum over CPUs of the time for which core scheduling forced them idle, if there is any.
    fn core_forced_idle_ns(&self, _now_ns: u64) -> Option<u64> {
        None
    }

    /// More CPUs that must choose again, since the last time; pushed.
    fn reschedules(&mut self, _cpus: &mut Vec<usize>) {}

    /// The next decision since the last call that [`Scheduler::stop`] could not return, because
    /// another callback made the decision.
    fn decided(&mut self) -> Option<Decided> {
        None
    }

    /// Takes the policy's events since the last call; none unless a history is kept.
    fn policy_events(&mut self) -> impl Iterator<Item = PolicyEvent> {
        std::iter::empty()
    }

    /// The time at which the model needs [`Scheduler::timer_fires`].
    fn timer_ns(&self) -> Option<u64> {
        None
    }

    /// The time of [`Scheduler::timer_ns`] has come.
    fn timer_fires(&mut self, _world: &World) {}

    /// The error that ended the scheduler, if any.
    fn failure(&self) -> Option<SimError> {
        None
    }

    /// An idle CPU to kick for `task`, which was just preempted and waits for a CPU.
    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        world.idle_cpu_near(task, world.tasks[task].last_cpu.unwrap_or(0))
    }
}

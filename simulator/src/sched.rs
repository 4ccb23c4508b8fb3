//! What the engine asks of a scheduler model.

pub(crate) mod cfs;
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

use trace::Event;

use crate::error::SimError;
use crate::outcome::Note;
use crate::recorder::tid;
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// How a task became runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// For the first time; forked by the task on this CPU, if by a task.
    New { by_cpu: Option<usize> },
    /// Its sleep or wait ended: by a timer where it slept, an interrupt, or a task.
    Woken(By),
}

/// What wakes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Its timer, which is taken to fire where it slept.
    Timer,
    /// An interrupt on this CPU.
    Interrupt { cpu: usize },
    /// The task that runs on this CPU, which with `sync` promises to wait soon.
    Task { cpu: usize, sync: bool },
}

impl By {
    /// The CPU it happens on, where that is not the task's own.
    pub(crate) fn cpu(self) -> Option<usize> {
        match self {
            Self::Timer => None,
            Self::Interrupt { cpu } | Self::Task { cpu, .. } => Some(cpu),
        }
    }
}

/// Where a woken task was put, and which CPU must choose again because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub cpu: usize,
    pub reschedule: Option<usize>,
}

/// A task to run and for how long at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pick {
    pub task: usize,
    /// Until an exact slice timer ends it; `None`: ticks decide.
    pub slice_ns: Option<u64>,
}

/// What accounting a slice did, for the books of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charged {
    pub refund_ns: u64,
    pub bill_ns: u64,
    /// What else was lost, and is owed in kind.
    pub in_kind_ns: u64,
    /// Task the refund is attributed to.
    pub culprit: Option<usize>,
}

impl Charged {
    /// What a history says of it.
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

/// A scheduler model. It keeps the queues; the engine keeps everything else.
pub(crate) trait Scheduler {
    /// Period of the timer tick on busy CPUs; `None`: no tick.
    fn tick_ns(&self) -> Option<u64>;

    /// Queues a task that became runnable.
    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed;

    /// Accounts the task that leaves the CPU, and queues it again when preempted.
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

    /// More CPUs that must choose again, since the last time; pushed.
    fn reschedules(&mut self, _cpus: &mut Vec<usize>) {}

    /// What it decided since the last time, one after the other, where [`Scheduler::stop`] could
    /// not say.
    fn decided(&mut self) -> Option<Decided> {
        None
    }

    /// What it noted since the last time, where a history is kept; taken.
    fn notes(&mut self) -> impl Iterator<Item = Note> {
        std::iter::empty()
    }

    /// When it wants to be called, whatever else happens.
    fn timer_ns(&self) -> Option<u64> {
        None
    }

    /// That time has come.
    fn timer_fires(&mut self, _world: &World) {}

    /// Why it cannot go on; nothing while it can.
    fn failure(&self) -> Option<SimError> {
        None
    }

    /// A CPU to kick because it idles while `task`, just preempted, waits for one.
    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        world.idle_cpu_near(task, world.tasks[task].last_cpu.unwrap_or(0))
    }
}

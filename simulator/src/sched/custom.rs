//! A scheduler of somebody else in Rust: passes the engine's events on, and checks the answers.

use cpu_model::CpuModel;
use scenarios::Workload;

use crate::custom::{Custom, CustomScheduler, Machine, Seen, Stopped};
use crate::error::SimError;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// How long a task may wait under sched_ext (`SCX_WATCHDOG_MAX_TIMEOUT`, Linux 7.0).
const WAIT_MAX_NS: u64 = 30_000_000_000;

/// How long a task may wait under a scheduler of somebody else: a run that ends before sched_ext
/// would notice shows a lost task all the same.
pub(crate) fn longest_wait_ns(world: &World) -> u64 {
    WAIT_MAX_NS.min(world.config.limit_ns / 2).max(1_000_000)
}

impl Machine for World<'_> {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn cpus(&self) -> usize {
        self.topology.cpus
    }

    fn core_of(&self, cpu: usize) -> usize {
        self.topology.core_of(cpu)
    }

    fn cpus_of_core(&self, core: usize) -> std::ops::Range<usize> {
        self.topology.cpus_of_core(core)
    }

    fn package_of(&self, cpu: usize) -> usize {
        self.topology.package_of(cpu)
    }

    fn running(&self, cpu: usize) -> Option<usize> {
        self.cpus[cpu].running
    }

    fn idle_cpu_near(&self, task: usize, cpu: usize) -> Option<usize> {
        Self::idle_cpu_near(self, task, cpu)
    }

    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn weight(&self, task: usize) -> u32 {
        self.tasks[task].weight
    }

    fn application(&self, task: usize) -> usize {
        self.tasks[task].application
    }

    fn may_run_on(&self, task: usize, cpu: usize) -> bool {
        self.affinities.masks[self.tasks[task].mask].contains(cpu)
    }

    fn last_cpu(&self, task: usize) -> Option<usize> {
        self.tasks[task].last_cpu
    }

    fn cpu_time_ns(&self, task: usize) -> u64 {
        self.tasks[task].outcome.cpu_time_ns
    }

    fn cpu(&self) -> &CpuModel {
        self.model
    }
}

/// The scheduler, and which of its tasks wait.
pub(crate) struct Checked {
    name: String,
    inner: Box<dyn CustomScheduler>,
    reads_sensors: bool,
    /// By task: its name in messages.
    tasks: Vec<String>,
    /// By task: since when it waits for a CPU.
    waits_since_ns: Vec<Option<u64>>,
    tick_ns: u64,
    longest_wait_ns: u64,
    /// When waiting tasks are looked at next.
    watch_ns: u64,
    failure: Option<SimError>,
}

impl Checked {
    pub(crate) fn new(world: &World, workload: &Workload, custom: &Custom) -> Self {
        Self {
            name: custom.name().to_owned(),
            inner: custom.make(world),
            reads_sensors: custom.reads_sensors(),
            tasks: workload.threads.iter().map(|thread| thread.name.clone()).collect(),
            waits_since_ns: vec![None; world.tasks.len()],
            tick_ns: 1_000_000_000 / u64::from(world.config.hz),
            longest_wait_ns: longest_wait_ns(world),
            watch_ns: longest_wait_ns(world) / 2,
            failure: None,
        }
    }

    /// Ends the run: the scheduler broke a rule of its interface.
    fn refuse(&mut self, world: &World, what: &str) {
        let why = format!("{} {what}", self.name);
        self.failure.get_or_insert(SimError::Ended { at_ns: world.now_ns, why });
    }

    fn named(&self, task: usize) -> String {
        self.tasks.get(task).map_or_else(
            || format!("task {task}, and there are {}", self.tasks.len()),
            |name| format!("task {task} ({name})"),
        )
    }
}

impl Scheduler for Checked {
    fn tick_ns(&self) -> Option<u64> {
        Some(self.tick_ns)
    }

    fn wake(&mut self, world: &World, task: usize, _wake: Wake) -> Placed {
        self.waits_since_ns[task] = Some(world.now_ns);
        let reschedule = self.inner.wakes(world, task);
        let beyond = reschedule.filter(|&cpu| cpu >= world.topology.cpus);
        if let Some(cpu) = beyond {
            self.refuse(world, &format!("asked CPU {cpu} to choose, which is not there"));
            return Placed { cpu: 0, reschedule: None };
        }
        let last = world.tasks[task].last_cpu.unwrap_or(0);
        Placed { cpu: reschedule.unwrap_or(last), reschedule }
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        if stop == Stop::Preempted {
            self.waits_since_ns[task] = Some(world.now_ns);
        }
        let lost = |turbo| policy::time_lost(turbo, &observed.slice, observed.own_level).lost_ns;
        let seen = self.reads_sensors.then(|| Seen {
            lost_ns: observed.lost_ns.unwrap_or_else(|| lost(world.believed_turbo(cpu))),
            own_level: observed.own_level,
            level_cycles: observed.slice.level_cycles,
            culprit: (observed.last_user != policy::NO_TASK).then_some(observed.last_user as usize),
        });
        let stopped = Stopped { cpu, task, why: stop, ran_ns: observed.slice.time_ns, seen };
        let refund = self.inner.stops(world, &stopped);
        let culprit = refund.culprit.filter(|&culprit| culprit < self.tasks.len());
        Charged {
            refund_ns: refund.refund_ns,
            bill_ns: refund.bill_ns,
            culprit,
            ..Charged::default()
        }
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let pick = self.inner.picks(world, cpu)?;
        let task = pick.task;
        if self.waits_since_ns.get(task).is_none_or(Option::is_none) {
            let what = format!("picked {}, which does not wait for a CPU", self.named(task));
            self.refuse(world, &what);
            return None;
        }
        if !world.may_run_on(task, cpu) {
            let what = format!("picked {} for CPU {cpu}, which it may not use", self.named(task));
            self.refuse(world, &what);
            return None;
        }
        self.waits_since_ns[task] = None;
        Some(pick)
    }

    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>) {
        let Some(task) = world.cpus[cpu].running else { return };
        if self.inner.ticks(world, cpu, task) {
            reschedule.push(cpu);
        }
    }

    fn timer_ns(&self) -> Option<u64> {
        Some(self.watch_ns)
    }

    fn timer_fires(&mut self, world: &World) {
        if world.now_ns < self.watch_ns {
            return;
        }
        self.watch_ns = world.now_ns + self.longest_wait_ns / 2;
        let waited = |since_ns: &Option<u64>| since_ns.map_or(0, |since| world.now_ns - since);
        let longest_ns = self.longest_wait_ns;
        let lost = self.waits_since_ns.iter().map(waited).enumerate();
        if let Some((task, ns)) = lost.max_by_key(|&(_, ns)| ns).filter(|&(_, ns)| ns >= longest_ns)
        {
            let ms = ns / 1_000_000;
            let what = format!("let {} wait for {ms} ms", self.named(task));
            self.refuse(world, &what);
        }
    }

    fn failure(&self) -> Option<SimError> {
        self.failure.clone()
    }

    fn idle_cpu_for(&self, _world: &World, _task: usize) -> Option<usize> {
        None
    }
}
